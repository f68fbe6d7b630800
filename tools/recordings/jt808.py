"""A terminal and its platform, as JT/T 808-2013 has them, over a real socket."""

import socket
import threading
import time
from functools import reduce

PHONE = bytes.fromhex("013912345678")
GBK = "gbk"


def message(id, serial, body=b"", package=None):
    """Header, body and check byte, escaped, between flags (section 4.4)."""
    properties = len(body) | (1 << 13 if package else 0)
    content = id.to_bytes(2, "big") + properties.to_bytes(2, "big") + PHONE + serial.to_bytes(2, "big")
    for number in package or ():
        content += number.to_bytes(2, "big")
    content += body
    content += bytes([reduce(lambda a, b: a ^ b, content)])
    return b"\x7e" + content.replace(b"\x7d", b"\x7d\x01").replace(b"\x7e", b"\x7d\x02") + b"\x7e"


def answer(serial, id, result=0):
    """The body of the platform's common answer (8.2)."""
    return serial.to_bytes(2, "big") + id.to_bytes(2, "big") + bytes([result])


def location(second):
    """The basic part of a location report (8.18), with the mileage after it."""
    return (bytes(4) + (0x00000003).to_bytes(4, "big") + (31_230_416).to_bytes(4, "big")
            + (121_473_701 + second).to_bytes(4, "big") + (12).to_bytes(2, "big") + (600 + second).to_bytes(2, "big")
            + (90).to_bytes(2, "big") + bytes.fromhex(f"2611210800{second:02d}") + b"\x01\x04" + (125).to_bytes(4, "big"))


def frames(connection):
    """The messages that come in, without flags."""
    held = b""
    while received := connection.recv(4096):
        held += received
        while held.count(b"\x7e") >= 2:
            _, frame, held = held.split(b"\x7e", 2)
            yield frame.replace(b"\x7d\x02", b"\x7e").replace(b"\x7d\x01", b"\x7d")


def platform(listener):
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for number, frame in enumerate(frames(connection)):
        id, serial = int.from_bytes(frame[:2], "big"), int.from_bytes(frame[10:12], "big")
        if id == 0x0100:
            body = serial.to_bytes(2, "big") + b"\x00" + b"code-4711"
            connection.sendall(message(0x8100, number, body))
        elif id != 0x0001:
            connection.sendall(message(0x8001, number, answer(serial, id)))
        if id == 0x0200 and serial == 6:
            connection.sendall(message(0x8201, number + 100) + message(0x8300, number + 101, b"\x04" + "请减速".encode(GBK)))
    connection.close()


listener = socket.create_server(("127.0.0.1", 8808))
thread = threading.Thread(target=platform, args=(listener,))
thread.start()
with socket.create_connection(("127.0.0.1", 8808)) as terminal:
    terminal.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    register = (bytes.fromhex("002c012f") + b"MAKER" + b"MODEL-1".ljust(20, b"\0") + b"DEV0001" + b"\x01" + "沪A12345".encode(GBK))
    terminal.sendall(message(0x0100, 1, register))
    time.sleep(0.2)
    terminal.sendall(message(0x0102, 2, b"code-4711"))
    time.sleep(0.2)
    terminal.sendall(message(0x0002, 3))
    time.sleep(0.1)
    # Two in one packet, then one in two packets, cut inside an escape.
    terminal.sendall(message(0x0200, 4, location(1)) + message(0x0200, 5, location(2)))
    time.sleep(0.1)
    # The example of section 4.4.2: 30 7e 08 7d 55 goes out as 30 7d 02 08 7d 01 55.
    upwards = message(0x0900, 7, b"\xf0" + bytes.fromhex("307e087d55"))
    cut = upwards.index(b"\x7d\x02") + 1
    terminal.sendall(message(0x0200, 6, location(3)) + upwards[:cut])
    time.sleep(0.1)
    terminal.sendall(upwards[cut:])
    time.sleep(0.1)
    # One message in three packages.
    for number in (1, 2, 3):
        terminal.sendall(message(0x0704, 7 + number, bytes([number]) * 900, package=(3, number)))
    time.sleep(0.2)
    terminal.sendall(message(0x0002, 11))
    time.sleep(0.1)
    terminal.sendall(message(0x0003, 12))
    terminal.shutdown(socket.SHUT_WR)
    while terminal.recv(4096):
        pass
thread.join()
listener.close()
