"""Two tests at once that use frametap's own API, each with its own listener; and requests that are wrong.

Prints a line; reads the control address's port and its token from standard input; prints what was seen as one JSON object.
"""

import json
import socket
import sys
import threading
import time
import urllib.error
import urllib.parse
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


def call(method, path, body=None, query=None, headers=None, raw=None):
    """The status and the body of a response."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"} | (headers or {})
    data = raw if raw is not None else json.dumps(body).encode() if body is not None else None
    url = f"http://127.0.0.1:{control}/api/v1{path}" + ("?" + urllib.parse.urlencode(query) if query else "")
    request = urllib.request.Request(url, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            text = response.read().decode()
            return response.status, json.loads(text) if text.startswith("{") and "\n{" not in text else text
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())["error"]


def connect(listener):
    host, port = listener["listen"].rsplit(":", 1)
    sock = socket.create_connection((host, int(port)), PATIENCE)
    sock.settimeout(PATIENCE)
    return sock


def read_lines(sock, count):
    data = b""
    while data.count(b"\n") < count:
        data += sock.recv(100)
    return data.decode()


def texts(events):
    return [event["body"]["text"] for event in events["events"] if event["event"] == "frame"]


def follow(listener):
    """A stream of frames: what was, what comes, and what is no frame of the client's is not there."""
    query = urllib.parse.urlencode({"follow": "true", "when": "from == client and length > 2", "leg": "out"})
    request = urllib.request.Request(
        f"http://127.0.0.1:{control}/api/v1/listeners/streamed/events?{query}", headers={"Authorization": f"Bearer {token}"})
    streamed = call("POST", "/listeners", {"name": "streamed", "to": f"127.0.0.1:{server}", "format": "line", "rules": ['drop: body.text == "secret"']})[1]
    sock = connect(streamed)
    sock.sendall(b"before\n\nsecret\n")
    read_lines(sock, 2)
    lines = []
    with urllib.request.urlopen(request, timeout=PATIENCE) as response:
        lines.append(json.loads(response.readline()))
        sock.sendall(b"after\n")
        lines.append(json.loads(response.readline()))
    seen["followed"] = [line["body"]["text"] for line in lines]
    number = lines[0]["connection"]
    call("POST", f"/listeners/streamed/connections/{number}/frames", {"from": "client", "bytes": "7261770a"})
    call("GET", "/listeners/streamed/wait", query={"when": 'body.text == "raw" and from == server', "connection": number})
    seen["bad bytes"] = call("POST", f"/listeners/streamed/connections/{number}/frames", {"from": "client", "bytes": "7"})
    seen["bytes and body"] = call("POST", f"/listeners/streamed/connections/{number}/frames", {"from": "client", "bytes": "0a", "body": {"text": "x"}})
    latest = call("GET", "/listeners/streamed/events", query={"limit": 0})[1]["latest"]
    seen["nothing new"] = call("GET", "/listeners/streamed/events", query={"after": latest})[1]["events"]
    with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{control}/api/v1/listeners/streamed/capture", headers={"Authorization": f"Bearer {token}"})) as response:
        seen["capture"] = response.read().hex()
    # A program sends into the connection while it is open.
    seen["connection"] = number
    print("open", flush=True)
    sys.stdin.readline()
    sock.close()


def stopped_at_once(to):
    """Whether a frame is stopped that is sent as soon as breakpoints were set on its connection."""
    soon = call("POST", "/listeners", {"name": "soon", "to": to, "format": "line"})[1]
    with connect(soon) as sock:
        sock.sendall(b"open\n")
        read_lines(sock, 1)
        call("PUT", "/listeners/soon/breakpoints", ['body.text == "stop"'])
        sock.sendall(b"stop\n")
        sock.settimeout(0.05)
        try:
            passed = sock.recv(100)
        except TimeoutError:
            passed = b""
        call("DELETE", "/listeners/soon")
    return not passed


