"""A broker on port 9092. It takes any free port; so for a moment there is only that one."""

import time

from confluent_kafka import Producer

RANGE = "/proc/sys/net/ipv4/ip_local_port_range"

with open(RANGE, encoding="ascii") as file:
    usual = file.read()
with open(RANGE, "w", encoding="ascii") as file:
    file.write("9092 9092")
broker = Producer({"test.mock.num.brokers": 1})
with open(RANGE, "w", encoding="ascii") as file:
    file.write(usual)
while True:
    time.sleep(1)
