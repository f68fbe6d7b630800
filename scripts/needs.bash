# shellcheck shell=bash
#
# What frametap needs of a machine. Sourced by scripts: each asks for what it needs, and
# `install_missing` says what is not there and installs it with apt-get or Homebrew.

root=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)

# How Swift builds what nobody changes, as in CI, and nobody debugs: optimised, so that tests and program are one build. See Package.swift.
# A module takes a quarter less of the processor if it is not emitted apart.
built_once=()
# How scripts build the optimised program.
optimised=(-c release)
if [ -n "${FRAMETAP_BUILT_ONCE:-}" ]; then
    built_once=(-c release -Xswiftc -gnone -Xcc -g0 -Xswiftc -no-emit-module-separately-wmo)
    optimised=("${built_once[@]}")
fi

say() { printf 'frametap: %s\n' "$*" >&2; }

missing=()     # for people
debian=()      # packages of Debian and Ubuntu
homebrew=()    # formulae

# lacks NAME DEBIAN-PACKAGE HOMEBREW-FORMULA; "-" where there is none, or none is needed.
lacks() {
    missing+=("$1")
    [ "$2" = - ] || debian+=("$2")
    [ "$3" = - ] || homebrew+=("$3")
}

# Swift is the one thing that has to be there already.
need_swift() {
    local version=""
    if command -v swift >/dev/null; then
        version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p' | head -n 1)
    fi
    if [ -n "$version" ] && { [ "${version%%.*}" -gt 6 ] || { [ "${version%%.*}" -eq 6 ] && [ "${version#*.}" -ge 3 ]; }; }
    then
        return 0
    fi
    say "needs Swift 6.3 or later, found ${version:-none}."
    say "Get it from https://www.swift.org/install/ and run this again."
    return 1
}

# need_header FILE NAME DEBIAN-PACKAGE HOMEBREW-FORMULA
need_header() {
    local folder
    for folder in /usr/include /usr/local/include /opt/homebrew/include {/opt/homebrew,/usr/local}/opt/"$4"/include; do
        if [ -e "$folder/$1" ]; then return 0; fi
    done
    lacks "$2" "$3" "$4"
}

# The headers that frametap is built with.
need_libraries() {
    need_header pcap/pcap.h "libpcap headers" libpcap-dev libpcap
    need_header yaml.h "libyaml headers" libyaml-dev libyaml
    need_header zstd.h "zstd headers" libzstd-dev zstd
    # macOS has them.
    [ "$(uname)" = Darwin ] || need_header zlib.h "zlib headers" zlib1g-dev -
}

# need_command NAME DEBIAN-PACKAGE HOMEBREW-FORMULA
need_command() {
    # Some systems keep tcpdump where only root looks.
    if PATH="$PATH:/usr/sbin:/sbin" command -v "$1" >/dev/null; then return 0; fi
    lacks "$1" "$2" "$3"
}

# need_java VERSION: a Java to run programs with, of that version or later.
need_java() {
    local version=""
    if command -v java >/dev/null; then
        version=$(java -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1)
    fi
    if [ "${version:-0}" -ge "$1" ]; then return 0; fi
    lacks "Java $1" default-jre-headless openjdk
}

# The server of PostgreSQL, which Debian does not put on the PATH.
need_postgres() {
    local program
    for program in /usr/lib/postgresql/*/bin/initdb /opt/homebrew/opt/postgresql*/bin/initdb /usr/local/opt/postgresql*/bin/initdb; do
        if [ -x "$program" ]; then return 0; fi
    done
    lacks "PostgreSQL" postgresql postgresql
}

# A browser that opens pages without a window, for the report's.
need_chromium() {
    local program
    for program in chromium chromium-browser google-chrome "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" \
        /Applications/Chromium.app/Contents/MacOS/Chromium
    do
        if command -v "$program" >/dev/null; then return 0; fi
    done
    lacks "Chromium" chromium -
}

# Firefox, which the page is checked in, too.
need_firefox() {
    if command -v firefox-esr >/dev/null || command -v firefox >/dev/null; then return 0; fi
    lacks "Firefox" firefox-esr -
}

# Whether a Python has jsonschema with draft 2020-12 (4.0 or later) and PyYAML.
has_jsonschema() { python3 -B "$root/tools/schemas.py" >/dev/null 2>&1; }

need_jsonschema() {
    if has_jsonschema; then return 0; fi
    lacks "jsonschema for Python" python3-jsonschema -
    lacks "PyYAML for Python" python3-yaml -
}

# Where no package gave a jsonschema that is new enough (Ubuntu 22.04), a virtual environment does.
ensure_jsonschema() {
    if has_jsonschema; then return 0; fi
    if ! python3 -c 'import ensurepip' >/dev/null 2>&1; then
        missing=() debian=() homebrew=()
        lacks "venv for Python" python3-venv -
        install_missing || return
    fi
    say "making a Python environment with jsonschema and PyYAML in .build-python"
    if python3 -m venv "$root/.build-python" \
        && "$root/.build-python/bin/python" -m pip install --quiet 'jsonschema>=4.18' pyyaml </dev/null >&2
    then
        return 0
    fi
    say "could not install jsonschema and PyYAML; please do (4.0 or later, for python3) and run this again."
    return 1
}

# Installs what is missing; fails, saying what to install, where it cannot.
install_missing() {
    if [ "${#missing[@]}" -eq 0 ]; then return 0; fi
    local list
    list=$(printf ', %s' "${missing[@]}")
    say "missing: ${list:2}"
    if command -v apt-get >/dev/null; then
        install_with_apt
    elif command -v brew >/dev/null; then
        if [ "${#homebrew[@]}" -eq 0 ]; then return 0; fi
        say "installing with Homebrew: ${homebrew[*]}"
        brew install "${homebrew[@]}" </dev/null >&2
    else
        say "no apt-get and no Homebrew here: please install them and run this again."
        return 1
    fi
}

install_with_apt() {
    local as_root=()
    if [ "${#debian[@]}" -eq 0 ]; then return 0; fi
    if [ "$(id -u)" -ne 0 ]; then
        if command -v sudo >/dev/null; then
            as_root=(sudo)
            # Nobody is there to type a password.
            if [ ! -t 0 ]; then as_root=(sudo -n); fi
        else
            say "please install as root: apt-get install ${debian[*]}"
            return 1
        fi
    fi
    as_root+=(env DEBIAN_FRONTEND=noninteractive)
    say "installing with apt-get: ${debian[*]}"
    if ! "${as_root[@]}" apt-get -qq -o DPkg::Lock::Timeout=300 update </dev/null >&2; then
        say "apt-get update failed; going on with the package lists there are"
    fi
    if ! "${as_root[@]}" apt-get -qq -y -o DPkg::Lock::Timeout=300 --no-install-recommends install "${debian[@]}" \
        </dev/null >&2
    then
        say "could not install; please do: apt-get install ${debian[*]}"
        return 1
    fi
}
