"""Where a conversation is held: two ends, the network between them, and the captures."""

import ctypes
import fcntl
import os
import re
import select
import socket
import struct
import subprocess
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

EVERY = 0.2  # as in pulse.yaml
BEAT, DATA, ANSWER = 1, 2, 3
ADDRESS = {"client": "10.7.1.2", "server": "10.7.2.2"}
SLACK = 0.1  # a client that wakes up so late has not done what it should have

libc = ctypes.CDLL(None, use_errno=True)


@contextmanager
def inside(namespace):
    """A socket that this thread makes belongs to a namespace."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    other = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    try:
        if libc.setns(other, 0) != 0:
            raise OSError(ctypes.get_errno(), f"cannot enter the namespace {namespace}")
        yield
    finally:
        libc.setns(home, 0)
        os.close(other)
        os.close(home)


class Overslept(Exception):
    """This machine was too busy."""


class Peer:
    """One end of a connection, which reads what comes unless it is told not to."""

    def __init__(self, connection):
        self.socket = connection
        self.sent = 0
        self.heard = time.monotonic()
        self.reads = threading.Event()
        self.reads.set()
        self.gone = threading.Event()
        self.reader = threading.Thread(target=self.read_on, daemon=True)
        self.reader.start()

    def read_on(self):
        while not self.gone.is_set():
            readable = self.reads.is_set() and select.select([self.socket], [], [], 0.02)[0]
            if not self.reads.is_set():
                time.sleep(0.02)
            elif readable and not self.read():
                return

    def read(self, size=65536):
        try:
            received = self.socket.recv(size)
        except ConnectionResetError:
            return b""
        self.heard = time.monotonic()
        return received

    def frame(self, kind, body=b""):
        self.sent += 1
        return struct.pack("!IBH", self.sent, kind, len(body)) + body

    def send(self, kind, body=b""):
        self.socket.sendall(self.frame(kind, body))

    def end(self):
        """Sends FIN."""
        self.socket.shutdown(socket.SHUT_WR)

    def leave(self, reset=False):
        """Gives the connection up, with RST if asked to."""
        self.gone.set()
        self.reader.join()
        if reset:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


class Tap:
    """tcpdump beside one side; started anew, it goes on in the same file."""

    def __init__(self, side, port, file):
        self.side, self.port, self.file, self.parts = side, port, file, []

    def start(self):
        part = Path(f"{self.file}.{len(self.parts)}")
        self.parts.append(part)
        # -Z root: tcpdump would otherwise give up the right to write here.
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", self.side, "tcpdump", "-i", "eth0", "-s", "0", "-B", "4096", "-Z", "root", "--immediate-mode",
             "-w", str(part), f"tcp port {self.port}"],
            stderr=subprocess.PIPE, text=True)
        line = ""
        while "listening on" not in line:
            line = self.process.stderr.readline()
            if not line:
                raise RuntimeError("tcpdump does not listen")

    def stop(self):
        self.process.terminate()
        said = self.process.communicate()[1]
        if not re.search(r"^0 packets dropped by kernel", said, re.M):
            raise RuntimeError(f"tcpdump lost packets: {said}")

    def join(self):
        recordings = [part.read_bytes() for part in self.parts]
        self.file.write_bytes(recordings[0] + b"".join(recording[24:] for recording in recordings[1:]))
        for part in self.parts:
            part.unlink()


class Detour:
    """The TUN device that marked packets go through: they wait here until nothing holds them up any more."""

    def __init__(self):
        self.tun = os.open("/dev/net/tun", os.O_RDWR)
        # TUNSETIFF; IFF_TUN | IFF_NO_PI
        fcntl.ioctl(self.tun, 0x400454CA, struct.pack("16sH22x", b"held", 0x1001))
        self.open = threading.Event()
        self.open.set()
        threading.Thread(target=self.forward, daemon=True).start()

    def forward(self):
        while packet := os.read(self.tun, 2048):
            self.open.wait()
            os.write(self.tun, packet)


class Stage:
    """Where a conversation is held: a port of its own, and a clock."""

    def __init__(self, port, files, detour, server_buffer=0, client_buffer=0):
        self.port, self.detour = port, detour
        self.server_buffer, self.client_buffer = server_buffer, client_buffer
        self.taps = [Tap(side, port, file) for side, file in files.items()]
        self.listener = self.client = self.server = None

    def listen(self):
        with inside("server"):
            self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if self.server_buffer:
            self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.server_buffer)
        self.listener.bind((ADDRESS["server"], self.port))
        self.listener.listen()

    def connect(self):
        if not self.listener:
            self.listen()
        with inside("client"):
            client = socket.socket()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # What cannot be sent yet waits here, and keeps no client from going on.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 18)
        if self.client_buffer:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.client_buffer)
        client.connect((ADDRESS["server"], self.port))
        server, _ = self.listener.accept()
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 18)
        self.client, self.server = Peer(client), Peer(server)
        self.due = time.monotonic()

    def wait(self, seconds):
        """Waits on a clock that runs on meanwhile."""
        self.due += seconds
        time.sleep(max(0, self.due - time.monotonic()))
        if time.monotonic() > self.due + SLACK:
            raise Overslept

    def beats(self, count=5):
        for _ in range(count):
            self.client.send(BEAT)
            self.wait(EVERY)

    def data(self, seconds, peer=None, body=b"something else"):
        for _ in range(round(seconds / EVERY)):
            (peer or self.client).send(DATA, body)
            self.wait(EVERY)

    @contextmanager
    def rule(self, chain, rule):
        said = subprocess.run(
            f"nft --echo --handle add rule inet blame {chain} {rule}", shell=True, check=True, capture_output=True,
            text=True).stdout
        yield
        handle = re.search(r"# handle (\d+)", said)[1]
        subprocess.run(["nft", "delete", "rule", "inet", "blame", chain, "handle", handle], check=True)

    def dropped(self, match="", of="client"):
        """The network loses the packets of one side that match."""
        return self.rule("forward", f"tcp {'dport' if of == 'client' else 'sport'} {self.port} {match} drop")

    def gone(self):
        """From now on the network loses all that the client of this connection sends."""
        source = self.client.socket.getsockname()[1]
        # Not left again: where the conversation is held is gone before this rule is.
        self.dropped(f"tcp sport {source}").__enter__()

    @contextmanager
    def held(self):
        """The network holds the client's packets up, and then passes all of them on."""
        self.detour.open.clear()
        with self.rule("detour", f"iifname != held tcp dport {self.port} meta mark set 1"):
            yield
            self.detour.open.set()
            # Until what was held is through; what comes now stands behind it in the queue.
            time.sleep(0.05)

    @contextmanager
    def unrecorded(self, seconds=0):
        """The capture misses so many seconds, and what tcpdump takes to start, in which the conversation goes on."""
        tap, = self.taps
        tap.stop()
        starts = threading.Timer(seconds, tap.start)
        starts.start()
        yield
        starts.join()

    def lost(self, frame):
        """The network loses the segments that begin with a frame of the client's, repeatedly."""
        return self.dropped(f"@ih,0,32 {frame}")

    def close(self):
        """The client closes the connection in order, and so does then the server; unless they did already."""
        for one, other in (self.client, self.server), (self.server, self.client):
            with suppress(OSError):
                one.end()
                other.reader.join(5)
        self.client.leave()
        self.server.leave()

    def over(self):
        if self.client:
            self.close()
        if self.listener:
            self.listener.close()
