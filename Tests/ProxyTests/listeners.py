"""Clients that come in by the proxy's other listeners, and a server that returns what it gets.

Prints the server's port; reads the proxy's port from standard input; plays the scenario of its argument; prints what was
seen as one JSON object.
"""

import json
import random
import socket
import struct
import sys
import threading
import time

PATIENCE = 20
seen = {"seed": random.SystemRandom().randrange(1 << 32)}
random.seed(seen["seed"])


def serve(sock):
    """Returns what it gets, and what it got at first is kept."""
    while True:
        try:
            connection, _ = sock.accept()
        except OSError:
            return
        threading.Thread(target=echo, args=(connection,), daemon=True).start()


def echo(connection):
    try:
        while data := connection.recv(1 << 16):
            seen.setdefault("server got", data.hex())
            connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    connection.close()


def connect():
    sock = socket.create_connection(("127.0.0.1", proxy), PATIENCE)
    sock.settimeout(PATIENCE)
    return sock


def read(sock, count=1 << 20):
    """Reads so many bytes, or to the end; says how that came where it did."""
    got = bytearray()
    try:
        while len(got) < count and (data := sock.recv(count - len(got))):
            got += data
        return bytes(got), "more" if len(got) == count else "fin"
    except ConnectionResetError:
        return bytes(got), "reset"


