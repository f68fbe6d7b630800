# shellcheck shell=bash disable=SC2034,SC2154
# RESP3: Redis with redis-cli -3 and Python's redis.

needs_resp3() {
    need_command redis-server redis-server -
    need_command redis-cli redis-tools -
    need_library redis
}

record_resp3() {
    redis-server --bind 127.0.0.1 --port 6379 --save '' --appendonly no --dir "$work" --requirepass sesame --enable-debug-command local --notify-keyspace-events Kg >"$work/redis.log" &
    server=$!
    wait_until redis-cli -h 127.0.0.1 --no-auth-warning -a sesame ping
    record resp3 6379
    ask() { redis-cli -3 -h 127.0.0.1 --no-auth-warning -a sesame "$@" >/dev/null; }
    ask SET greeting 'Hello, 世界'
    ask GET nothing
    ask DEBUG PROTOCOL verbatim || true
    redis-cli -3 -h 127.0.0.1 --no-auth-warning -a wrong PING >/dev/null 2>&1 || true
    "$python" "$recordings/resp3-client.py"
    keep resp3
}
