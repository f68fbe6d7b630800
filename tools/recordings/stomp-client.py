"""Each command in each version of the protocol; then by hand what the library does not write."""

import socket
import time

import stomp

EVERY = bytes(range(256))
SERVER = [("127.0.0.1", 61613)]


class Listener(stomp.ConnectionListener):
    def __init__(self, connection):
        self.connection, self.count = connection, 0

    def on_message(self, frame):
        self.count += 1
        if "ack" in frame.headers:
            answer = self.connection.nack if self.count % 4 == 0 else self.connection.ack
            answer(frame.headers["ack"], receipt=f"taken-{self.count}")


def usual():
    connection = stomp.Connection12(SERVER, vhost="/", heartbeats=(1000, 1000), auto_content_length=False)
    connection.set_listener("", Listener(connection))
    connection.connect("guest", "guest", wait=True, headers={"client-id": "alice"})
    connection.subscribe("/queue/rooms", "1", ack="client-individual")
    connection.subscribe("/topic/house.*", "2", ack="auto", headers={"receipt": "subscribed"})
    connection.send("/queue/rooms", "without a length")
    connection.send("/queue/rooms", "", receipt="empty")
    connection.send("/queue/rooms", EVERY, headers={"content-length": 256, "content-type": "application/octet-stream"})
    connection.send("/queue/rooms", "Grüße, 世界", headers={"name: with colon": "a\nb\\c:d\r", "empty": "", "persistent": "true"})
    connection.send("/topic/house.kitchen", EVERY * 18, headers={"content-length": 4608})
    connection.send("/topic/house.kitchen", "\n\nlines\n\n", headers={"content-length": 9})
    for number in range(20):
        connection.send("/topic/house.cellar", f"number {number}")
    time.sleep(0.5)
    transaction = connection.begin(headers={"receipt": "begun"})
    connection.send("/queue/rooms", "in a transaction", transaction=transaction)
    connection.commit(transaction, headers={"receipt": "committed"})
    transaction = connection.begin()
    connection.send("/queue/rooms", "taken back", transaction=transaction)
    connection.abort(transaction)
    # Silence: heartbeats.
    time.sleep(4)
    connection.unsubscribe("2")
    connection.unsubscribe("1", headers={"receipt": "gone"})
    time.sleep(0.2)
    connection.disconnect(receipt="bye")
    time.sleep(0.2)


def older():
    connection = stomp.Connection10(SERVER)
    connection.connect("guest", "guest", wait=True)
    connection.send("/queue/old", "as 1.0 had it", headers={"trailing": "space "})
    connection.disconnect(receipt="bye")
    time.sleep(0.2)


def refused(*parts, wait=0.3):
    with socket.create_connection(("127.0.0.1", 61613)) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for part in parts:
            sock.sendall(part)
            time.sleep(0.1)
        time.sleep(wait)


def by_hand():
    login = b"CONNECT\naccept-version:1.1,1.2\nhost:/\nlogin:guest\npasscode:guest\n\n\0"
    refused(b"CONNECT\naccept-version:1.2\nhost:/\nlogin:guest\npasscode:wrong\n\n\0")
    refused(b"CONNECT\naccept-version:9.9\nhost:/\nlogin:guest\npasscode:guest\n\n\0")
    # Ends of lines with carriage returns and ends of lines between frames; in pieces; a header twice; several frames in one packet.
    refused(b"STOMP\r\naccept-version:1.2\r\nhost:/\r\nlogin:guest\r\npasscode:guest\r\nheart-beat:0,0\r\n\r\n\0\r\n\r\n",
            b"\n\nSUBSCRIBE\nid:0\ndestination:/topic/a\nack:auto\n\n\0\nSEND\ndestination:/topic/a\nkey:first\nkey:second\n\nhello\0\n\nSEND\ndesti",
            b"nation:/topic/a\ncontent-length:5\n\na\0b", b"\0", b"c", b"\0", b"\n", b"DISCONNECT\nreceipt:77\n\n\0")
    refused(login, b"NONSENSE\n\n\0")
    refused(login, b"SEND\n\nno destination\0")
    refused(login, b"ACK\nid:4711\nreceipt:1\n\n\0")


usual()
older()
by_hand()
