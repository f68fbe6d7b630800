"""Several queries at once, in one packet and in pieces."""

import socket
import struct
import time


def query(number, name):
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    message = struct.pack("!6H", number, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!2H", 16, 1)
    return struct.pack("!H", len(message)) + message


with socket.create_connection(("127.0.0.1", 53)) as sock:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.sendall(b"".join(query(number, "long.example") for number in range(8)))
    for byte in query(8, "a.example"):
        sock.sendall(bytes([byte]))
        time.sleep(0.01)
    time.sleep(0.5)
