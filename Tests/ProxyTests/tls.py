"""Both ends of a TLS connection through the proxy, for the tests: real OpenSSL, by Python's ssl module.

Arguments: a scenario, and a folder with ca.crt (the server's authority), server.crt, server.key, and proxy.pem (the proxy's
authority). Listens on a port of the system's choice and prints it; reads the proxy's port from standard input; prints what both
ends saw as one JSON object.
"""

import json
import os
import socket
import ssl
import struct
import sys
import threading
import time

PATIENCE = 20
scenario, folder = sys.argv[1:3]
options = set(sys.argv[3:])
seen = {}

VERSIONS = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}


def server_context():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{folder}/server.crt", f"{folder}/server.key")
    if "no-alpn" not in options:
        context.set_alpn_protocols(["two", "one"])
    if "client-cert" in options:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(f"{folder}/ca.crt")
    for version in VERSIONS:
        if f"server-{version}" in options:
            context.maximum_version = VERSIONS[version]
    return context


def client_context():
    context = ssl.create_default_context(cafile=f"{folder}/{'ca.crt' if 'own-ca' in options else 'proxy.pem'}")
    context.set_alpn_protocols(["one", "two"])
    if "has-cert" in options:
        context.load_cert_chain(f"{folder}/server.crt", f"{folder}/server.key")
    for version in VERSIONS:
        if version in options:
            context.minimum_version = context.maximum_version = VERSIONS[version]
    return context


def read_line(sock):
    got = b""
    while not got.endswith(b"\n"):
        data = sock.recv(4096)
        if not data:
            break
        got += data
    return got


def end(sock):
    """How the other end's stream ends: with a close_notify (clean), a FIN alone (truncated), or a reset."""
    try:
        # OpenSSL reports a reset as an end of file.
        with socket.socket(fileno=os.dup(sock.fileno())) as raw:
            raw.settimeout(PATIENCE)
            raw.recv(1, socket.MSG_PEEK)
        data = sock.recv(4096)
        return "clean" if data == b"" else "more"
    except ssl.SSLEOFError:
        return "truncated"
    except ConnectionResetError:
        return "reset"
    except ssl.SSLError as error:
        return "truncated" if "EOF" in str(error) else error.reason or str(error)


def finish(sock):
    """Ends the connection as the scenario says."""
    how = next((word[4:] for word in options if word.startswith("end-")), "clean")
    if how == "clean":
        try:
            sock.unwrap()
        except (OSError, ValueError):
            pass
    elif how == "reset":
        return reset(sock)
    sock.close()


def serve_all(listener):
    """Serves any number of clients, most of which are gone soon."""
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=talk, args=(connection,), daemon=True).start()


def serve(listener):
    talk(listener.accept()[0])


def talk(connection):
    connection.settimeout(PATIENCE)
    if scenario in ("greeting", "starttls", "injected"):
        connection.sendall(b"220 hello\n")
    if scenario in ("starttls", "injected"):
        seen["server was asked"] = read_line(connection).decode()
        connection.sendall(b"220 go\n")
    if scenario in ("greeting", "plain", "to-plain"):
        seen["server got"] = read_line(connection).decode()
        connection.sendall(b"answer\n")
        connection.close()
        return
    try:
        with server_context().wrap_socket(connection, server_side=True, suppress_ragged_eofs=False) as sock:
            seen["server version"], seen["server alpn"] = sock.version(), sock.selected_alpn_protocol()
            seen["server got"] = read_line(sock).decode()
            sock.sendall(b"answer\n")
            if "server-ends" in options:
                # The client has the answer.
                read_line(sock)
                finish(sock)
            else:
                seen["server end"] = end(sock)
                sock.close()
    except (ssl.SSLError, OSError) as error:
        seen["server error"] = getattr(error, "reason", None) or str(error)


def vector(data, width):
    return len(data).to_bytes(width, "big") + data


def hello(name, protocols):
    """A ClientHello in a record (RFC 8446 section 4.1.2), whatever its name and protocols are."""
    extensions = b"\0\0" + vector(vector(b"\0" + vector(name, 2), 2), 2)
    extensions += b"\0\x10" + vector(vector(b"".join(vector(one, 1) for one in protocols), 2), 2)
    extensions += b"\0\x2b" + vector(vector(b"\3\4\3\3", 1), 2)
    body = b"\3\3" + bytes(32) + b"\0" + vector(b"\x13\1\xc0\x2f", 2) + b"\1\0" + vector(extensions, 2)
    return b"\x16\3\1" + vector(b"\1" + vector(body, 3), 2)


