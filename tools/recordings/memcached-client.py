"""Each command of pymemcache; then by hand what it does not know: meta commands, several commands in one packet, errors."""

import socket
import time

from pymemcache.client.base import Client
from pymemcache.exceptions import MemcacheError

EVERY = bytes(range(256))


def usual():
    client = Client(("127.0.0.1", 11211), no_delay=True)
    client.version()
    for key, value in (("greeting", "Hello, 世界".encode()), ("empty", b""), ("lines", b"\r\nEND\r\nVALUE x 0 1\r\n"), ("every", EVERY), ("long", EVERY * 12)):
        client.set(key, value, noreply=False)
        client.get(key)
    client.get("nothing")
    client.get_many(["greeting", "nothing", "lines", "empty"])
    client.set_many({f"key:{number}": b"value %d" % number for number in range(10)}, noreply=True)
    client.get_many([f"key:{number}" for number in range(10)])
    client.set("short-lived", b"x", expire=1, noreply=False, flags=4711)
    client.add("greeting", b"no", noreply=False)
    client.add("added", b"yes", noreply=False)
    client.replace("nothing", b"no", noreply=False)
    client.replace("added", b"again", noreply=False)
    client.append("added", b" and after", noreply=False)
    client.prepend("added", b"before and ", noreply=False)
    client.get("added")
    _, token = client.gets("added")
    client.gets_many(["added", "every"])
    client.cas("added", b"first", token, noreply=False)
    client.cas("added", b"second", token, noreply=False)
    client.cas("nothing", b"?", token, noreply=False)
    client.set("counter", b"9", noreply=False)
    client.incr("counter", 1)
    client.decr("counter", 20)
    client.incr("nothing", 1)
    client.touch("counter", 100, noreply=False)
    client.touch("nothing", 100, noreply=False)
    client.delete("counter", noreply=False)
    client.delete("counter", noreply=False)
    client.set("silent", b"1", noreply=True)
    client.incr("silent", 1, noreply=True)
    client.delete("silent", noreply=True)
    client.stats()
    client.stats("items")
    try:
        client.incr("greeting", 1)
    except MemcacheError:
        pass
    client.close()
    client = Client(("127.0.0.1", 11211), no_delay=True)
    client.flush_all(noreply=False)
    client.quit()


def by_hand():
    with socket.create_connection(("127.0.0.1", 11211)) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for words in (
            b"set a 0 0 1\r\n1\r\nset b 7 0 2 noreply\r\n22\r\nget a b c\r\nincr a 4\r\ngets b\r\n",
            b"set c 0 0 10\r\n01234", b"56789\r", b"\nget", b" c\r\n",
            b"gat 50 counter a\r\ngats 50 c\r\nverbosity 1\r\nverbosity 1 noreply\r\nflush_all 100\r\n",
            b"mn\r\n", b"ms m 5 F9 T0\r\nhello\r\n", b"mg m v f k s t\r\n", b"mg m\r\n", b"mg nothing v\r\n", b"mg bWV0YQ== b v k\r\n",
            b"ma n N0 J5 v\r\n", b"md m q\r\nmd m\r\nmg m v q\r\nmn\r\n", b"me c\r\n",
            b"nonsense\r\n", b"incr a x\r\n", b"touch a\r\n", b"get " + b"k" * 251 + b"\r\n", b"get\r\n",
            b"stats settings\r\n", b"quit\r\n",
        ):
            sock.sendall(words)
            time.sleep(0.05)
        while sock.recv(4096):
            pass


usual()
by_hand()
