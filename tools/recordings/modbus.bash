# shellcheck shell=bash disable=SC2034,SC2154
# Modbus/TCP: the server and the client of pymodbus.

needs_modbus() {
    if ! /usr/bin/python3 -c 'import pymodbus.server' 2>/dev/null; then
        lacks pymodbus python3-pymodbus -
        lacks "its serial line" python3-serial-asyncio -
    fi
}

record_modbus() {
    /usr/bin/python3 "$recordings/modbus-server.py" 2>"$work/modbus.log" &
    server=$!
    wait_for_port 502
    record modbus 502
    /usr/bin/python3 "$recordings/modbus-client.py"
    keep modbus
}
