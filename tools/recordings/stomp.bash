# shellcheck shell=bash disable=SC2034,SC2154
# STOMP: RabbitMQ's plugin and Python's stomp.py. (How RabbitMQ starts is in amqp.bash.)

needs_stomp() {
    need_command rabbitmq-server rabbitmq-server -
    need_library stomp.py
}

record_stomp() {
    rabbitmq 61613 rabbitmq_stomp
    record stomp 61613
    "$python" "$recordings/stomp-client.py"
    keep stomp
}
