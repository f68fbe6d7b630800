"""The two ends of a proxied connection, for the tests.

Listens on a port of the system's choice and prints it; reads the proxy's port from standard input; plays the
scenario of its argument with a real client and a real server; prints what both saw as one JSON object.
"""

import hashlib
import json
import random
import socket
import struct
import sys
import threading
import time

PATIENCE = 30
seen = {"seed": random.SystemRandom().randrange(1 << 32)}
random.seed(seen["seed"])


def digest(data):
    return hashlib.sha256(data).hexdigest()


def send_cut(sock, data, name):
    """Sends in pieces of random sizes."""
    seen[name + " sent"] = digest(data)
    dice = random.Random(seen["seed"])
    at = 0
    while at < len(data):
        size = dice.choice([1, 7, 100, 1500, 40_000, 200_000])
        sock.sendall(data[at : at + size])
        at += size


def read_all(sock, name):
    """Reads to the end, and says how that came."""
    got = bytearray()
    try:
        while chunk := sock.recv(1 << 16):
            got += chunk
        seen[name + " end"] = "fin"
    except ConnectionResetError:
        seen[name + " end"] = "reset"
    seen[name + " got"] = digest(got)
    seen[name + " count"] = len(got)
    return bytes(got)


def reset(sock):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def both(client_part, server_part):
    """Runs both sides at once, each with its socket."""

    def serve():
        connection, _ = listener.accept()
        connection.settimeout(PATIENCE)
        server_part(connection)

    thread = threading.Thread(target=serve)
    thread.start()
    client_part(connect())
    thread.join()


def connect():
    sock = socket.create_connection(("127.0.0.1", proxy), PATIENCE)
    sock.settimeout(PATIENCE)
    return sock


def exchange():
    """Three megabytes each way at once."""

    def side(name):
        def run(sock):
            reader = threading.Thread(target=read_all, args=(sock, name))
            reader.start()
            send_cut(sock, random.randbytes(3 << 20), name)
            sock.shutdown(socket.SHUT_WR)
            reader.join()
            sock.close()

        return run

    both(side("client"), side("server"))


def half_close(first, second):
    """One side sends and finishes; only then the other one sends."""

    def early(sock):
        send_cut(sock, random.randbytes(1 << 20), first)
        sock.shutdown(socket.SHUT_WR)
        read_all(sock, first)
        sock.close()

    def late(sock):
        read_all(sock, second)
        send_cut(sock, random.randbytes(1 << 20), second)
        sock.close()

    both(*([early, late] if first == "client" else [late, early]))


def resets(first, after_fin=False):
    """One side resets; `after_fin`: the other one has finished before."""

    def resetter(sock):
        sock.sendall(b"before the reset")
        if after_fin:
            read_all(sock, "resetting")
        else:
            sock.recv(100)
        reset(sock)

    def other(sock):
        sock.sendall(b"so far")
        if after_fin:
            sock.shutdown(socket.SHUT_WR)
        read_all(sock, "other")
        sock.close()

    both(*([resetter, other] if first == "client" else [other, resetter]))


def slow_reader():
    """The client wants to send 64 MiB; the server reads nothing until the client is stuck."""
    total = 64 << 20
    stuck = threading.Event()
    data = random.randbytes(1 << 20)

    def client(sock):
        sock.settimeout(1.5)
        sent = 0
        try:
            while sent < total:
                sent += sock.send(data[sent % len(data) :])
        except TimeoutError:
            pass
        seen["accepted while stuck"] = sent
        print("stuck", flush=True)
        sys.stdin.readline()
        stuck.set()
        sock.settimeout(PATIENCE)
        while sent < total:
            sent += sock.send(data[sent % len(data) : len(data) - max(0, sent + len(data) - total)])
        sock.shutdown(socket.SHUT_WR)
        read_all(sock, "client")

    def server(sock):
        stuck.wait(PATIENCE)
        count, right = 0, True
        while chunk := sock.recv(1 << 20):
            at = count % len(data)
            right &= (data[at:] + data)[: len(chunk)] == chunk
            count += len(chunk)
        seen["server count"], seen["server right"] = count, right
        sock.close()

    both(client, server)


def trickle():
    """The client sends small pieces as fast as it can, until the proxy's buffers are full; the server reads even smaller ones."""
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    data = random.randbytes(12 << 20)
    dice = random.Random(seen["seed"])

    def client(sock):
        seen["client sent"] = digest(data)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sent = 0
        while sent < len(data):
            sent += sock.send(data[sent : sent + dice.randrange(1, 3000)])
        sock.shutdown(socket.SHUT_WR)
        read_all(sock, "client")
        sock.close()

    def server(sock):
        got = bytearray()
        while chunk := sock.recv(random.randrange(1, 4000)):
            got += chunk
            if len(got) % 16 == 0:
                time.sleep(0.0005)
        seen["server got"] = digest(got)
        sock.close()

    both(client, server)


