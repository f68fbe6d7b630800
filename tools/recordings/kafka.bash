# shellcheck shell=bash disable=SC2034,SC2154
# Kafka: librdkafka's own brokers, which live in a client that was told so; its Python client, and kcat.

needs_kafka() {
    need_command kcat kcat -
    need_library confluent-kafka
}

record_kafka() {
    "$python" "$recordings/kafka-server.py" 2>"$work/kafka.log" &
    server=$!
    wait_for_port 9092
    wait_until kcat -L -b 127.0.0.1:9092
    record kafka 9092
    kcat -L -b 127.0.0.1:9092 >/dev/null
    printf 'first:hello\nsecond:\n:Grüße\n' | kcat -P -b 127.0.0.1:9092 -t letters -K : -H place=kitchen -H empty=
    kcat -C -b 127.0.0.1:9092 -t letters -o beginning -e -q >/dev/null
    "$python" "$recordings/kafka-client.py"
    keep kafka
}
