# shellcheck shell=bash disable=SC2034,SC2154
# memcached's text protocol: its server, Python's pymemcache, and commands by hand.

needs_memcached() {
    need_command memcached memcached -
    need_library pymemcache
}

record_memcached() {
    memcached -u root -l 127.0.0.1 -p 11211 -U 0 -t 1 2>"$work/memcached.log" &
    server=$!
    wait_for_port 11211
    record memcached 11211
    "$python" "$recordings/memcached-client.py"
    keep memcached
}