def stalled():
    """The server stops reading while the client sends lines, with a heartbeat before and after them: what the client sends
    has to wait for two seconds."""
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    stuck = threading.Event()
    line = b"x" * 999 + b"\n"

    def beats(sock):
        for _ in range(4):
            sock.sendall(b"beat\n")
            time.sleep(0.1)

    def client(sock):
        beats(sock)
        sock.settimeout(0.5)
        rest, sent = b"", 0
        try:
            while sent < 64 << 20:
                rest = rest or line
                count = sock.send(rest)
                rest, sent = rest[count:], sent + count
        except TimeoutError:
            stuck.set()
        sock.settimeout(PATIENCE)
        sock.sendall(rest)
        beats(sock)
        sock.shutdown(socket.SHUT_WR)
        read_all(sock, "client")

    def server(sock):
        stuck.wait(PATIENCE)
        time.sleep(2)
        read_all(sock, "server")
        sock.close()

    both(client, server)


def refused():
    """Nobody listens, or takes the connection."""
    try:
        read_all(connect(), "client")
    except ConnectionResetError:  # before connecting had returned
        seen["client end"] = "reset"


def early_close():
    """The client has said everything and is gone before the server is connected: its queue is full until then."""
    waiting = [socket.socket() for _ in range(2)]
    for sock in waiting:
        sock.setblocking(False)
        sock.connect_ex(listener.getsockname())
    client = connect()
    client.sendall(b"early")
    while not is_knocked_at(besides={sock.getsockname()[1] for sock in waiting}):  # until the proxy has accepted, and knocks too
        time.sleep(0.005)
    if how == "reset":
        reset(client)
    else:
        client.close()
    for sock in waiting:
        sock.close()
    listener.settimeout(PATIENCE)
    while True:
        connection, _ = listener.accept()
        connection.settimeout(PATIENCE)
        if read_all(connection, "server") or seen["server end"] == "reset":
            break
    connection.close()


def no_answer():
    """The server's queue is full, and stays so."""
    waiting = [socket.socket() for _ in range(2)]
    for sock in waiting:
        sock.setblocking(False)
        sock.connect_ex(listener.getsockname())
    refused()


def is_knocked_at(besides):
    """Whether a socket of this machine, with another port than those, has sent the server a SYN that is not answered."""
    with open("/proc/net/tcp") as table:
        entries = [line.split()[1:4] for line in table][1:]
    knocks = {int(local.split(":")[1], 16) for local, remote, state in entries if state == "02" and is_server(remote)}
    return bool(knocks - besides)


def is_server(address):
    return int(address.split(":")[1], 16) == listener.getsockname()[1]


def silent():
    """Connects and waits to be closed."""

    def server(sock):
        sock.sendall(b"there")
        read_all(sock, "server")
        sock.close()

    def client(sock):
        sock.recv(5)
        sock.sendall(b"{\"size\":\"5\"}\r\nHel")
        print("open", flush=True)
        read_all(sock, "client")
        sock.close()

    both(client, server)


def conversations():
    """Many connections at once, whose bytes are in files; each side ends in its own way."""
    folder, count = how, int(sys.argv[3])

    def side(name, number, sock):
        dice = random.Random(f"{seen['seed']} {name} {number}")
        with open(f"{folder}/{number}-{name}", "rb") as file:
            data = file.read()
        ending = dice.choice(["fin", "fin", "fin", "late fin", "reset", "early reset"])
        if ending == "early reset":
            data = data[: dice.randrange(len(data))]
        try:
            if ending == "late fin":
                read_all(sock, f"{name} {number}")
            at = 0
            while at < len(data):
                size = dice.choice([1, 3, 80, 95, 500, 1500, 9_000, 100_000])
                sock.sendall(data[at : at + size])
                at += size
                if dice.random() < 0.1:
                    time.sleep(dice.random() / 100)
            if "reset" in ending:
                return reset(sock)
            sock.shutdown(socket.SHUT_WR)
            if ending == "fin":
                read_all(sock, f"{name} {number}")
            sock.close()
        except OSError as error:  # the other side has reset
            seen[f"{name} {number} end"] = str(error)
            sock.close()

    def clients():
        for number in range(count):
            try:
                yield "client", number, connect()
            except ConnectionResetError:  # by a server that resets at once, before connecting had returned
                seen[f"client {number} end"] = "reset"

    def servers():
        for number in range(count):
            connection, _ = listener.accept()
            connection.settimeout(PATIENCE)
            yield "server", number, connection

    threads = []

    def start(sides):
        for one in sides:
            threads.append(threading.Thread(target=side, args=one))
            threads[-1].start()

    accepting = threading.Thread(target=start, args=(servers(),))
    accepting.start()
    start(clients())
    accepting.join()
    for thread in threads:
        thread.join()


how = sys.argv[2] if len(sys.argv) > 2 else ""
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.settimeout(PATIENCE)
if sys.argv[1] != "refused":  # a port that is bound, and where nobody listens, stays so
    listener.listen(0 if sys.argv[1] in ["early-close", "no-answer"] else 16)
print(listener.getsockname()[1], flush=True)
proxy = int(sys.stdin.readline())
{
    "exchange": exchange,
    "half-close": lambda: half_close(how, "server" if how == "client" else "client"),
    "reset": lambda: resets(how),
    "reset-after-fin": lambda: resets(how, after_fin=True),
    "slow-reader": slow_reader,
    "stalled": stalled,
    "trickle": trickle,
    "refused": refused,
    "early-close": early_close,
    "no-answer": no_answer,
    "silent": silent,
    "conversations": conversations,
}[sys.argv[1]]()
print(json.dumps(seen), flush=True)
