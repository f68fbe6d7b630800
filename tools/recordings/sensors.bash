# shellcheck shell=bash disable=SC2034,SC2154
# The unknown protocol of docs/walk-through.md: a few lines of Python play both sides.

needs_sensors() { :; }

record_sensors() {
    record sensors 9100
    python3 "$recordings/sensors.py"
    keep sensors
}
