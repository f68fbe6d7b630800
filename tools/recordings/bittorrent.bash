# shellcheck shell=bash disable=SC2034,SC2154
# BitTorrent: libtorrent seeds; libtorrent, aria2, and a few lines of Python take.

needs_bittorrent() {
    need_command aria2c aria2 -
    /usr/bin/python3 -c 'import libtorrent' 2>/dev/null || lacks libtorrent python3-libtorrent -
}

record_bittorrent() {
    mkdir -p "$work/seed/letters" "$work/taken"
    python3 -c 'print("".join(f"line {number}\n" for number in range(1800)))' >"$work/seed/letters/long.txt"
    printf 'Grüße\n' >"$work/seed/letters/short.txt"
    record bittorrent '6881 or 6882'
    aria2c --no-conf --dir="$work/aria" --listen-port=6882 --enable-dht=false --bt-enable-lpd=false --seed-time=0 --follow-torrent=mem --rpc-listen-port=6800 \
        --enable-rpc --quiet >"$work/aria2.log" 2>&1 &
    server=$!
    timeout 60 /usr/bin/python3 "$recordings/bittorrent-client.py" "$work"
    keep bittorrent
}
