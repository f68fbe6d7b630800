# shellcheck shell=bash disable=SC2034,SC2154
# AMQP 0-9-1: RabbitMQ and Python's pika.

needs_amqp() {
    need_command rabbitmq-server rabbitmq-server -
    need_library pika
}

# Starts RabbitMQ with its plugins: rabbitmq PORT [PLUGIN…]
rabbitmq() {
    local port="$1" node="$work/rabbitmq"
    shift
    mkdir -p "$node"
    printf 'listeners.tcp.1 = 127.0.0.1:5672\n%s\n' "${*:+stomp.listeners.tcp.1 = 127.0.0.1:61613}" >"$node/rabbitmq.conf"
    printf '[%s].\n' "$*" >"$node/plugins"
    # Its helper for names would stay.
    epmd >/dev/null 2>"$work/epmd.log" &
    server=$!
    # Debian's own script would change to another user.
    HOME="$node" RABBITMQ_NODENAME=rabbit@localhost RABBITMQ_MNESIA_BASE="$node" RABBITMQ_LOG_BASE="$node" RABBITMQ_PID_FILE="$node/pid" \
        RABBITMQ_CONFIG_FILE="$node/rabbitmq.conf" RABBITMQ_ENABLED_PLUGINS_FILE="$node/plugins" RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='+S 1' \
        /usr/lib/rabbitmq/bin/rabbitmq-server >"$work/rabbitmq.log" 2>&1 &
    server="$! $server"
    wait_for_port "$port"
    wait_until grep -q 'Server startup complete' "$work/rabbitmq.log" "$node/rabbit@localhost.log"
}

record_amqp() {
    rabbitmq 5672
    record amqp 5672
    "$python" "$recordings/amqp-client.py"
    keep amqp
}
