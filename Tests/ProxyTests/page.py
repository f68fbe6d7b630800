"""A page's life beside a proxy: what it sees, what it may do, and who may not. Prints one line of JSON.

Reads the page's address and the proxy's port from standard input. The server is here.
"""
import base64, json, os, socket, sys, threading, time, urllib.error, urllib.parse, urllib.request

print("ready", flush=True)


def serve(connection):
    with connection, connection.makefile("rb") as lines:
        for line in lines:
            received.append(line.decode())
            connection.sendall(b"echo " + line)


received = []
listening = socket.create_server(("127.0.0.1", 0))
print("server %d" % listening.getsockname()[1], flush=True)


def accept():
    while True:
        connection, _ = listening.accept()
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


threading.Thread(target=accept, daemon=True).start()

address, proxy = sys.stdin.readline().split()
root = address.split("/?")[0]
host = urllib.parse.urlparse(root).netloc
port = int(host.rsplit(":", 1)[1])
seen = {}


def exchange(head, body=b""):
    """A request as it is; the status, the headers and what was read of the response."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(head.encode() + b"\r\n\r\n" + body)
        data = b""
        while b"\r\n\r\n" not in data:
            piece = connection.recv(65536)
            if not piece:
                break
            data += piece
    head = data.split(b"\r\n\r\n")[0].decode()
    return int(head.split()[1]), {line.split(":", 1)[0].lower(): line.split(":", 1)[1].strip() for line in head.split("\r\n")[1:]}


target = address[len(root):]
status, headers = exchange(f"GET {target} HTTP/1.1\r\nHost: {host}")
cookie = headers["set-cookie"].split(";")[0]
seen["welcome"] = [status, headers["location"], "HttpOnly; SameSite=Strict; Path=/" in headers["set-cookie"], cookie.startswith(f"frametap-{port}=")]
unfinished = socket.create_connection(("127.0.0.1", port), timeout=20)
unfinished.sendall(f"GET / HTTP/1.1\r\nHost: {host}\r\n".encode())
# Refused by its head: the body does not come.
seen["judged by its head"] = exchange(f"POST /api/v1/page/state HTTP/1.1\r\nHost: evil.example:{port}\r\nContent-Length: 4194304")[0]
seen["without cookie"] = [exchange(f"GET {path} HTTP/1.1\r\nHost: {host}")[0] for path in ["/", "/app.js", "/api/v1/page/state"]]
seen["wrong host"] = exchange(f"GET / HTTP/1.1\r\nHost: evil.example:{port}\r\nCookie: {cookie}")[0]
status, headers = exchange(f"GET / HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}")
seen["page"] = [status, headers["content-type"]]
seen["headers"] = {name: headers.get(name) for name in [
    "content-security-policy", "x-content-type-options", "referrer-policy", "cross-origin-opener-policy", "cross-origin-resource-policy", "cache-control"]}


def call(method, path, body=None, headers={}):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{root}/api/v1/page/{path}", data, {"Cookie": cookie, "Content-Type": "application/json", **headers}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=20) as response:
            text = response.read()
            return json.loads(text) if text else None
    except urllib.error.HTTPError as error:
        return [error.code, json.loads(error.read()).get("error")]


def news(headers):
    connection = socket.create_connection(("127.0.0.1", port), timeout=20)
    key = base64.b64encode(os.urandom(16)).decode()
    lines = [f"GET /api/v1/page/news HTTP/1.1", f"Host: {host}", "Connection: Upgrade", "Upgrade: websocket",
             "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}"] + headers
    connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
    file = connection.makefile("rb")
    status = int(file.readline().split()[1])
    while file.readline().strip():
        pass
    return status, connection, file


def message(file):
    first, length = file.read(2)
    if length == 126:
        length = int.from_bytes(file.read(2), "big")
    text = file.read(length)
    return json.loads(text) if first & 15 == 1 else None


own = [f"Cookie: {cookie}", f"Origin: {root}"]
seen["foreign sockets"] = [news(headers)[0] for headers in [
    [f"Origin: {root}"], [f"Cookie: {cookie}", "Origin: http://evil.example"], own + ["Sec-Fetch-Site: cross-site"]]]
status, _, heard = news(own)
seen["socket"] = status
first = message(heard)


def until(condition):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    return None


client = socket.create_connection(("127.0.0.1", int(proxy)), timeout=20)
answers = client.makefile("rb")


def say(text):
    client.sendall(text.encode() + b"\n")


say("hello")
seen["answer"] = answers.readline().decode()
while True:
    heard_now = message(heard)
    if heard_now and heard_now["frames"] >= 2:
        break
seen["news"] = [first["frames"], heard_now["frames"], heard_now["connections"]]
rows = until(lambda: (lambda rows: rows if len(rows) == 2 else None)(call("GET", "frames")["rows"]))
seen["rows"] = [[row["from"], row["preview"]] for row in rows]
state = call("GET", "state")
seen["state"] = state["actions"]
seen["complaints"] = state["complaints"]

# Breakpoints, on a connection that is open.
listener = call("GET", "listeners")["listeners"][0]
name = urllib.parse.quote(listener["name"], safe="")
seen["listener"] = [listener["listen"] == f"127.0.0.1:{proxy}", len(listener["rules"]), len(listener["breakpoints"])]
json_type = {"Content-Type": "text/plain"}
seen["not json"] = call("PUT", f"listeners/{name}/breakpoints", [], json_type)[0]
seen["foreign"] = call("PUT", f"listeners/{name}/breakpoints", [], {"Origin": "http://evil.example"})[0]
seen["bad condition"] = call("PUT", f"listeners/{name}/breakpoints", ["type =="])[0]
call("PUT", f"listeners/{name}/breakpoints", ['from == client and body.text contains "stop"'])
seen["switched"] = call("GET", "state")["switches"] != state["switches"]
# Where the format has to be recognised, frames are stopped from then on: those before pass.
for _ in range(20):
    passed = received.count("stop me\n")
    say("stop me")
    held = until(lambda: call("GET", "held")["held"] or received.count("stop me\n") > passed)
    if held is not True:
        break
    answers.readline()
# Its line may come a moment later.
held = until(lambda: next((frame for frame in call("GET", "held")["held"] if frame["line"]), None))
seen["held"] = [held["listener"] == listener["name"], held["from"], held["line"]["body"]["text"]]
seen["deadline"] = held["deadline"].endswith("Z")
path = f"listeners/{name}/connections/{held['connection']}/decide"
decision = {"from": "client", "index": held["index"]}
seen["not encoded"] = call("POST", path, decision | {"do": "replace", "fields": {"none": 1}})
seen["other index"] = call("POST", path, decision | {"do": "drop", "index": held["index"] + 1})
seen["still held"] = len(call("GET", "held")["held"])
seen["not passed"] = received.count("stop me\n") == passed
call("POST", f"listeners/{name}/connections/{held['connection']}/decide", {"from": "client", "index": held["index"], "do": "replace", "body": {"text": "changed"}})
seen["changed"] = answers.readline().decode()
seen["decided twice"] = call("POST", path, decision | {"do": "release"})
seen["server got"] = received[-1]
seen["nothing held"] = until(lambda: call("GET", "held")["held"] == [])
call("POST", f"listeners/{name}/connections/{held['connection']}/frames", {"from": "client", "body": {"text": "injected"}})
seen["injected"] = answers.readline().decode()
seen["actions"] = until(lambda: (lambda rows: [row["action"] for row in rows] if len(rows) >= 3 else None)(call("GET", "frames?kinds=action")["rows"]))
call("PUT", f"listeners/{name}/breakpoints", [])
# Rules are for connections that open from then on.
call("PUT", f"listeners/{name}/rules", ['drop: body.text == "lost"; from: client'])
seen["rules"] = call("GET", "listeners")["listeners"][0]["rules"]
with socket.create_connection(("127.0.0.1", int(proxy)), timeout=20) as second:
    second.sendall(b"lost\nfound\n")
    seen["dropped"] = second.makefile("rb").readline().decode()
call("PUT", f"listeners/{name}/rules", [])
seen["opens none"] = call("POST", "listeners", {"to": "127.0.0.1:1"})[0]

# Ten pages at once.
pages = [news(own) for _ in range(10)]
counts = []


def listen(file):
    while True:
        told = message(file)
        if told and told["frames"] >= 400:
            counts.append(told["frames"])
            return


listeners = [threading.Thread(target=listen, args=(page[2],)) for page in pages]
for thread in listeners:
    thread.start()
for number in range(200):
    say(f"line {number}")
    answers.readline()
started = time.monotonic()
for thread in listeners:
    thread.join(20)
seen["ten pages"] = [len(counts), min(counts, default=0) >= 400]
seen["late"] = time.monotonic() - started
told = message(heard)
while (again := message(heard)) != told:
    told = again
seen["quiet"] = True
saved = urllib.request.urlopen(urllib.request.Request(f"{root}/api/v1/page/save?as=capture", headers={"Cookie": cookie}), timeout=20).read()
seen["capture"] = saved[:4].hex()
_, headers = exchange(f"GET /api/v1/page/save?as=trace HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}")
seen["save closes"] = headers["connection"]
with socket.create_connection(("127.0.0.1", port), timeout=20) as asked:
    asked.sendall(f"HEAD /api/v1/page/save?as=trace HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n".encode())
    head, _, rest = asked.makefile("rb").read().partition(b"\r\n\r\n")
    seen["head alone"] = head.startswith(b"HTTP/1.1 200 ") and rest == b""


# A request that does not become complete ends; and there are only so many connections.
seen["unfinished ends"] = unfinished.recv(1) == b""
crowd = []


def joins():
    try:
        crowd.append(news(own))
        return True
    except (IndexError, OSError):
        return False


seen["limit"] = 64 <= sum([joins() for _ in range(140)]) < 128
say("still relayed")
seen["still relayed"] = answers.readline().decode()
client.close()
print(json.dumps(seen), flush=True)
