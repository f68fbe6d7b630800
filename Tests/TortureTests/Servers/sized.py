"""A server of frames with a length: two bytes of length, one byte of kind, the body. It returns each frame with its body reversed.

Its argument is the error to make, or `none`; prints its port. With `serial` it makes none, but serves one connection at a time; with
`counts` it adds the connection's number to each body. With `hangs` it no longer answers once a read is short; with `many-reads` it
closes if the first two frames arrive in 18 reads or more, and exits if they do in 11 to 17.
"""

import itertools
import os
import socket
import struct
import sys
import threading
import time

from closing import close

BUG = sys.argv[1]


def receive_exactly(sock, count, reads=None):
    data = b""
    while len(data) < count:
        part = sock.recv(count - len(data))
        if not part:
            raise ConnectionError("the client has left")
        data += part
        if reads is not None:
            reads.append(len(part))
        if BUG == "hangs" and len(data) < count:
            while sock.recv(65536):
                pass
    return data


def frames(sock):
    reads = []
    while True:
        if BUG == "many-reads":
            size, kind = struct.unpack(">HB", receive_exactly(sock, 3, reads))
            body = receive_exactly(sock, size, reads)
            if kind == 2 and len(reads) >= 18:
                return
            if kind == 2 and len(reads) >= 11:
                os._exit(1)
            yield kind, body
            continue
        if BUG == "read-is-frame":
            data = sock.recv(65536)
            if len(data) < 3:
                return
            size, kind = struct.unpack(">HB", data[:3])
            yield kind, data[3 : 3 + size]
            continue
        if BUG in ("head-once", "crash", "crash-restart"):
            head = sock.recv(3)
            if not head:
                return
        else:
            head = receive_exactly(sock, 3)
        size, kind = struct.unpack(">HB", head)
        yield kind, sock.recv(size) if BUG == "body-once" and size else receive_exactly(sock, size)


def serve(sock, number):
    try:
        for kind, body in frames(sock):
            if BUG == "one-at-a-time":
                # What comes before the answer is thrown away: a client has to wait.
                time.sleep(0.15)
                try:
                    sock.recv(65536, socket.MSG_DONTWAIT)
                except BlockingIOError:
                    pass
            answer = {"only-errors": 63, "only-asked": 18}.get(BUG, kind + 16)
            answered = body[::-1] + (b" %d" % number if BUG == "counts" else b"")
            sock.sendall(struct.pack(">HB", len(answered), answer) + answered)
    except OSError:
        pass
    except struct.error:
        if BUG.startswith("crash"):
            os._exit(1)
    finally:
        close(sock)


listener = socket.create_server(("127.0.0.1", 0), backlog=64)
print(listener.getsockname()[1], flush=True)
while BUG == "crash-restart" and (child := os.fork()):
    os.waitpid(child, 0)
for number in itertools.count(1):
    connection, _ = listener.accept()
    if BUG == "serial":
        serve(connection, number)
        continue
    threading.Thread(target=serve, args=(connection, number), daemon=True).start()
