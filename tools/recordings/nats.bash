# shellcheck shell=bash disable=SC2034,SC2154
# NATS: its server and its Python client.

needs_nats() {
    need_command nats-server nats-server -
    need_library nats-py
}

record_nats() {
    cat >"$work/nats.conf" <<'CONF'
host: 127.0.0.1
port: 4222
ping_interval: "2s"
max_payload: 8192
authorization {
    users: [
        { user: alice, password: sesame },
        { user: guest, password: guest, permissions: { publish: "open.>", subscribe: ["open.>", "_INBOX.>"] } }
    ]
}
CONF
    nats-server -c "$work/nats.conf" -l "$work/nats.log" &
    server=$!
    wait_for_port 4222
    record nats 4222
    "$python" "$recordings/nats-client.py"
    keep nats
}
