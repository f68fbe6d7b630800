"""A server of lines: it returns each in capitals. Its argument is the error to make, or `none`; prints its port."""

import socket
import struct
import sys
import threading
import time

BUG = sys.argv[1]


def lines(sock):
    pending = b""
    while data := sock.recv(65536):
        if BUG == "rude-end" and pending:
            # A line in two parts leaves something behind that goes wrong only at the end.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if BUG == "character":
            data = data.decode(errors="replace").encode()
        if BUG == "delimiter" and b"\r\n" not in data:
            pending += data
            continue
        pending += data
        if BUG == "second-lost" and b"\r\n" in pending:
            yield pending[: pending.index(b"\r\n")]
            pending = b""
            continue
        while b"\r\n" in pending:
            line, _, pending = pending.partition(b"\r\n")
            yield line


def serve(sock):
    try:
        for line in lines(sock):
            text = "DENIED" if BUG == "denies" else line.decode(errors="replace").upper()
            answer = text.encode() + b"\r\n"
            sock.sendall(answer * 2 if BUG == "twice" else answer)
    except OSError:
        pass
    if BUG == "slow-end":
        time.sleep(1.5)
    sock.close()


listener = socket.create_server(("127.0.0.1", 0), backlog=64)
print(listener.getsockname()[1], flush=True)
while True:
    connection, _ = listener.accept()
    threading.Thread(target=serve, args=(connection,), daemon=True).start()
