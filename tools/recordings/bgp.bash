# shellcheck shell=bash disable=SC2034,SC2154
# BGP: two BIRDs.

needs_bgp() {
    need_command bird bird2 -
}

record_bgp() {
    local side
    for side in 1 2; do
        ip address add "198.18.0.$side/32" dev lo
        cat >"$work/bird$side.conf" <<CONF
router id 192.0.2.$side;
protocol device { }
protocol static { ipv4; $(for net in $(seq 30); do echo "route 198.51.$((100 * side + net)).0/24 blackhole;"; done) }
protocol bgp peer {
    local 198.18.0.$side port 179 as 6500$side;
    neighbor 198.18.0.$((3 - side)) port 179 as 6500$((3 - side));
    multihop; strict bind; hold time 3; connect delay time 1; passive $([ "$side" = 1 ] && echo on || echo off);
    ipv4 { import all; export all; };
}
CONF
        bird -f -c "$work/bird$side.conf" -s "$work/bird$side.ctl" -P "$work/bird$side.pid" 2>"$work/bird$side.log" &
        server="$server $!"
        [ "$side" = 2 ] || record bgp 179
    done
    sleep 8
    birdc -s "$work/bird2.ctl" 'reload in peer' >/dev/null
    sleep 2
    birdc -s "$work/bird2.ctl" 'disable peer' >/dev/null
    keep bgp
}
