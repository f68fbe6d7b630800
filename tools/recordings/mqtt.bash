# shellcheck shell=bash disable=SC2034,SC2154
# MQTT 3.1.1: mosquitto and its clients, at each quality of service.

needs_mqtt() {
    need_command mosquitto mosquitto -
    need_command mosquitto_pub mosquitto-clients -
}

record_mqtt() {
    printf 'listener 1883 127.0.0.1\nallow_anonymous true\n' >"$work/mosquitto.conf"
    mosquitto -c "$work/mosquitto.conf" >"$work/mosquitto.log" 2>&1 &
    server=$!
    wait_until mosquitto_pub -h 127.0.0.1 -t probe -n
    record mqtt 1883
    mosquitto_sub -h 127.0.0.1 -V 311 -i watcher -t 'house/#' -q 2 -k 5 -C 7 >/dev/null &
    local watcher=$!
    sleep 0.5
    local long
    long=$(printf 'a payload of more than 127 bytes; %.0s' $(seq 20))
    for quality in 0 1 2; do
        mosquitto_pub -h 127.0.0.1 -V 311 -i "sensor-$quality" -t house/kitchen -q "$quality" -m "21.5 at $quality"
        mosquitto_pub -h 127.0.0.1 -V 311 -i "sensor-$quality" -t house/cellar -q "$quality" -m "$long$quality"
    done
    mosquitto_pub -h 127.0.0.1 -V 311 -i keeper -t notes/kept -r -q 1 -m 'kept for later'
    # Silence for longer than the watcher's keep-alive of 5 s: it pings.
    sleep 7
    # Many messages of one connection, some of them in one packet.
    seq 1 40 | mosquitto_pub -h 127.0.0.1 -V 311 -i counter -t attic/count -q 1 -l
    mosquitto_pub -h 127.0.0.1 -V 311 -i last -t house/end -m end
    wait "$watcher"
    keep mqtt
}
