# shellcheck shell=bash disable=SC2034,SC2154
# MQTT 5: mosquitto and Python's paho-mqtt.

needs_mqtt5() {
    need_command mosquitto mosquitto -
    need_library paho-mqtt
}

record_mqtt5() {
    mosquitto_passwd -b -c "$work/passwords" alice sesame
    printf 'user alice\ntopic readwrite house/#\ntopic read notes/#\n' >"$work/topics"
    printf '%s\n' 'listener 1883 127.0.0.1' 'allow_anonymous false' "password_file $work/passwords" "acl_file $work/topics" 'user root' 'max_keepalive 60' \
        'max_topic_alias 5' 'max_packet_size 6000' 'max_inflight_messages 10' >"$work/mosquitto.conf"
    mosquitto -c "$work/mosquitto.conf" >"$work/mosquitto.log" 2>&1 &
    server=$!
    wait_for_port 1883
    record mqtt5 1883
    "$python" "$recordings/mqtt5-client.py"
    keep mqtt5
}
