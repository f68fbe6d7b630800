"""Produces with each compression, consumes in a group, and uses a transaction."""

import time

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

SERVER = {"bootstrap.servers": "127.0.0.1:9092"}
EVERY = bytes(range(256))

for compression in ("none", "gzip", "snappy", "lz4", "zstd"):
    producer = Producer({**SERVER, "client.id": f"with {compression}", "compression.type": compression, "linger.ms": 50, "acks": "all" if compression == "none" else 1})
    for number in range(5):
        producer.produce("house", key=f"room {number}", value=f"value {number} " * 5, headers={"number": b"%d" % number, "empty": None})
    producer.flush(10)

producer = Producer({**SERVER, "enable.idempotence": True, "linger.ms": 5})
producer.produce("house", key=None, value=None, partition=0)
producer.produce("house", key=b"", value=b"", partition=0)
producer.produce("house", key=EVERY, value=EVERY * 12, partition=1)
producer.flush(10)
producer = Producer({**SERVER, "acks": 0})
producer.produce("house", value=b"nobody answers")
producer.flush(10)

consumer = Consumer({**SERVER, "group.id": "readers", "auto.offset.reset": "earliest", "enable.auto.commit": False, "session.timeout.ms": 6000,
                     "heartbeat.interval.ms": 500, "fetch.wait.max.ms": 500})
consumer.subscribe(["house"])
count = 0
until = time.monotonic() + 8
while count < 29 and time.monotonic() < until:
    message = consumer.poll(0.5)
    if message is not None and not message.error():
        count += 1
consumer.commit(asynchronous=False)
consumer.committed([TopicPartition("house", 0), TopicPartition("house", 1)])
consumer.get_watermark_offsets(TopicPartition("house", 0))
consumer.offsets_for_times([TopicPartition("house", 0, 1)])
consumer.close()

producer = Producer({**SERVER, "transactional.id": "all or nothing"})
producer.init_transactions(10)
producer.begin_transaction()
producer.produce("house", value=b"in a transaction")
producer.commit_transaction(10)
producer.begin_transaction()
producer.produce("house", value=b"taken back")
producer.flush(10)
producer.abort_transaction(10)
