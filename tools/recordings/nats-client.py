"""Publishes, subscribes, asks and answers; does what is not allowed; and speaks the protocol by hand, as telnet would."""

import asyncio
import socket
import time

import nats
from nats.errors import Error


async def ignore(_):
    pass


async def connect(user="alice", password="sesame", **options):
    return await nats.connect("nats://127.0.0.1:4222", user=user, password=password, allow_reconnect=False, error_cb=ignore, **options)


async def usual():
    alice, worker = await connect(name="alice"), await connect(name="worker", verbose=True)
    received = []

    async def keep(message):
        received.append(message)

    async def answer(message):
        await message.respond(message.data[::-1])

    await alice.subscribe("house.>", cb=keep)
    await alice.subscribe("house.*.temperature", cb=keep)
    counted = await alice.subscribe("count", cb=keep)
    await counted.unsubscribe(limit=3)
    await worker.subscribe("reverse", "workers", cb=answer)
    await worker.subscribe("reverse", "workers", cb=answer)
    await alice.flush()
    await worker.flush()
    every = bytes(range(256))
    for payload in (b"21.5", b"", b"\r\n", b"PUB x 3\r\nabc\r\n", every, every * 20):
        await worker.publish("house.kitchen.temperature", payload)
        await worker.flush()
    await worker.publish("house.cellar", "Grüße".encode(), headers={"Content-Type": "text/plain", "Empty": ""})
    await worker.publish("house.cellar", b"", headers={"Nats-Msg-Id": "4711"})
    await worker.publish("house.cellar", every * 8, reply="house.answers", headers={"Long": "x" * 200})
    # Without a pause between them: many in one packet.
    for number in range(40):
        await worker.publish("count" if number % 8 == 0 else "house.count", b"%d" % number)
    await worker.flush()
    await alice.request("reverse", b"stressed")
    await alice.request("reverse", b"", headers={"Key": "value"}, timeout=1)
    try:
        # Nobody listens: the server says so in a header.
        await alice.request("nobody", b"?", timeout=1)
    except Error:
        pass
    # Silence: the server pings.
    await asyncio.sleep(3)
    await alice.drain()
    await worker.close()


async def refused():
    guest = await connect("guest", "guest")
    await guest.subscribe("open.door", cb=ignore)
    await guest.subscribe("secret", cb=ignore)
    await guest.publish("secret", b"?")
    await guest.publish("open.door", b"!")
    await guest.flush()
    await guest.close()
    try:
        await connect("alice", "wrong")
    except Error:
        pass


def by_hand():
    login = b'CONNECT {"verbose":true,"pedantic":true,"headers":true,"user":"alice","pass":"sesame"}\r\n'
    for words in (
        # Small letters, and more spaces than needed.
        (login, b"sub  a.b \t 1\r\npub a.b 2\r\nhi\r\n", b"Pub\ta.b  inbox  0\r\n", b"\r\nPING\r\nUN", b"SUB 1\r\n",
         b"HPUB a.b 12 14\r\nNATS/1.0\r\n\r\n", b"ok\r\nPUB a..b 0\r\n\r\nping\r\n"),
        (login, b"NONSENSE\r\n"),
    ):
        with socket.create_connection(("127.0.0.1", 4222)) as sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for word in words:
                sock.sendall(word)
                time.sleep(0.1)


asyncio.run(usual())
asyncio.run(refused())
by_hand()
