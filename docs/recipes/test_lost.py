# Needs CONTROL (http://host:port) and TOKEN of a proxy with --control and --format line, and SERVER (host:port), which must return each line.
import json, os, socket, urllib.parse, urllib.request

def call(method, path, body=None):
    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{os.environ['CONTROL']}/api/v1{path}", data, headers, method=method)
    return json.loads(urllib.request.urlopen(request).read() or "null")

def test_a_lost_line_is_missed():
    rules = ['drop: body.text == "two"; once: true']
    proxy = call("POST", "/listeners", {"name": "py", "to": os.environ["SERVER"], "format": "line", "rules": rules})
    host, port = proxy["listen"].split(":")
    with socket.create_connection((host, int(port)), 10) as client:
        client.sendall(b"one\ntwo\nthree\n")
        when = urllib.parse.quote('from == "server" and body.text == "three"')
        assert call("GET", f"/listeners/py/wait?when={when}")["events"][0]["index"] == 1
    call("DELETE", "/listeners/py")
