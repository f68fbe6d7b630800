# shellcheck shell=bash disable=SC2034,SC2154
# JT/T 808: there is no such program; a few lines of Python play the terminal and its platform.

needs_jt808() { :; }

record_jt808() {
    record jt808 8808
    python3 "$recordings/jt808.py"
    keep jt808
}
