"""A server that keeps what it gets and echoes it, and clients that send lines through the proxy, for the tests of rules.

Listens on a port of the system's choice and prints it; reads the proxy's port from standard input. Each further line of standard
input is what one client sends (`raw` and frames, or lines); for each, it prints what both ends got, as a JSON object.
"""

import errno
import json
import socket
import sys
import threading
import time

listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
proxy = int(sys.stdin.readline())


def end(error):
    """What an error says about the end of a connection: whoever writes notices a reset as one, or as what is left of it."""
    is_reset = isinstance(error, (ConnectionResetError, BrokenPipeError)) or error.errno == errno.ENOTCONN
    return "reset" if is_reset else str(error)


def serve(seen, done):
    connection, _ = listener.accept()
    connection.settimeout(20)
    try:
        while data := connection.recv(4096):
            seen["server got"] += data.decode()
            seen["server read"] += f"{len(data)} "
            # A receiver that is busy with what it has read.
            time.sleep(0.005 if "busy" in sys.argv else 0)
            connection.sendall(data)
        seen["server end"] = "fin"
    except OSError as error:
        seen["server end"] = end(error)
    connection.close()
    done.set()


for line in sys.stdin:
    seen, done = {"server got": "", "client got": "", "server read": ""}, threading.Event()
    threading.Thread(target=serve, args=(seen, done), daemon=True).start()
    client = socket.socket()
    client.settimeout(20)
    try:
        client.connect(("127.0.0.1", proxy))
        if line.startswith("raw "):
            # Frames with escapes. The first two pass in reads of their own: the next is sent once they have come back.
            sent = ""
            for number, piece in enumerate(line.strip()[4:].split("|")):
                frame = piece.encode().decode("unicode_escape")
                client.sendall(frame.encode())
                sent += frame
                while number < 2 and len(seen["client got"]) < len(sent):
                    data = client.recv(4096)
                    if not data:
                        raise OSError("the connection ended before a frame came back")
                    seen["client got"] += data.decode()
        else:
            client.sendall(line.strip().replace(";", "\n").encode() + b"\n")
        client.shutdown(socket.SHUT_WR)
        while data := client.recv(4096):
            seen["client got"] += data.decode()
        seen["client end"] = "fin"
    except OSError as error:
        seen["client end"] = end(error)
    client.close()
    done.wait(20)
    print(json.dumps(seen), flush=True)
