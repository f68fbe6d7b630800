"""A sensor reports to its server, in a protocol that somebody made up; docs/walk-through.md finds out what it is."""

import json
import socket
import threading
import time

SENSOR = 0x0102


def frame(kind, body=b""):
    return (3 + len(body)).to_bytes(2, "little") + bytes([kind]) + SENSOR.to_bytes(2, "little") + body


def server(listener):
    connection, _ = listener.accept()
    held = b""
    while received := connection.recv(4096):
        held += received
        while len(held) >= 2 and len(held) >= (size := 2 + int.from_bytes(held[:2], "little")):
            kind, held = held[2], held[size:]
            if kind in (1, 2):
                connection.sendall(frame(3))
    connection.close()


def reading(degrees):
    return frame(2, json.dumps({"celsius": degrees}).encode())


listener = socket.create_server(("127.0.0.1", 9100))
thread = threading.Thread(target=server, args=(listener,))
thread.start()
with socket.create_connection(("127.0.0.1", 9100)) as sensor:
    sensor.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sensor.sendall(frame(1, b"kitchen"))
    for beat in range(3):
        time.sleep(1)
        sensor.sendall(frame(9))
    sensor.sendall(reading(21.5))
    time.sleep(1)
    # Two frames and a half in one packet.
    late = reading(22.25)
    sensor.sendall(frame(9) + reading(21.75) + late[:7])
    time.sleep(0.2)
    sensor.sendall(late[7:])
    # Silence: one heartbeat is missed.
    time.sleep(2.3)
    sensor.sendall(frame(9))
    time.sleep(0.5)
    sensor.shutdown(socket.SHUT_WR)
    while sensor.recv(4096):
        pass
thread.join()
listener.close()
