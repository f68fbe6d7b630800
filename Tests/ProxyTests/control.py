"""A client of toxiproxy's API, a server that returns what it gets, and clients that come in by the proxies that the API makes.

Prints a line; reads the control address's port from standard input; prints what was seen as one JSON object.
"""

import json
import socket
import sys
import threading
import time
import urllib.error
import urllib.request

PATIENCE = 20
seen = {}


def echo(connection):
    try:
        while data := connection.recv(1 << 16):
            connection.sendall(data)
    except OSError:
        pass
    connection.close()


def serve(sock):
    while True:
        connection, _ = sock.accept()
        threading.Thread(target=echo, args=(connection,), daemon=True).start()


def call(method, path, body=None, **headers):
    """The status and the body of a response."""
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(f"http://127.0.0.1:{control}{path}", data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            text = response.read()
            return response.status, json.loads(text) if text else None
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def connect(proxy="p"):
    host, port = call("GET", f"/proxies/{proxy}")[1]["listen"].split(":")
    sock = socket.create_connection((host, int(port)), PATIENCE)
    sock.settimeout(PATIENCE)
    return sock


def toxic(kind, stream="downstream", toxicity=1.0, **attributes):
    """Adds the only toxic."""
    for known in call("GET", "/proxies/p/toxics")[1]:
        call("DELETE", f"/proxies/p/toxics/{known['name']}")
    return call(
        "POST", "/proxies/p/toxics",
        {"type": kind, "stream": stream, "toxicity": toxicity, "attributes": attributes})


def read(sock, count=1 << 30):
    """What arrives, until the end or at most `count` bytes, and how it ends."""
    data = b""
    try:
        while len(data) < count:
            part = sock.recv(1 << 16)
            if not part:
                return data, "fin"
            data += part
    except ConnectionResetError:
        return data, "reset"
    except TimeoutError:
        return data, "silence"
    return data, "more"


def took(sock, data, finish=False):
    """How long the answer takes, and how it ends."""
    start = time.monotonic()
    sock.sendall(data)
    if finish:
        sock.shutdown(socket.SHUT_WR)
    got, end = read(sock, 1 << 30 if finish else len(data))
    return time.monotonic() - start, end, got == data


def main():
    seen["created"] = call("POST", "/proxies", {"name": "p", "upstream": f"127.0.0.1:{server}"})[0]
    seen["again"] = call("POST", "/proxies", {"name": "p", "upstream": "x:1"})
    seen["nameless"] = call("POST", "/proxies", {"upstream": "x:1"})
    seen["no json"] = call("POST", "/proxies/p", "text")[0]
    seen["bad toxic"] = call("POST", "/proxies/p/toxics", {"type": "wormhole"})
    seen["bad stream"] = call("POST", "/proxies/p/toxics", {"type": "latency", "stream": "sideways"})
    seen["no proxy"] = call("GET", "/proxies/q")[0]
    seen["no path"] = call("GET", "/nowhere")
    seen["browser"] = call("GET", "/proxies", **{"User-Agent": "Mozilla/5.0"})[0]
    seen["other host"] = call("GET", "/proxies", Host="example.com")[0]
    seen["version"] = call("GET", "/version")[1]

    with connect() as sock:
        seen["plain"] = took(sock, b"hello")[2]
        # Toxics apply to connections that are open, and end there.
        seen["latency"] = toxic("latency", latency=300, jitter=0)
        seen["latency took"] = took(sock, b"hello")[0]
        call("POST", "/proxies/p/toxics/latency_downstream", {"attributes": {"latency": 100}})
        seen["less latency"] = call("GET", "/proxies/p/toxics/latency_downstream")[1]["attributes"]
        call("DELETE", "/proxies/p/toxics/latency_downstream")
        seen["no latency"] = took(sock, b"hello")[0] < 0.3 and call("GET", "/proxies/p/toxics")[1] == []
    toxic("bandwidth", "upstream", rate=100)
    with connect() as sock:
        seen["bandwidth took"], _, seen["bandwidth right"] = took(sock, b"x" * 50_000)
    toxic("bandwidth", rate=0)
    with connect() as sock:
        sock.sendall(b"kept")
        sock.settimeout(0.3)
        seen["rate 0 got"] = read(sock)[1]
        call("DELETE", "/proxies/p/toxics/bandwidth_downstream")
        sock.settimeout(PATIENCE)
        seen["rate 0 then"] = read(sock, 4)[0].decode()
        # Added to a connection that is open, it counts from there; changed, it goes on.
        toxic("limit_data", bytes=1000)
        seen["limit before"] = took(sock, b"x" * 600)[1]
        call("POST", "/proxies/p/toxics/limit_data_downstream", {"attributes": {"bytes": 800}})
        sock.sendall(b"y" * 600)
        got, end = read(sock)
        seen["limit after"] = len(got), end
    toxic("slow_close", delay=400)
    with connect() as sock:
        seen["slow_close took"], seen["slow_close end"], _ = took(sock, b"x", finish=True)
    toxic("timeout", timeout=300)
    with connect() as sock:
        start = time.monotonic()
        sock.sendall(b"x")
        seen["timeout got"] = [x if isinstance(x, str) else len(x) for x in read(sock)]
        seen["timeout took"] = time.monotonic() - start
    toxic("timeout", timeout=0)
    with connect() as sock:
        sock.sendall(b"x")
        sock.settimeout(0.5)
        seen["silent got"] = read(sock)[1]
        # What was not passed on is missing: the connection ends with the toxic.
        call("DELETE", "/proxies/p/toxics/timeout_downstream")
        sock.settimeout(PATIENCE)
        seen["silent end"] = read(sock)[1]
    toxic("reset_peer", timeout=200)
    with connect() as sock:
        seen["reset_peer took"], end, right = took(sock, b"x")
        seen["reset_peer"] = right, end
    # The answer comes when a toxic applies.
    ends = []
    for _ in range(30):
        call("DELETE", f"/proxies/p/toxics/{call('GET', '/proxies/p/toxics')[1][0]['name']}")
        with connect() as sock:
            took(sock, b"hello")
            toxic("reset_peer", "upstream", timeout=0)
            sock.sendall(b"x")
            ends.append(read(sock, 1)[1])
    seen["reset at once"] = ends.count("reset")
    toxic("limit_data", bytes=10)
    with connect() as sock:
        sock.sendall(b"x" * 100)
        got, end = read(sock)
        seen["limit_data"] = len(got), end
    toxic("slicer", average_size=10, size_variation=3, delay=20_000)
    with connect() as sock:
        seen["slicer took"], _, seen["slicer right"] = took(sock, bytes(range(100)))
    toxic("limit_data", toxicity=0.5, bytes=1)
    ends = []
    for _ in range(60):
        with connect() as sock:
            sock.sendall(b"xy")
            ends.append(read(sock, 2)[1])
    seen["toxicity"] = ends.count("fin")

    toxic("latency")
    with connect() as sock:
        # It is relayed, and not merely accepted.
        seen["before disabling"] = took(sock, b"open")[2]
        listen = call("GET", "/proxies/p")[1]["listen"]
        seen["disabled"] = call("POST", "/proxies/p", {"enabled": False})[1]["enabled"]
        seen["disabled end"] = read(sock)[1]
        try:
            socket.create_connection((listen.split(":")[0], int(listen.split(":")[1])), PATIENCE).close()
            seen["disabled connect"] = "open"
        except ConnectionRefusedError:
            seen["disabled connect"] = "refused"
    seen["reset"] = call("POST", "/reset")[0]
    after = call("GET", "/proxies/p")[1]
    seen["after reset"] = after["enabled"] and after["toxics"] == [] and after["listen"] == listen
    seen["populated"] = call(
        "POST", "/populate",
        [{"name": "p", "listen": listen, "upstream": f"127.0.0.1:{server}"}, {"name": "r", "upstream": f"127.0.0.1:{server}"}],
    )[0]
    with connect("r") as sock:
        seen["populated works"] = took(sock, b"hello")[2]
    seen["proxies"] = sorted(call("GET", "/proxies")[1])
    # A list with a wrong item changes nothing.
    before = call("GET", "/proxies")
    wrong = [{"name": "n"}, {"upstream": "x:1"}, {"name": "n", "upstream": "x"}, {"name": "n", "upstream": "x:1", "listen": "x"}]
    seen["wrong items"] = [call("POST", "/populate", [{"name": "p", "upstream": "x:1"}, {"name": "m", "upstream": "x:1"}, item]) for item in wrong]
    seen["unchanged"] = call("GET", "/proxies") == before
    seen["taken"] = call("POST", "/proxies", {"name": "s", "listen": listen, "upstream": "x:1"})
    seen["deleted"] = call("DELETE", "/proxies/r")[0]
    seen["left"] = sorted(call("GET", "/proxies")[1])
    seen["seen"] = True


listener = socket.create_server(("127.0.0.1", 0), backlog=64)
server = listener.getsockname()[1]
threading.Thread(target=serve, args=(listener,), daemon=True).start()
print("ready", flush=True)
control = int(sys.stdin.readline())
main()
print(json.dumps(seen), flush=True)
