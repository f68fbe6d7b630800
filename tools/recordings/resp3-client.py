"""Asks for each type that RESP3 has, is pushed messages, and writes commands by hand."""

import socket
import time

import redis

EVERY = bytes(range(256))


def usual():
    client = redis.Redis("127.0.0.1", protocol=3, username="default", password="sesame", single_connection_client=True)
    client.response_callbacks.clear()  # nobody reads the answers
    ask = client.execute_command
    for kind in ("string", "integer", "double", "null", "array", "set", "map", "attrib", "push", "verbatim", "true", "false", "bignum"):
        try:
            ask("DEBUG", "PROTOCOL", kind)
        except redis.RedisError:
            pass
    client.hset("hash", mapping={"field": "value", "": "empty name", "empty": "", "bytes": EVERY})
    client.hgetall("hash")
    client.hgetall("nothing")
    client.sadd("set", "a", "b", "")
    client.smembers("set")
    client.smismember("set", ["a", "c"])
    client.zadd("sorted", {"low": -1.5, "high": float("inf"), "low enough": float("-inf"), "pi": 3.141592653589793})
    client.zscore("sorted", "pi")
    client.zscore("sorted", "nothing")
    client.zrange("sorted", 0, -1, withscores=True)
    client.zincrby("sorted", 1, "low")
    client.rpush("list", "one", "", b"\r\n", b"$5\r\nhello\r\n")
    client.lrange("list", 0, -1)
    client.lrange("nothing", 0, -1)
    client.set("bytes", EVERY * 14)
    client.get("bytes")
    client.xadd("stream", {"temperature": "21.5", "place": "kitchen"})
    client.xadd("stream", {"temperature": "22"})
    client.xread({"stream": "0"})
    client.xinfo_stream("stream", full=True)
    client.geoadd("places", (8.54, 47.37, "Zürich"))
    client.geopos("places", "Zürich", "nowhere")
    client.config_get("maxmemory*")
    client.memory_usage("bytes")
    ask("COMMAND", "INFO", "get", "nonsense")
    ask("COMMAND", "DOCS", "get")
    ask("CLIENT", "LIST")
    ask("LATENCY", "DOCTOR")
    client.eval("redis.setresp(3); return {true, false, {double=1.25}, {map={key='value'}}, {set={one=true}}, {big_number='1234567890123456789012345678901234567890'},"
                " {verbatim_string={string='as it is', format='txt'}}, {1, {'two', {3}}}}", 0)
    for line in (("LPUSH", "greeting", "x"), ("NONSENSE",), ("GET",), ("EVAL", "return redis.error_reply('ERR a long story, told in one line')", 0)):
        try:
            ask(*line)
        except redis.RedisError:
            pass
    with client.pipeline(transaction=True) as pipe:
        pipe.incr("counter").get("nothing").hgetall("hash").lpush("greeting", "x").smembers("set")
        pipe.execute(raise_on_error=False)
    with client.pipeline(transaction=False) as pipe:
        for number in range(60):
            pipe.set(f"key:{number}", "value")
        pipe.execute()
    client.close()


def pushed():
    """Messages come between answers: those of subscriptions, and those about keys that were read."""
    sock = socket.create_connection(("127.0.0.1", 6379))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    other = redis.Redis("127.0.0.1", protocol=2, password="sesame")

    def say(*words):
        words = [word if isinstance(word, bytes) else word.encode() for word in words]
        return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in words)

    for words in (
        say("HELLO", "3", "AUTH", "default", "sesame", "SETNAME", "listener"),
        say("CLIENT", "TRACKING", "ON"),
        say("GET", "greeting") + say("MGET", "key:1", "key:2", "nothing"),
        say("SUBSCRIBE", "news", "weather") + say("PSUBSCRIBE", "__keyspace@0__:*"),
        say("PING") + say("GET", "bytes"),
    ):
        sock.sendall(words)
        time.sleep(0.1)
    other.publish("news", "it is raining")
    other.publish("weather", EVERY * 8)
    other.publish("news", "")
    other.set("greeting", "Hi")
    other.delete("key:1", "key:2")
    time.sleep(0.2)
    # One command in pieces, then an inline command.
    for piece in (b"*2\r", b"\n$4\r\nECH", b"O\r\n$", b"5\r\nhel", b"lo\r\n", b"PING  inline\r\n"):
        sock.sendall(piece)
        time.sleep(0.05)
    other.flushall()
    time.sleep(0.1)
    for words in (say("UNSUBSCRIBE"), say("PUNSUBSCRIBE", "__keyspace@0__:*"), say("HELLO", "9"), say("HELLO", "2") + say("HGETALL", "nothing"), say("RESET"), say("PING"), say("QUIT")):
        sock.sendall(words)
        time.sleep(0.1)
    while sock.recv(65536):
        pass
    sock.close()
    other.close()


usual()
pushed()
