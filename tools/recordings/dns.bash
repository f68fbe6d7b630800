# shellcheck shell=bash disable=SC2034,SC2154
# DNS over TCP: dnsmasq and dig.

needs_dns() {
    need_command dnsmasq dnsmasq-base -
    need_command dig bind9-dnsutils -
}

record_dns() {
    local texts
    texts=$(printf 'a text of some length,%.0s' $(seq 60))
    dnsmasq --keep-in-foreground --no-resolv --no-hosts --conf-file=/dev/null --listen-address=127.0.0.1 --bind-interfaces \
        --local=/example/ --user=root --pid-file= --address=/a.example/192.0.2.1 --txt-record="long.example,$texts" 2>"$work/dnsmasq.log" &
    server=$!
    wait_until dig +tcp +time=1 +tries=1 @127.0.0.1 a.example
    record dns 53
    local name
    for name in a.example nothing.example long.example; do
        dig +tcp @127.0.0.1 "$name" A "$name" TXT +keepopen >/dev/null
    done
    dig +tcp +norecurse +nocookie @127.0.0.1 elsewhere.test AAAA >/dev/null
    dig +tcp @127.0.0.1 -x 192.0.2.1 >/dev/null
    # Several queries at once, in one packet and in pieces; their answers come in any order.
    python3 "$recordings/dns-client.py"
    keep dns
}
