"""Properties of every kind, reason codes, topic aliases, subscription options, a will, pings; then packets by hand."""

import socket
import time

from paho.mqtt.client import CallbackAPIVersion, Client, MQTTv5
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

EVERY = bytes(range(256))


def properties(kind, **values):
    made = Properties(kind)
    for name, value in values.items():
        setattr(made, name, value)
    return made


def connect(name, password="sesame", will=None, keepalive=60, **values):
    client = Client(CallbackAPIVersion.VERSION2, name, protocol=MQTTv5)
    client.username_pw_set("alice", password)
    if will:
        client.will_set("house/alarm", will, 1, False,
                        properties(PacketTypes.WILLMESSAGE, WillDelayInterval=1, ContentType="text/plain", MessageExpiryInterval=30, UserProperty=("why", "silence")))
    client.connect("127.0.0.1", 1883, keepalive, clean_start=values.pop("clean", True), properties=properties(PacketTypes.CONNECT, **values))
    client.loop_start()
    time.sleep(0.3)
    return client


watcher = connect("watcher", keepalive=5, SessionExpiryInterval=100, ReceiveMaximum=20, MaximumPacketSize=100_000, TopicAliasMaximum=3, RequestResponseInformation=1,
                  RequestProblemInformation=1, UserProperty=[("name", "value"), ("name", "Grüße"), ("", "")])
watcher.subscribe("house/#", options=SubscribeOptions(2, noLocal=False, retainAsPublished=True, retainHandling=0),
                  properties=properties(PacketTypes.SUBSCRIBE, SubscriptionIdentifier=4711, UserProperty=("asked", "by hand")))
watcher.subscribe([("house/kitchen/+", SubscribeOptions(1)), ("notes/#", SubscribeOptions(0, retainHandling=2)), ("$share/group/house/shared", SubscribeOptions(1)),
                   ("secret/#", SubscribeOptions(1))])
time.sleep(0.3)

sensor = connect("sensor", will="sensor is gone", SessionExpiryInterval=0)
for quality in (0, 1, 2):
    sensor.publish("house/kitchen/temperature", "21.5", quality,
                   properties=properties(PacketTypes.PUBLISH, PayloadFormatIndicator=1, MessageExpiryInterval=60, ContentType="text/plain", ResponseTopic="house/answers",
                                         CorrelationData=EVERY[:16], UserProperty=[("unit", "°C")]))
    sensor.publish("house/cellar", EVERY * 15, quality)
    sensor.publish("house/empty", b"", quality)
    sensor.publish("secret/door", "open", quality)
    time.sleep(0.2)
# An alias takes the place of its topic.
sensor.publish("house/long/name/of/a/topic", "first", 1, properties=properties(PacketTypes.PUBLISH, TopicAlias=1))
sensor.publish("", "second", 0, properties=properties(PacketTypes.PUBLISH, TopicAlias=1))
sensor.publish("house/kept", "kept", 1, retain=True)
sensor.publish("house/shared", "for one of the group", 1)
for number in range(25):
    sensor.publish("house/count", str(number), number % 3)
time.sleep(0.5)
# Silence for longer than the watcher's keep-alive: it pings.
time.sleep(6)
watcher.unsubscribe(["house/kitchen/+", "never/asked"], properties(PacketTypes.UNSUBSCRIBE, UserProperty=("so", "long")))
# The sensor is gone without a word; its will is told.
sensor.loop_stop()
sensor.socket().close()
time.sleep(2)
other = connect("watcher", clean=False, SessionExpiryInterval=0)
time.sleep(0.3)
other.publish("house/kept", b"", 1, retain=True)
time.sleep(0.3)
other.disconnect(ReasonCode(PacketTypes.DISCONNECT, "Disconnect with will message"),
                 properties(PacketTypes.DISCONNECT, SessionExpiryInterval=0, ReasonString="that is all", UserProperty=("key", "value")))
time.sleep(0.3)
watcher.loop_stop()
other.loop_stop()
refused = connect("intruder", "wrong")
refused.loop_stop()


def by_hand(*parts):
    with socket.create_connection(("127.0.0.1", 1883)) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for part in parts:
            sock.sendall(part)
            time.sleep(0.1)
        time.sleep(0.2)


LOGIN = b"\x10\x1f\x00\x04MQTT\x05\xc2\x00\x3c\x00\x00\x00" + b"\x00\x05alice" + b"\x00\x06sesame"
LOGIN = LOGIN[:1] + bytes([len(LOGIN) - 2]) + LOGIN[2:]
# In pieces, and several in one packet; a length that takes more bytes than it needs; the server chooses the client's name.
by_hand(LOGIN[:1], LOGIN[1:9], LOGIN[9:] + b"\x82\x0d\x00\x01\x00\x00\x07house/#\x00" + b"\xc0\x00" + b"\xc0\x00\x30\x0b\x00\x07house", b"/a\x00\x01" + b"\xe0\x00")
# A topic with a wildcard; an authentication that nobody offers; two CONNECTs: the server says why it goes.
by_hand(LOGIN, b"\x32\x0d\x00\x07house/#\x00\x01\x00?")
by_hand(LOGIN, b"\xf0\x0c\x18\x0a\x15\x00\x07nothing")
by_hand(LOGIN + LOGIN)
