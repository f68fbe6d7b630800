#!/bin/sh
#
# Installs frametap from the folder that this file is in: ./install.sh [PREFIX], by default ~/.local, or /usr/local for root.
# ./install.sh --remove [PREFIX] removes what was installed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

remove=
if [ "${1:-}" = --remove ]; then
    remove=yes
    shift
fi
case "${1:-}" in
    -*) sed -n '3,4s/^# //p' "$0"; exit 64 ;;
esac
if [ "$(id -u)" -eq 0 ]; then
    prefix=${1:-/usr/local}
else
    prefix=${1:-$HOME/.local}
fi
# Files are copied from another folder than the one that a relative path begins in.
case $prefix in
    /*) ;;
    *) prefix=$PWD/$prefix ;;
esac
# What was installed is removed first: these files themselves.
if [ -d "$prefix" ] && [ "$(cd -P "$here" && pwd -P)" = "$(cd -P "$prefix" && pwd -P)" ]; then
    echo "frametap: $prefix is the folder of the archive itself; choose another one, or run $here/bin/frametap" >&2
    exit 64
fi
list=$prefix/share/frametap/installed

# Removes the files of an installation, and the folders that are frametap's alone.
forget() {
    while IFS= read -r file; do
        rm -f "$prefix/$file"
    done <"$list"
    rm -f "$list"
    for folder in frametap doc/frametap; do
        [ ! -d "$prefix/share/$folder" ] || find "$prefix/share/$folder" -depth -type d -exec rmdir {} + 2>/dev/null || true
    done
}

if [ -n "$remove" ]; then
    if [ ! -e "$list" ]; then
        echo "frametap: nothing was installed in $prefix" >&2
        exit 1
    fi
    echo "frametap: removing what was installed in $prefix" >&2
    forget
    exit 0
fi

if ! version=$("$here/bin/frametap" --version); then
    echo "frametap: the program does not run here; $here/README says what it needs" >&2
    exit 1
fi
echo "frametap: installing $version in $prefix: bin/frametap, and below share its manual, completions, formats and schemas" >&2
[ ! -e "$list" ] || forget
mkdir -p "$prefix/bin" "$prefix/share/frametap"
cd "$here"
find bin share -type f | LC_ALL=C sort | while IFS= read -r file; do
    mkdir -p "$prefix/$(dirname "$file")"
    # Not over the old file: it may be running.
    rm -f "$prefix/$file"
    cp "$file" "$prefix/$file"
    echo "$file"
done >"$list"

case ":$PATH:" in
    *":$prefix/bin:"*) ;;
    *) echo "frametap: $prefix/bin is not on your PATH; add it, or run $prefix/bin/frametap" >&2 ;;
esac