def hostile():
    """Hellos that no program sends, and ends at any moment."""
    names = [b"localhost", b"", b"\xff.example", b"a" * 300, b"*.x", b"..", b"127.0.0.1", b"\0"]
    for protocols in ([b"\xff\xfe"], [b"\xc3\xa9", b"h2"], [b"\xff" * 255], [b"two", b""]):
        for name in names:
            for cut in (None, 5, 40, -1):
                sock = socket.create_connection(("127.0.0.1", proxy), PATIENCE)
                sock.sendall(hello(name, protocols)[:cut])
                sock.settimeout(0.05)
                try:
                    sock.recv(100)
                except OSError:
                    pass
                if cut is None:
                    reset(sock)
                else:
                    sock.close()


def reset(sock):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def trickle(source, sink):
    """Passes bytes on, each in a segment of its own."""
    try:
        while data := source.recv(4096):
            for byte in data:
                sink.sendall(bytes([byte]))
                time.sleep(0.0002)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        sink.close()


def trickling(port):
    """A port whose connections are passed on to another port byte by byte, in both directions."""
    entrance = socket.create_server(("127.0.0.1", 0))

    def accept():
        near, _ = entrance.accept()
        far = socket.create_connection(("127.0.0.1", port))
        for sock in (near, far):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=trickle, args=(near, far), daemon=True).start()
        threading.Thread(target=trickle, args=(far, near), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return entrance.getsockname()[1]


listener = socket.create_server(("127.0.0.1", 0))
port = listener.getsockname()[1]
if "unix" in options:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{folder}/out.sock")
    listener.listen()
print(trickling(port) if "cut" in options else port, flush=True)
proxy = int(sys.stdin.readline())
if "cut" in options:
    proxy = trickling(proxy)
thread = threading.Thread(target=serve_all if scenario == "hostile" else serve, args=(listener,), daemon=True)
thread.start()

if scenario == "hostile":
    hostile()
if "unix" in options:
    client = socket.socket(socket.AF_UNIX)
    client.connect(f"{folder}/in.sock")
else:
    client = socket.create_connection(("127.0.0.1", proxy), PATIENCE)
client.settimeout(PATIENCE)
if "header" in options:
    client.sendall(b"PROXY TCP4 192.0.2.1 192.0.2.2 1234 443\r\n")
if "socks" in options:
    client.sendall(b"\5\1\0" + b"\5\1\0\3" + vector(b"localhost", 1) + port.to_bytes(2, "big"))
    if client.recv(2, socket.MSG_WAITALL) + client.recv(10, socket.MSG_WAITALL)[:2] != b"\5\0\5\0":
        sys.exit("SOCKS failed")
try:
    if scenario in ("starttls", "injected"):
        seen["greeting"] = read_line(client).decode()
        client.sendall(b"STARTTLS\n" + (b"injected\n" if scenario == "injected" else b""))
        seen["answer"] = read_line(client).decode()
    if scenario in ("greeting", "plain", "from-plain"):
        if scenario == "greeting":
            seen["greeting"] = read_line(client).decode()
        client.sendall(b"question\n")
        seen["client got"] = read_line(client).decode()
        client.close()
    else:
        name = next((word[5:] for word in options if word.startswith("name-")), "chat.example.com")
        sock = client_context().wrap_socket(client, server_hostname=name, suppress_ragged_eofs=False)
        seen["client version"], seen["client alpn"] = sock.version(), sock.selected_alpn_protocol()
        seen["names"] = " ".join(name for _, name in sock.getpeercert()["subjectAltName"])
        seen["issuer"] = sock.getpeercert()["issuer"][-1][0][1]
        sock.sendall(b"question\n")
        seen["client got"] = read_line(sock).decode()
        if "garbage" in options:
            with socket.socket(fileno=sock.detach()) as raw:
                raw.settimeout(PATIENCE)
                raw.sendall(b"no record, but text\n" * 3)
                while raw.recv(4096):
                    pass
        elif "server-ends" in options:
            sock.sendall(b"thanks\n")
            seen["client end"] = end(sock)
            sock.close()
        else:
            finish(sock)
except (ssl.SSLError, OSError) as error:
    seen["client error"] = getattr(error, "reason", None) or str(error)
    client.close()
thread.join(0.5 if "server got" in seen and thread.is_alive() and sys.argv[1] == "hostile" else PATIENCE)
print(json.dumps(seen))
