# shellcheck shell=bash
#
# Debian systems in folders. Sourced; needs scripts/needs.bash.

# The mirror that this machine's apt uses, or the one that is named.
debian_mirror() {
    local mirror="${1:-}"
    if [ -z "$mirror" ] && command -v apt-get >/dev/null; then
        # shellcheck disable=SC2016  # apt-get expands it
        mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' | sort -u | head -n 1)
    fi
    if [ -z "$mirror" ]; then
        say "apt knows no mirror of Debian here: name one with --mirror URL"
        return 1
    fi
    printf '%s\n' "$mirror"
}

# make_debian SUITE DIRECTORY MIRROR [PACKAGE…]: the packages that every Debian has, and those that are named.
make_debian() {
    local suite=$1 folder=$2 mirror=$3 list
    shift 3
    list=$(IFS=,; printf '%s' "$*")
    mkdir -p "$folder"
    if ! PATH="$PATH:/usr/sbin:/sbin" debootstrap --variant=minbase ${list:+--include="$list"} "$suite" "$folder" "$mirror" \
        >"$folder.log" 2>&1 </dev/null
    then
        say "debootstrap $suite failed; see $folder.log"
        return 1
    fi
    rm -f "$folder.log"
}

# in_debian DIRECTORY COMMAND…: runs a command in such a system, without this one's environment.
in_debian() {
    local folder=$1
    shift
    chroot "$folder" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@" </dev/null
}