def send_cut(sock, data):
    """Sends in pieces, each of which is read alone."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while data:
        count = random.randint(1, 5)
        sock.sendall(data[:count])
        data = data[count:]
        time.sleep(0.002)


ADDRESSES = {
    "ipv4": lambda port: b"\x01\x7f\0\0\1" + struct.pack(">H", port),
    "ipv6": lambda port: b"\x04" + bytes(10) + b"\xff\xff\x7f\0\0\1" + struct.pack(">H", port),
    "domain": lambda port: b"\x03\x09localhost" + struct.pack(">H", port),
}


def socks():
    """A client that does not wait for answers: greeting, request and first bytes come in one piece, or in many."""
    for name, address in ADDRESSES.items():
        for cut in [False, True]:
            message = b"\5\2\0\2" + b"\5\1\0" + address(server) + b"early bytes"
            with connect() as sock:
                send_cut(sock, message) if cut else sock.sendall(message)
                sock.shutdown(socket.SHUT_WR)
                answers = read(sock, 6)[0]
                read(sock, 18 if answers[5] == 4 else 6)
                seen[f"{name} {cut}"] = answers[:2].hex() + " " + answers[2:5].hex()
                seen[f"{name} {cut} echo"] = read(sock)[0].decode()


def socks_codes():
    """What cannot be done is answered by its code."""
    closed = socket.socket()
    closed.bind(("127.0.0.1", 0))
    requests = {
        "refused": b"\5\1\0" + ADDRESSES["ipv4"](closed.getsockname()[1]),
        "own": b"\5\1\0" + ADDRESSES["ipv4"](proxy),
        "own by name": b"\5\1\0" + ADDRESSES["domain"](proxy),
        "own mapped": b"\5\1\0" + ADDRESSES["ipv6"](proxy),
        "own unspecified": b"\5\1\0\1\0\0\0\0" + struct.pack(">H", proxy),
        "unknown": b"\5\1\0\3\x0fnowhere.invalid\0\x50",
        "bind": b"\5\2\0" + ADDRESSES["ipv4"](server),
        "udp": b"\5\3\0" + ADDRESSES["ipv4"](server),
        "type": b"\5\1\0\x07\0\0\0\0\0\0",
    }
    for name, request in requests.items():
        with connect() as sock:
            sock.sendall(b"\5\1\0" + request + b"bytes that nobody reads")
            got, end = read(sock)
            seen[name] = f"{got[3] if len(got) > 3 else 'none'} {end} {len(got)}"
    with connect() as sock:
        sock.sendall(b"\5\1\2")
        seen["password"] = read(sock)[0].hex()
    with connect() as sock:
        sock.sendall(b"GET / HTTP/1.1\r\n\r\n")
        seen["http"] = read(sock)[1]
    with connect() as sock:
        sock.sendall(b"\5\1")
        sock.shutdown(socket.SHUT_WR)
        seen["gone"] = read(sock)[1]


def header():
    """Headers of the PROXY protocol in front of the stream; those that are wrong end the connection."""
    v2 = b"\r\n\r\n\0\r\nQUIT\n"
    headers = {
        "v1": b"PROXY TCP4 192.0.2.1 192.0.2.2 1234 80\r\n",
        "v1 unknown": b"PROXY UNKNOWN\r\n",
        "v2": v2 + b"\x21\x21\0\x24" + bytes(15) + b"\1" + bytes(15) + b"\2" + struct.pack(">HH", 4321, 80),
        "v2 local": v2 + b"\x20\0\0\0",
        "none": b"no header at all",
        "long": b"PROXY " + b"x" * 200,
    }
    for name, head in headers.items():
        with connect() as sock:
            message = head + f"bytes of {name}".encode()
            try:
                send_cut(sock, message) if name in ["v1", "v2"] else sock.sendall(message)
                sock.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            got, end = read(sock)
            seen[name] = f"{got.decode()} {end}"


def plain():
    """One client says something and gets it back."""
    try:
        with connect() as sock:
            seen["client"] = sock.getsockname()[1]
            sock.sendall(b"hello")
            sock.shutdown(socket.SHUT_WR)
            got, end = read(sock)
    except OSError:  # reset before all was said, or as soon as it was connected
        got, end = b"", "reset"
    seen["got"] = f"{got.hex()} {end}"


def crowd():
    """Three clients where two may be."""
    two = [connect() for _ in range(2)]
    for sock in two:
        sock.sendall(b"hello")
        read(sock, 5)

    def another():
        """How a client fares that says hello; a refused one may be reset before connecting has returned."""
        try:
            with connect() as sock:
                sock.sendall(b"hello")
                return read(sock, 5)[1]
        except OSError:
            return "reset"

    seen["third"] = another()
    two[0].close()
    for _ in range(200):
        seen["fourth"] = another()
        if seen["fourth"] == "more":
            break
        time.sleep(0.01)
    for sock in two:
        sock.close()


def idle():
    """A client that says something and then nothing."""
    with connect() as sock:
        sock.sendall(b"hello")
        read(sock, 5)
        seen["end"] = read(sock)[1]


def greeting():
    """A client that waits for the server to speak."""
    with connect() as sock:
        seen["greeting"] = sock.recv(1 << 16).hex()


def talk():
    """Echoes until it is told to stop, and says so after each."""
    with connect() as sock:
        sock.sendall(b"hello")
        read(sock, 5)
        print("open", flush=True)
        sys.stdin.readline()
        sock.sendall(b"again")
        seen["got"] = read(sock, 5)[0].decode()
        sock.shutdown(socket.SHUT_WR)
        seen["end"] = read(sock)[1]


def pour():
    """Much in small pieces, all of which is to come back whatever happens to the records."""
    with connect() as sock:
        data = random.randbytes(1 << 20)
        thread = threading.Thread(target=lambda: (sock.sendall(data), sock.shutdown(socket.SHUT_WR)))
        thread.start()
        got, end = read(sock, 1 << 21)
        thread.join()
        seen["right"] = got == data
        seen["end"] = end


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(64)
server = listener.getsockname()[1]
threading.Thread(target=serve, args=(listener,), daemon=True).start()
print(server, flush=True)
proxy = int(sys.stdin.readline())
{
    "socks": socks, "socks-codes": socks_codes, "header": header, "plain": plain, "crowd": crowd, "idle": idle,
    "talk": talk, "pour": pour, "greeting": greeting,
}[sys.argv[1]]()
print(json.dumps(seen), flush=True)
