"""Declares, publishes, consumes, confirms, and does what closes a channel or the connection."""

import datetime
import decimal
import socket
import time

import pika
from pika.exceptions import AMQPError

EVERY = bytes(range(256))
HEADERS = {"text": "Grüße", "number": -3, "large": 2**40, "decimal": decimal.Decimal("21.5"), "yes": True, "nothing": None, "bytes": EVERY[:20],
           "when": datetime.datetime(2026, 11, 21), "list": [1, "two", [3]], "table": {"inner": {"deeper": "x"}, "empty": ""}}
PROPERTIES = pika.BasicProperties(content_type="text/plain", content_encoding="utf-8", headers=HEADERS, delivery_mode=2, priority=5, correlation_id="4711",
                                  reply_to="answers", expiration="60000", message_id="id", timestamp=1_795_000_000, type="kind", user_id="guest", app_id="app",
                                  cluster_id="")


def connect(password="guest", **options):
    return pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", credentials=pika.PlainCredentials("guest", password), **options))


connection = connect(heartbeat=2, frame_max=4096, client_properties={"connection_name": "alice"})
channel, second = connection.channel(), connection.channel()
channel.exchange_declare("house", "topic", durable=True, arguments={"alternate-exchange": "lost"})
channel.queue_declare("rooms", arguments={"x-max-length": 100})
channel.queue_declare("", exclusive=True)
channel.queue_bind("rooms", "house", "*.temperature", arguments={"note": "none"})
channel.queue_declare("rooms", passive=True)
channel.basic_publish("house", "kitchen.temperature", b"21.5")
channel.basic_publish("house", "kitchen.temperature", b"", pika.BasicProperties())
channel.basic_publish("house", "kitchen.temperature", EVERY + b"\xce", PROPERTIES)
# Longer than a frame may be: two frames.
channel.basic_publish("house", "cellar.temperature", EVERY * 18)
for number in range(10):
    channel.basic_publish("", "rooms", b"number %d" % number)
method, _, _ = channel.basic_get("rooms")
channel.basic_ack(method.delivery_tag)
second.confirm_delivery()
second.basic_publish("house", "attic.temperature", b"confirmed")
try:
    second.basic_publish("house", "nobody listens", b"goes back", mandatory=True)
except AMQPError:
    pass
channel.basic_qos(prefetch_count=5)
taken = []


def take(channel, method, properties, body):
    taken.append(body)
    if len(taken) == 2:
        channel.basic_nack(method.delivery_tag, requeue=False)
    elif len(taken) == 3:
        channel.basic_reject(method.delivery_tag, requeue=False)
    else:
        channel.basic_ack(method.delivery_tag, multiple=len(taken) == 7)


tag = channel.basic_consume("rooms", take)
connection.sleep(0.5)
channel.basic_cancel(tag)
# Silence: heartbeats.
connection.sleep(4)
channel.tx_select()
channel.basic_publish("", "rooms", b"in a transaction")
channel.tx_commit()
channel.tx_rollback()
channel.basic_recover(requeue=True)
channel.queue_purge("rooms")
channel.queue_unbind("rooms", "house", "*.temperature")
for refused in (lambda each: each.queue_declare("not there", passive=True), lambda each: each.exchange_declare("house", "fanout"),
                lambda each: each.basic_ack(4711) or each.queue_declare("")):
    third = connection.channel()
    try:
        refused(third)
    except AMQPError:
        pass
channel.queue_delete("rooms")
channel.exchange_delete("house")
second.close()
connection.close()

try:
    connect("wrong")
except AMQPError:
    pass
try:
    connect(virtual_host="nowhere")
except AMQPError:
    pass

# Another version of the protocol: the server says which it has.
with socket.create_connection(("127.0.0.1", 5672)) as sock:
    sock.sendall(b"AMQP\x00\x02\x00\x00")
    sock.recv(4096)
# In pieces; then the client goes.
with socket.create_connection(("127.0.0.1", 5672)) as sock:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for piece in (b"AM", b"QP\x00\x00", b"\x09\x01"):
        sock.sendall(piece)
        time.sleep(0.05)
    sock.recv(4096)
