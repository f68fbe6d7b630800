"""Answers in the ways that nginx does not: in chunks with extensions and trailers, and with neither length nor chunks."""

import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def read_chunks(self):
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return body

    def do_POST(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = self.read_chunks()
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_OPTIONS(self):
        self.send_response(204)
        self.send_header("Allow", "GET, POST, OPTIONS")
        self.end_headers()

    def do_GET(self):
        self.send_response(200)
        if self.path == "/until-close":
            self.send_header("Connection", "close")
            self.end_headers()
            for number in range(3):
                self.wfile.write(b"part %d\r\n\r\n" % number)
                time.sleep(0.05)
            return
        self.send_header("Transfer-Encoding", "chunked")
        if self.path == "/trailers":
            self.send_header("Trailer", "Checksum, Count")
        self.end_headers()
        for text in (b"one", b"0\r\n\r\n", bytes(range(256)) * 7, b"the last one"):
            extension = b";name=value" if self.path == "/trailers" else b""
            self.wfile.write(b"%X%b\r\n%b\r\n" % (len(text), extension, text))
            time.sleep(0.05)
        trailers = b"Checksum: 4711\r\nCount: 4\r\n" if self.path == "/trailers" else b""
        self.wfile.write(b"0\r\n" + trailers + b"\r\n")


ThreadingHTTPServer(("127.0.0.2", 80), Handler).serve_forever()
