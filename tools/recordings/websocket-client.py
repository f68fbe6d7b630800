"""Talks to the server: plainly, with compression, and in ways that it refuses."""

import asyncio
import os
import socket
import sys
import time

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

URL = "ws://127.0.0.1:80/"


async def cut(message, size):
    for start in range(0, len(message), size):
        yield message[start:start + size]
        await asyncio.sleep(0.02)


async def talk(compression):
    async with connect(URL, compression=compression, subprotocols=["echo"], ping_interval=None) as connection:
        every = bytes(range(256))
        for message in ("hello", "", b"", b"\x00\xff\x81", "Grüße, 世界", "a" * 125, "b" * 126, every * 12, "yes " * 800):
            await connection.send(message)
            await connection.recv()
        await connection.send("burst")
        for _ in range(8):
            await connection.recv()
        # Fragments: of text, and of bytes with a ping between them.
        await connection.send(cut("this text comes in fragments", 6))
        await connection.recv()
        sending = asyncio.create_task(connection.send(cut(every[-90:], 30)))
        await asyncio.sleep(0.03)
        await (await connection.ping())
        await sending
        await connection.recv()
        await connection.send("pieces")
        await connection.recv()
        await (await connection.ping(b"\x01\x02"))
        await connection.pong(b"nobody asked")
        await connection.send("ping me")
        await asyncio.sleep(0.2)
        await connection.close(1000, "that is all")


async def be_closed():
    async with connect(URL, compression=None, subprotocols=["echo"], ping_interval=None) as connection:
        await connection.send("go away")
        try:
            await connection.recv()
        except ConnectionClosed:
            pass


async def send_long():
    async with connect(URL, compression=None, subprotocols=["echo"], ping_interval=None) as connection:
        await connection.send(bytes(65_536))
        await connection.recv()


def shake_hands():
    sock = socket.create_connection(("127.0.0.1", 80))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                 b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: echo\r\n\r\n")
    sock.recv(4096)
    return sock


def frame(start, payload):
    mask = os.urandom(4)
    return bytes([start, 0x80 | len(payload)]) + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))


def by_hand():
    # Two frames in one packet, then one byte by byte, then an empty close.
    with shake_hands() as sock:
        sock.sendall(frame(0x81, b"one") + frame(0x82, b"two"))
        time.sleep(0.1)
        for byte in frame(0x81, b"slowly"):
            sock.sendall(bytes([byte]))
            time.sleep(0.01)
        time.sleep(0.1)
        sock.sendall(frame(0x88, b""))
        time.sleep(0.1)
    # An opcode that does not exist: the server closes with 1002.
    with shake_hands() as sock:
        sock.sendall(frame(0x83, b"?"))
        time.sleep(0.2)
    # A text that is no UTF-8: 1007.
    with shake_hands() as sock:
        sock.sendall(frame(0x81, b"\xff\xfe"))
        time.sleep(0.2)
    # No upgrade at all: 426.
    with socket.create_connection(("127.0.0.1", 80)) as sock:
        sock.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        while sock.recv(4096):
            pass


if sys.argv[1:] == ["long"]:
    asyncio.run(send_long())
else:
    asyncio.run(talk(None))
    asyncio.run(talk("deflate"))
    asyncio.run(be_closed())
    by_hand()
