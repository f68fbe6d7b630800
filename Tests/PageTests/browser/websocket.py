"""A WebSocket client (RFC 6455) for WebDriver BiDi, without packages: text messages to a server on this machine."""

import base64
import os
import socket
import struct
import urllib.parse


class WebSocket:
    def __init__(self, address, timeout=60):
        parts = urllib.parse.urlparse(address)
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((
            f"GET {parts.path or '/'} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        self.file = self.socket.makefile("rb")
        status = self.file.readline()
        if b" 101 " not in status:
            raise ConnectionError(f"no WebSocket at {address}: {status!r}")
        while self.file.readline() not in (b"\r\n", b""):
            pass

    def send(self, text, opcode=1):
        content = text.encode() if isinstance(text, str) else text
        size = len(content)
        head = bytes([0x80 | opcode]) + (
            bytes([0x80 | size]) if size < 126 else b"\xfe" + struct.pack(">H", size) if size < 65536 else b"\xff" + struct.pack(">Q", size))
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(content))
        self.socket.sendall(head + mask + masked)

    def receive(self):
        whole = b""
        while True:
            first, second = self._read(2)
            size = second & 0x7F
            if size == 126:
                (size,) = struct.unpack(">H", self._read(2))
            elif size == 127:
                (size,) = struct.unpack(">Q", self._read(8))
            content = self._read(size)
            if first & 0x0F == 9:
                self.send(content, opcode=10)
            elif first & 0x0F == 8:
                raise ConnectionError("the browser closed the connection")
            elif first & 0x0F in (0, 1):
                whole += content
                if first & 0x80:
                    return whole.decode()

    def _read(self, count):
        content = self.file.read(count)
        if len(content) < count:
            raise ConnectionError("the browser closed the connection")
        return content

    def close(self):
        self.socket.close()
