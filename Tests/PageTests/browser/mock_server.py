"""A server of the page's contract over made-up traffic: any number of frames at no cost, live if wanted, and with actions that only remember.

    mock_server.py [--frames N] [--rate FRAMES_PER_SECOND] [--port P]
"""

import argparse
import base64
import hashlib
import json
import mimetypes
import pathlib
import re
import socketserver
import struct
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WEB = pathlib.Path(__file__).resolve().parents[3] / "Sources" / "Page" / "Web"
START = 1_763_712_000_000_000_000
STEP = 100_000
TYPES = ["txt", "img", "ack", "move", "heartA", "login", "presence", "error"]
CONNECTIONS = 40
# Queries whose `from` and `count` are places in a list.
LISTS = ["frames", "conversation", "connections", "findings"]
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; "
          "form-action 'none'; frame-ancestors 'none'")


class Problem(Exception):
    def __init__(self, text, status=400, column=None):
        super().__init__(text)
        self.answer = {"error": text, "status": status} | ({"column": column} if column else {})


class Traffic:
    """Frame N is worked out from N, so ten million of them need no memory."""

    def __init__(self, frames, rate, reports=True):
        self.base, self.rate, self.began = frames, rate, time.monotonic()
        self.missed = 0
        self.complaints, self.switches = [], 0
        # How it answers: as it should, "refused" (it does not know the page), "known" (it knows the page from the next request on),
        # "gone" (connections end), "silent" (nothing comes), or "lost" (what is asked is never answered, even when it is well again).
        self.manner, self.run = "well", "1"
        # How many findings there are, by what connections' numbers differ, and what the page has asked for: (when, what, parameters).
        self.found, self.apart, self.asked = 0, 1, []
        self.listeners = [{"name": "chat", "listen": "127.0.0.1:18088", "to": "127.0.0.1:8088", "format": "im-json", "rules": ['delay: type == "img"; by: 1s'], "breakpoints": [], "seed": 1, "connections": [1]}]
        self.waiting = [{"listener": "chat", "connection": 1, "from": "client", "index": 3, "type": "txt", "since": str(START), "line": self.line(3)}]
        self.done = []

    @property
    def frames(self):
        return self.base + int((time.monotonic() - self.began) * self.rate)

    def row(self, n):
        kind = n * 7919 % len(TYPES)
        return {"event": n, "kind": "frame", "connection": self.number(n % CONNECTIONS), "from": "client" if n % 3 else "server", "leg": None, "time": str(START + n * STEP), "index": n // CONNECTIONS,
                "type": TYPES[kind], "length": 40 + n * 31 % 900, "segments": 1 + (n % 17 == 0), "merged": n % 5 == 0, "heartbeat": kind == 4, "missing": 0, "preview": f"sender=user{n % 97} “message {n}”", "secret": False}

    def number(self, place):
        """The number of the connection at a place."""
        return place * self.apart + 1

    def finding(self, n):
        return {"event": n, "kind": "finding", "connection": self.number(0), "from": "server", "leg": None, "time": str(START + n * STEP), "findingKind": "unanswered", "severity": "warning", "message": f"txt {n} was not answered within 1 s", "index": n}

    def line(self, n):
        row = self.row(n)
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime((START + n * STEP) // 10**9)) + f".{(START + n * STEP) % 10**9:09}Z"
        return {"event": "frame", "connection": row["connection"], "from": row["from"], "index": row["index"], "time": moment, "started": moment, "offset": n * 100, "length": row["length"], "segments": row["segments"],
                "merged": row["merged"], "type": row["type"], "heartbeat": row["heartbeat"], "fields": {"sender": f"user{n % 97}", "type": row["type"]}, "body": {"length": 12, "text": f"message {n}"}}

    def state(self):
        frames = self.frames
        return {"source": "made up", "tool": "frametap mock", "run": self.run, "live": self.rate > 0, "finished": False, "events": frames, "frames": frames, "connections": CONNECTIONS, "findings": self.found,
                "earliest": str(START), "latest": str(START + frames * STEP), "missed": self.missed, "held": len(self.waiting), "complaints": self.complaints, "switches": self.switches, "formats": {"im-json": {"types": {"client": TYPES, "server": TYPES}, "fields": ["sender", "type"]}},
                "actions": True, "token": None}

    def matching(self, query):
        """Which frames match: (how many, row to frame, frame to row)."""
        text, frames = query.get("filter", "").strip(), self.frames
        if "connection" in query:
            first, rest = divmod(int(query["connection"]) - 1, self.apart)
            if rest or not 0 <= first < CONNECTIONS:
                return 0, lambda row: 0, lambda n: 0
            count = max(0, (frames - first + CONNECTIONS - 1) // CONNECTIONS)
            return count, lambda row: first + row * CONNECTIONS, lambda n: max(0, -(-(n - first) // CONNECTIONS))
        if not text:
            return frames, lambda row: row, lambda n: n
        found = re.fullmatch(r'type == "(\w+)"', text)
        if not found:
            raise Problem("expected a value, found the end", column=len(text) + 1)
        period = [n for n in range(len(TYPES)) if TYPES[n * 7919 % len(TYPES)] == found.group(1)]
        if not period:
            return 0, lambda row: 0, lambda n: 0
        return (frames - period[0] + 7) // 8, lambda row: period[0] + row * 8, lambda n: max(0, -(-(n - period[0]) // 8))

    def get(self, path, query):
        self.asked.append((time.monotonic(), path, query))
        first, count = (int(query.get(name, otherwise)) if path in LISTS else 0 for name, otherwise in [("from", 0), ("count", 100)])
        if path == "state":
            return self.state()
        if path in ("frames", "conversation"):
            total, frame, _ = self.matching(query)
            pair = {"pair": None} if path == "conversation" else {}
            return {"total": total, "searched": self.frames, "events": self.frames, "rows": [self.row(frame(row)) | pair for row in range(first, min(total, first + count))]}
        if path == "place":
            if "event" not in query and "at" not in query:
                raise Problem("expected event: a number, or at: a time")
            total, frame, row = self.matching(query)
            place = min(total, row(int(query["event"]) if "event" in query else max(0, -(-(int(query["at"]) - START) // STEP))))
            return {"row": place, "total": total, "searched": self.frames, "event": frame(place) if place < total else None}
        if path.startswith("event/"):
            n = int(path[6:])
            if not 0 <= n < self.frames:
                raise Problem(f"there is no event {n}", 404)
            return {"event": n, "line": self.line(n), "detail": None, "pair": None, "previous": n - CONNECTIONS if n >= CONNECTIONS else None, "next": n + CONNECTIONS if n + CONNECTIONS < self.frames else None}
        if path == "connections":
            rows = [self.connection(place) for place in range(CONNECTIONS)]
            if "connection" in query:
                rows = [row for row in rows if row["connection"] == int(query["connection"])]
            return {"total": len(rows), "rows": rows[first:first + count]}
        if path == "timeline":
            return self.timeline(query)
        if path == "findings":
            return self.findings(query, first, count)
        if path == "complete":
            word = re.search(r"[\w.]*$", query.get("prefix", "")).group()
            return {"words": [each for each in ["type", "fields.sender", "fields.type"] if word and each != word and each.startswith(word)]}
        if path == "save":
            return self.save(query)
        sides = {"client": {kind: self.frames // 2 // len(TYPES) for kind in TYPES}, "server": {kind: self.frames // 2 // len(TYPES) for kind in TYPES}}
        answers = {"roundtrips": {"pairs": [], "tcp": None}, "summary": {"types": sides}, "listeners": {"listeners": self.listeners}, "held": {"total": len(self.waiting), "held": self.waiting[:100]}}
        if path in answers:
            return answers[path]
        raise Problem(f"there is no {path}", 404)

    def findings(self, query, first, count):
        rows = [self.finding(n) for n in range(self.found)]
        if "kind" in query:
            rows = [row for row in rows if row["findingKind"] == query["kind"]]
            return {"total": len(rows), "searched": self.frames, "events": self.frames, "rows": rows[first:first + count]}
        if not rows:
            return {"groups": []}
        return {"groups": [{"kind": "unanswered", "severity": "warning", "count": len(rows), "first": 0, "firstTime": rows[0]["time"], "lastTime": rows[-1]["time"], "example": rows[0]["message"], "connections": [self.number(0)]}]}

    def save(self, query):
        """A trace of at most a thousand frames; it is bytes, not JSON."""
        if query.get("as", "trace") == "capture":
            raise Problem("packets are kept by frametap proxy only; frametap capture --write keeps a capture's", 501)
        lines = [{"event": "trace", "version": 2, "source": "made up", "tool": "frametap mock"}] + [self.line(n) for n in range(min(self.frames, 1000))]
        return "".join(json.dumps(line) + "\n" for line in lines).encode()

    def connection(self, place):
        n = place + 1
        side = {"frames": self.frames // CONNECTIONS // 2, "bytes": 1000 * n, "heartbeats": 3, "unframed": 0, "missing": 0, "types": {"txt": 5}}
        return {"connection": self.number(place), "client": f"127.0.0.1:{50000 + n}", "server": "127.0.0.1:8088", "opened": str(START + n), "closed": None, "reason": None, "by": None, "handshake": True, "clientGuessed": False, "legs": False,
                "format": "im-json", "formatBy": "content", "evidence": "made up", "tls": None, "sides": {"client": side, "server": side}, "findings": {"info": 0, "warning": n % 3, "error": 0},
                "rates": {"start": str(START), "step": "1000000", "client": [n * k % 7 for k in range(32)], "server": [n * k % 5 for k in range(32)]}}

    def timeline(self, query):
        bins, first, count = int(query.get("bins", 200)), int(query.get("first", 0)), min(200, int(query.get("count", 50)))
        start, end = int(query.get("from", START)), int(query.get("to", START + self.frames * STEP))
        places = [place for place in range(CONNECTIONS) if query.get("connection") in (None, str(self.number(place)))]
        # Where there is no traffic yet, or no more, there are no bins; type 0 is that of frames without a type.
        busy = [b for b in range(bins) if START <= start + (end - start) * b // bins <= START + self.frames * STEP]
        lanes = [{"connection": self.number(n), "client": f"127.0.0.1:{50001 + n}", "server": "127.0.0.1:8088", "opened": str(START), "closed": None, "reason": None, "by": None,
                  "bins": {"client": [[b, 1 + b * n % 9, 0, 1 + n % 8] for b in busy[::2]], "server": [[b, 1, 1, 5] for b in busy[::9]]}, "marks": [], "moreMarks": 0} for n in places]
        return {"from": str(start), "to": str(max(start, end)), "total": len(places), "lanes": lanes[first:first + count], "types": ["", *TYPES]}

    def act(self, method, path, body):
        self.done.append([method, path, body])
        found = re.fullmatch(r"listeners/([^/]+)/(rules|breakpoints)", path)
        if found and method == "PUT":
            if any(text == "nonsense" for text in body):
                raise Problem("nonsense is no rule", column=1)
            listener = next(each for each in self.listeners if each["name"] == found.group(1))
            listener[found.group(2)] = body
            self.switches += 1
            return listener
        if path.endswith("/decide"):
            if not any(held["index"] == body["index"] for held in self.waiting):
                raise Problem(f"frame {body['index']} is not held", 409)
            self.waiting = [held for held in self.waiting if held["index"] != body["index"]]
        return None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    traffic = None

    def log_message(self, *_):
        pass

    def reply(self, status, content, kind="application/json"):
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": len(content), "Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(content)

    def handle_page(self, method):
        parts = urllib.parse.urlparse(self.path)
        query = dict(urllib.parse.parse_qsl(parts.query))
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size)) if size else None
        if parts.path.startswith("/api/") and not self.is_answered():
            return None
        if parts.path == "/api/v1/page/news":
            return self.news()
        if parts.path == "/done":
            return self.reply(200, json.dumps(self.traffic.done).encode())
        if parts.path.startswith("/api/v1/page/"):
            name = urllib.parse.unquote(parts.path[13:])
            try:
                answer = self.traffic.get(name, query) if method == "GET" else self.traffic.act(method, name, body)
            except Problem as problem:
                return self.reply(problem.answer["status"], json.dumps(problem.answer).encode())
            if isinstance(answer, bytes):
                return self.reply(200, answer, "application/x-ndjson")
            return self.reply(200 if answer is not None or method == "GET" else 204, b"" if answer is None and method != "GET" else json.dumps(answer).encode())
        file = (WEB / (parts.path.lstrip("/") or "index.html")).resolve()
        if WEB not in file.parents or not file.is_file():
            return self.reply(404, b"{}")
        kind = {".js": "text/javascript", ".css": "text/css"}.get(file.suffix) or mimetypes.guess_type(file.name)[0] or "text/html"
        return self.reply(200, file.read_bytes(), kind)

    def is_answered(self):
        """Whether a request is to be answered as usual; if not, it has been."""
        while self.traffic.manner == "silent":
            time.sleep(0.02)
        if self.traffic.manner == "lost":
            threading.Event().wait()
        manner = self.traffic.manner
        if manner == "gone":
            self.close_connection = True
        elif manner in ("refused", "known"):
            if manner == "known":
                self.traffic.manner = "well"
            self.reply(403, json.dumps({"error": "open the address that frametap printed", "status": 403}).encode())
        return manner == "well"

    def news(self):
        accept = base64.b64encode(hashlib.sha1((self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()
        self.wfile.write(f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n".encode())
        self.close_connection = True
        try:
            while self.traffic.manner in ("well", "silent"):
                while self.traffic.manner == "silent":
                    time.sleep(0.02)
                text = json.dumps({key: value for key, value in self.traffic.state().items() if key not in ("formats", "earliest", "source", "tool", "run", "live", "actions", "token")}).encode()
                self.wfile.write(b"\x81" + (bytes([len(text)]) if len(text) < 126 else b"\x7e" + struct.pack(">H", len(text))) + text)
                self.wfile.flush()
                time.sleep(0.2)
        except OSError:
            pass

    def do_GET(self):
        self.handle_page("GET")

    def do_PUT(self):
        self.handle_page("PUT")

    def do_POST(self):
        self.handle_page("POST")


class Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def handle_error(self, *_):
        pass


def serve(frames=1_000_000, rate=0, port=0):
    """A running server and its address."""
    handler = type("PageHandler", (Handler,), {"traffic": Traffic(frames, rate)})
    server = Server(("127.0.0.1", port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}/"


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--frames", type=int, default=1_000_000)
    options.add_argument("--rate", type=int, default=0)
    options.add_argument("--port", type=int, default=8090)
    chosen = options.parse_args()
    print(serve(chosen.frames, chosen.rate, chosen.port)[1], flush=True)
    threading.Event().wait()
