"""Frames by hand: in pieces, several in one packet, with a wrong check, and requests that are refused."""

import socket
import time


def check(data):
    value = 0
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0xA6BC if value & 1 else 0)
    return (value ^ 0xFFFF).to_bytes(2, "little")


def frame(control, data=b""):
    """To station 10, from station 1; each block of 16 bytes has a check of its own."""
    head = b"\x05\x64" + bytes([5 + len(data), control]) + (10).to_bytes(2, "little") + (1).to_bytes(2, "little")
    blocks = (data[start:start + 16] for start in range(0, len(data), 16))
    return head + check(head) + b"".join(block + check(block) for block in blocks)


def request(number, *content):
    """Unconfirmed user data with a whole fragment."""
    return frame(0xC4, bytes([0xC0 | number, 0xC0 | number]) + b"".join(content))


with socket.create_connection(("127.0.0.1", 20000)) as sock:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    read = request(1, b"\x01", b"\x3c\x01\x06")
    wrong = bytearray(request(2, b"\x01", b"\x3c\x01\x06"))
    wrong[-1] ^= 1
    for words in (frame(0xC9), frame(0xC0), read[:1], read[1:9], read[9:-1], read[-1:],
                  bytes(wrong), frame(0xC9) + request(3, b"\x01", b"\x01\x02\x00\x00\x05") + frame(0xC9),
                  # A function that there is not, an object that there is not, a range beyond the last point.
                  request(4, b"\x70"), request(5, b"\x01", b"\xfe\x01\x06"), request(6, b"\x01", b"\x1e\x05\x00\xf0\xff"),
                  # Confirmed user data: the link acknowledges it. Then more than a block of 16 bytes.
                  frame(0xF3, b"\xc7\xc7\x01" + b"\x3c\x01\x06" * 5), request(8, b"\x17"), request(9, b"\x02", b"\x50\x01\x00\x07\x07\x00")):
        sock.sendall(words)
        time.sleep(0.2)