def main():
    to = f"127.0.0.1:{server}"
    status, one = call("POST", "/listeners", {"name": "one", "to": to, "format": "line", "rules": ['drop: body.text == "secret"'], "seed": 7})
    seen["opened"] = status
    two = call("POST", "/listeners", {"to": to})[1]
    seen["named by itself"] = two["name"]
    waited = {}

    def wait():
        waited["late"] = call("GET", "/listeners/one/wait", query={"when": 'body.text == "third" and from == "server"'})

    thread = threading.Thread(target=wait)
    thread.start()
    with connect(one) as sock, connect(two) as other:
        sock.sendall(b"first\n")
        sock.recv(6)
        other.sendall(b"elsewhere\n")
        other.recv(10)
        # A frame that has passed already counts.
        early = call("GET", "/listeners/one/wait", query={"when": 'type == "line"'})[1]
        seen["early"] = texts(early)
        sock.sendall(b"secret\nthird\n")
        seen["passed"] = sock.recv(100).decode()
        thread.join()
        seen["late"] = texts(waited["late"][1])
        # From the cursor after a frame, it does not count again.
        seen["none"] = call("GET", "/listeners/one/wait", query={"when": 'body.text == "first" and from == "client"', "after": early["next"], "timeout": 0.2})
        # Bytes reach the client before they are recorded.
        call("GET", "/listeners/listener-2/wait", query={"when": 'from == "server"'})
        seen["two"] = texts(call("GET", "/listeners/listener-2/events")[1])
        events = call("GET", "/listeners/one/events")[1]
        seen["events"] = [event["event"] for event in events["events"]]
        page = call("GET", "/listeners/one/events", query={"limit": 2})[1]
        rest = call("GET", "/listeners/one/events", query={"after": page["next"]})[1]
        seen["pages"] = page["events"] + rest["events"] == events["events"] and events["missed"] == 0
        number = call("GET", "/listeners/one")[1]["connections"][0]
        frames = f"/listeners/one/connections/{number}/frames"
        # One that the server never sent, in the middle of a frame of the client's.
        sock.sendall(b"un")
        seen["injected"] = call("POST", frames, {"from": "server", "body": {"text": "from nowhere"}})[0]
        seen["injected got"] = sock.recv(100).decode()
        # One that the client never sent; its own, of which a part is under way, stays whole.
        call("POST", frames, {"from": "client", "body": {"text": "echo me"}})
        seen["injected echo"] = sock.recv(100).decode()
        sock.sendall(b"cut\n")
        seen["uncut"] = sock.recv(100).decode()
        seen["bad frame"] = call("POST", frames, {"body": {"text": "x"}})
        seen["bad body"] = call("POST", frames, {"from": "client", "body": {"txt": "x"}})
        seen["no connection"] = call("POST", "/listeners/one/connections/99/frames", {"from": "client", "body": {"text": "x"}})
        seen["changed"] = call("PUT", "/listeners/one/rules", [])[1]["rules"]
        with connect(one) as third:
            third.sendall(b"secret\n")
            seen["without rule"] = third.recv(100).decode()
        trace = call("GET", "/listeners/one/trace")[1]
        seen["trace"] = [json.loads(line)["event"] for line in trace.splitlines()][:2]
        seen["listeners"] = [x["name"] for x in call("GET", "/listeners")[1]["listeners"]]
        seen["deleted"] = call("DELETE", "/listeners/one")[0]
        try:
            seen["after deleting"] = sock.recv(100).decode()
        except ConnectionResetError:
            seen["after deleting"] = "reset"
        other.sendall(b"still here\n")
        seen["the other one"] = other.recv(100).decode()
    stop = call("POST", "/listeners", {"name": "stop", "to": to, "format": "line", "breakpoints": ['from == "client" and body.text == "stop"']})[1]
    with connect(stop) as sock:
        def stopped(count):
            """Waits until this many frames were stopped; returns the last one's number."""
            while True:
                events = call("GET", "/listeners/stop/events")[1]["events"]
                breaks = [event for event in events if event["event"] == "action" and event["action"] == "break"]
                if len(breaks) >= count:
                    return breaks[-1]["connection"], breaks[-1]["index"]
                time.sleep(0.01)

        def decided(do, count, **values):
            connection, index = stopped(count)
            return call("POST", f"/listeners/stop/connections/{connection}/decide", {"from": "client", "index": index, "do": do} | values)[0]

        sock.sendall(b"go\nstop\nafter\n")
        seen["before the stop"] = sock.recv(100).decode()
        seen["decided"] = decided("replace", 1, body={"text": "edited"})
        seen["edited"] = read_lines(sock, 2)
        sock.sendall(b"stop\nnext\n")
        decided("drop", 2)
        seen["dropped"] = read_lines(sock, 1)
        sock.sendall(b"stop\n")
        connection, index = stopped(3)
        path = f"/listeners/stop/connections/{connection}/decide"
        seen["not held"] = call("POST", path, {"from": "client", "index": index + 1, "do": "drop"})
        seen["two lines"] = call("POST", path, {"from": "client", "index": index, "do": "replace", "body": {"text": "two\nlines"}})
        decided("release", 3)
        seen["decided twice"] = call("POST", path, {"from": "client", "index": index, "do": "drop"})
        seen["released"] = read_lines(sock, 1)
        sock.sendall(b"stop\n")
        stopped(4)
        seen["no breakpoints"] = call("PUT", "/listeners/stop/breakpoints", [])[1]["breakpoints"]
        seen["let go"] = read_lines(sock, 1)
        connection = stopped(4)[0]
        seen["bad decision"] = call("POST", f"/listeners/stop/connections/{connection}/decide", {"from": "client", "index": 1, "do": "keep"})
        seen["bad breakpoint"] = call("PUT", "/listeners/stop/breakpoints", ["type =="])
    seen["stopped at once"] = sum(stopped_at_once(to) for _ in range(20))
    follow(one)
    seen["openapi"] = sorted(call("GET", "/openapi.json")[1]["paths"])

    seen["no token"] = call("GET", "/listeners", headers={"Authorization": ""})
    seen["wrong token"] = call("GET", "/listeners", headers={"Authorization": "Bearer " + "x" * len(token)})[0]
    seen["scheme in lower case"] = call("GET", "/listeners", headers={"Authorization": f"bearer {token}"})[0]
    seen["empty name"] = call("POST", "/listeners", {"to": to, "name": ""})
    seen["form"] = call("POST", "/listeners", raw=b"to=x", headers={"Content-Type": "application/x-www-form-urlencoded"})[0]
    seen["no json"] = call("POST", "/listeners", raw=b"{")
    seen["other host"] = call("GET", "/listeners", headers={"Host": "example.com:80"})[0]
    seen["unknown key"] = call("POST", "/listeners", {"to": to, "rule": []})
    seen["bad rule"] = call("POST", "/listeners", {"to": to, "format": "line", "rules": ["dealy: 2 ms"]})
    seen["no format"] = call("POST", "/listeners", {"to": to, "rules": ["drop: all"]})
    seen["bad format"] = call("POST", "/listeners", {"to": to, "format": "lin"})
    seen["bad condition"] = call("GET", "/listeners/listener-2/wait", query={"when": "type =="})
    seen["no condition"] = call("GET", "/listeners/listener-2/wait")
    seen["nowhere"] = call("GET", "/nowhere")[0]
    seen["gone"] = call("GET", "/listeners/one")
    seen["twice"] = call("POST", "/listeners", {"name": "listener-2", "to": to})[0]


listener = socket.create_server(("127.0.0.1", 0), backlog=64)
server = listener.getsockname()[1]
threading.Thread(target=serve, args=(listener,), daemon=True).start()
print("ready", flush=True)
control, token = sys.stdin.readline().split()
main()
print(json.dumps(seen), flush=True)
