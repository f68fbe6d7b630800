# shellcheck shell=bash disable=SC2016,SC2034,SC2154
# RESP2: Redis and redis-cli.

needs_redis() {
    need_command redis-server redis-server -
    need_command redis-cli redis-tools -
}

record_redis() {
    redis-server --bind 127.0.0.1 --port 6379 --save '' --appendonly no --dir "$work" >"$work/redis.log" &
    server=$!
    wait_until redis-cli -h 127.0.0.1 ping
    record redis 6379
    # One connection each: a redis-cli that reads its commands asks for 200 kB of documentation first.
    ask() { redis-cli -h 127.0.0.1 "$@" >/dev/null; }
    ask PING
    ask SET greeting 'Hello, 世界'
    ask GET greeting
    ask GET nothing
    ask SET lines $'one\r\ntwo\r\n$5\r\n'
    ask GET lines
    ask RPUSH list a b c ''
    ask LRANGE list 0 -1
    ask INCR counter
    ask LPUSH greeting x || true
    ask EVAL "return {1, 'two', {3, false}, redis.error_reply('ERR four')}" 0
    ask LRANGE nothing 0 -1
    ask BLPOP nothing 0.1
    # A transaction: answers within an answer.
    printf 'MULTI\r\nINCR counter\r\nGET nothing\r\nEXEC\r\n' | sed 's/\r$//' | while IFS= read -r line; do
        # shellcheck disable=SC2086
        set -- $line
        printf '*%d\r\n' $#
        for word; do printf '$%d\r\n%s\r\n' "${#word}" "$word"; done
    done | redis-cli -h 127.0.0.1 --pipe >/dev/null
    # A value longer than a packet, with every byte there is.
    python3 -c 'import sys; sys.stdout.buffer.write(bytes(range(256)) * 20)' | redis-cli -h 127.0.0.1 -x SET bytes >/dev/null
    redis-cli -h 127.0.0.1 GET bytes >/dev/null
    for number in $(seq 200); do
        printf '*3\r\n$3\r\nSET\r\n$%d\r\nkey:%d\r\n$5\r\nvalue\r\n' $((4 + ${#number})) "$number"
    done | redis-cli -h 127.0.0.1 --pipe >/dev/null
    keep redis
}
