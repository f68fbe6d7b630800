#!/usr/bin/env python3
"""A client and a server of this machine that do as they are told, one command a line.

Prints the server's port, then does:  connect PORT · send TEXT · repeat COUNT TEXT · close
After each it prints a line once everything has arrived: `connected`, `arrived BYTES` (in all), `closed`.
"""
import socket
import sys

listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(16)
print(listener.getsockname()[1], flush=True)
client = server = None
arrived = 0


def send(data):
    """Both ends in one thread: what is sent is read as it comes, so that no buffer fills up."""
    global arrived
    for start in range(0, len(data), 4096):
        piece = data[start:start + 4096]
        client.sendall(piece)
        left = len(piece)
        while left:
            got = len(server.recv(left))
            if not got:
                sys.exit("the server's connection was closed")
            left -= got
            arrived += got
    print(f"arrived {arrived}", flush=True)


for line in sys.stdin:
    command, _, rest = line.rstrip("\n").partition(" ")
    if command == "connect":
        client = socket.create_connection(("127.0.0.1", int(rest)), timeout=40)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        server, _ = listener.accept()
        server.settimeout(40)
        print("connected", flush=True)
    elif command == "send":
        send((rest + "\n").encode())
    elif command == "repeat":
        count, _, text = rest.partition(" ")
        send((text + "\n").encode() * int(count))
    elif command == "close":
        client.close()
        server.close()
        print("closed", flush=True)
