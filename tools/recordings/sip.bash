# shellcheck shell=bash disable=SC2034,SC2154
# SIP over TCP: SIPp, both sides, with its own scenarios and with those of sip-caller.xml and sip-called.xml.

needs_sip() { need_command sipp sip-tester -; }

record_sip() {
    record sip 5060
    # Calls that are answered, all in one connection; then one whose messages are cut as they like.
    answer_calls -sn uas
    call -sn uac -t t1 -m 4 -r 20 -d 200
    python3 "$recordings/sip-client.py"
    stop_answering
    # With branches: REGISTER first.
    answer_calls -sn branchs
    call -sn branchc -t t1 -m 2 -r 20
    stop_answering
    answer_calls -sf "$recordings/sip-called.xml"
    call -sf "$recordings/sip-caller.xml" -t t1 -m 2 -r 10
    keep sip
}

answer_calls() {
    sipp "$@" -t t1 -i 127.0.0.1 -p 5060 -nostdin >"$work/sip.log" 2>&1 &
    server=$!
    wait_for_listener
}

# A connection that says nothing would be recorded.
wait_for_listener() { wait_until grep -q '0100007F:13C4 00000000:0000 0A' /proc/net/tcp; }

stop_answering() {
    kill -TERM "$server" 2>/dev/null || true
    wait "$server" || true
    server=''
}

call() { timeout 30 sipp 127.0.0.1:5060 "$@" -i 127.0.0.1 -s bob -nostdin >/dev/null 2>&1 || true; }
