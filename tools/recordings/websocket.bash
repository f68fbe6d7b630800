# shellcheck shell=bash disable=SC2034,SC2154
# WebSocket: Python's websockets, both sides.

needs_websocket() { need_library websockets; }

record_websocket() {
    serve_websocket
    record websocket 80
    "$python" "$recordings/websocket-client.py"
    keep websocket
    # The one kind of length that needs so long a message has a capture of its own.
    serve_websocket
    record websocket-long 80
    "$python" "$recordings/websocket-client.py" long
    keep websocket-long
}

serve_websocket() {
    "$python" "$recordings/websocket-server.py" 2>"$work/websocket.log" &
    server=$!
    wait_for_port 80
}
