"""Asks as curl does not: several requests in one packet, one in pieces, chunks with trailers, and without a host."""

import http.client
import socket
import time


def talk(host, *parts):
    """Sends each part in a packet of its own, and reads until the server closes."""
    with socket.create_connection((host, 80)) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for part in parts:
            sock.sendall(part)
            time.sleep(0.05)
        while sock.recv(65536):
            pass


def cut(data, size):
    return (data[start:start + size] for start in range(0, len(data), size))


def get(path, *headers, method="GET"):
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: localhost", *headers, "", ""]).encode()


last = "Connection: close"
talk("127.0.0.1", get("/") + get("/bytes.bin", method="HEAD") + get("/nothing") + get("/empty.txt") + get("/not-there", last))
talk("127.0.0.1", get("/long.txt", "Accept-Encoding: gzip") + get("/") + get("/bytes.bin") + get("/", last))
talk("127.0.0.1", *cut(get("/", "x-name:  spaces around \t", "x-empty:", last), 7))
talk("127.0.0.1", b"GET / HTTP/1.0\n\n")
talk("127.0.0.1", b"GET / HTTP/1.1\r\n\r\n")
chunks = b"5\r\nhello\r\n00A;quoted=\"a b\"\r\n0123456789\r\n0\r\nChecksum: 4711\r\n\r\n"
post = get("/echo", "transfer-encoding: chunked", "Trailer: Checksum", method="POST")
talk("127.0.0.2", post + chunks + post + chunks[:9], chunks[9:] + get("/chunks") + get("/trailers", last))
# A library's: its header and its body go in packets of their own.
connection = http.client.HTTPConnection("127.0.0.2")
for body in (b"first", b"", bytes(2000), iter([b"in", b"chunks", bytes(2000)])):
    connection.request("POST", "/echo", body, {"X-Name": "value"}, encode_chunked=True)
    connection.getresponse().read()
connection.close()
