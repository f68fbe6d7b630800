# shellcheck shell=bash disable=SC2034,SC2154
# DNP3: OpenDNP3, both sides. Its packages for Python end with Python 3.10, so that they have an environment of their own.

dnp3_environment="$root/.build-recordings-dnp3"

needs_dnp3() {
    local candidate
    [ -x "$dnp3_environment/bin/python" ] || for candidate in python3.10 ~/.pyenv/versions/3.10.*/bin/python python3.9 python3.8; do
        ! command -v "$candidate" >/dev/null || { "$candidate" -m venv "$dnp3_environment" && break; }
    done
    [ -x "$dnp3_environment/bin/python" ] || fail "needs Python 3.8, 3.9 or 3.10, for OpenDNP3"
    "$dnp3_environment/bin/pip" install --quiet --disable-pip-version-check dnp3-python </dev/null >&2
}

record_dnp3() {
    "$dnp3_environment/bin/python" "$recordings/dnp3-station.py" outstation >"$work/dnp3.log" 2>&1 &
    server=$!
    wait_until grep -q ':4E20 00000000:0000 0A' /proc/net/tcp
    record dnp3 20000
    timeout 60 "$dnp3_environment/bin/python" "$recordings/dnp3-station.py" master >"$work/dnp3-master.log" 2>&1
    python3 "$recordings/dnp3-client.py"
    keep dnp3
}
