# shellcheck shell=bash
#
# Records conversations on loopback as tcpdump sees them. Sourced by tools/record-examples and tools/record-fixtures, after
# scripts/needs.bash.

fail() { say "$1"; exit 2; }

# What enter_namespace needs.
need_recording() {
    [ "$(id -u)" = 0 ] || fail "needs root: tcpdump opens the loopback interface"
    need_command tcpdump tcpdump -
    need_command ip iproute2 -
}

# enter_namespace SCRIPT [ARGUMENT…]: runs the script again in a network namespace of its own, and there prepares to record. The
# namespace leaves each program its usual port, and gives the loopback interface Ethernet's MTU and no segmentation offload, so
# that the kernel cuts as it would on a real network.
enter_namespace() {
    if [ -z "${IN_NAMESPACE:-}" ]; then
        unshare --net true 2>/dev/null || fail "needs to make a network namespace, which is not allowed here"
        export IN_NAMESPACE=1
        exec unshare --net "$@"
    fi
    ip link set lo mtu 1500 gso_max_segs 1 up
    work="$(mktemp -d)"
    chmod 755 "$work"
    trap 'stop; rm -rf "$work"' EXIT
}

server='' tap=''
stop() {
    local process
    # Not INT, which a script's background processes ignore.
    for process in $tap $server; do kill -TERM "$process" 2>/dev/null || true; done
    for process in $tap $server; do wait "$process" 2>/dev/null || true; done
    server='' tap=''
}

# Waits until a command succeeds: wait_until COMMAND…
wait_until() {
    for _ in $(seq 600); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.1
    done
    cat "$work"/*.log >&2 || true
    fail "waited a minute in vain for: $*"
}

# Starts tcpdump: record NAME PORT
record() {
    # -Z root: tcpdump would otherwise give up the right to write there. The large buffer keeps it from losing packets.
    tcpdump -i lo -s 0 -B 16384 -Z root -w "$work/$1.pcap" "tcp port $2" 2>"$work/tcpdump.log" &
    tap=$!
    wait_until grep -q "listening on lo" "$work/tcpdump.log"
}

# Stops the server and tcpdump, which must have lost nothing.
stop_recording() {
    sleep 1
    stop
    grep -q "^0 packets dropped by kernel" "$work/tcpdump.log" || fail "tcpdump lost packets: $(cat "$work/tcpdump.log")"
}
