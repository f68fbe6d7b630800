"""A server of JSON heads: a head, CRLF, and a body of the head's size. It returns each body. Its argument is the error to make, or
`none`; prints its port."""

import json
import re
import socket
import sys
import threading

from closing import close

BUG = sys.argv[1]


def frames(sock):
    pending = b""
    size = None
    while data := sock.recv(65536):
        pending += data
        while True:
            if BUG == "size-digits":
                # The size is taken as soon as it can be seen.
                found = re.search(rb'"size" ?: ?"(\d+)', pending) if size is None else None
                if found:
                    size = int(found[1])
            if b"\r\n" not in pending:
                break
            head = json.loads(pending[: pending.index(b"\r\n")])
            size = int(head["size"]) if size is None else size
            start = pending.index(b"\r\n") + 2
            if len(pending) < start + size:
                break
            yield head["type"], pending[start : start + size]
            pending, size = pending[start + size :], None


def serve(sock):
    try:
        for kind, body in frames(sock):
            head = json.dumps({"size": str(len(body)), "type": kind}, separators=(",", ":"))
            sock.sendall(head.encode() + b"\r\n" + body)
    except (OSError, ValueError, KeyError):
        pass
    close(sock)


listener = socket.create_server(("127.0.0.1", 0), backlog=64)
print(listener.getsockname()[1], flush=True)
while True:
    connection, _ = listener.accept()
    threading.Thread(target=serve, args=(connection,), daemon=True).start()
