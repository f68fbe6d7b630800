"""A client of `lines.py twice`: it says three lines, and expects each twice, in capitals. Arguments: host, port, and the error to
make, or `none`. It ends with status 1 if an answer is wrong. With `capitals` none is, but once an answer has come in parts, it
says its lines in capitals. With `second` it does all of it again on another connection, with the error `rest-lost` there."""

import socket
import sys

BUG = sys.argv[3]
LINES = ["hello", "a longer line, \u898b\u3088", "bye"]

in_parts = False


def connect():
    global sock, pending
    sock = socket.create_connection((sys.argv[1], int(sys.argv[2])), 5)
    sock.settimeout(10)
    pending = b""


def answer():
    global pending, in_parts
    if BUG == "read-is-line":
        return sock.recv(65536).removesuffix(b"\r\n")
    while b"\r\n" not in pending:
        data = sock.recv(65536)
        if not data:
            sys.exit("the server has left")
        if BUG == "character":
            data = data.decode(errors="replace").encode()
        pending += data
        in_parts = in_parts or b"\r\n" not in pending
    line, _, rest = pending.partition(b"\r\n")
    if BUG == "rest-lost" and rest:
        # What is lost here does not come again.
        sock.settimeout(0.5)
    pending = b"" if BUG == "rest-lost" else rest
    return line


def converse():
    connect()
    for line in LINES:
        said = line.upper() if BUG == "capitals" and in_parts else line
        sock.sendall(said.encode() + b"\r\n")
        for _ in range(2):
            got = answer()
            if got != line.upper().encode():
                sys.exit(f"{got} is not the answer to {line}")
    sock.close()


converse()
if BUG == "second":
    BUG = "rest-lost"
    converse()
