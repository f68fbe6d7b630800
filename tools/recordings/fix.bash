# shellcheck shell=bash disable=SC2034,SC2154
# FIX 4.4: QuickFIX, both sides (fix.cpp), and messages by hand.

needs_fix() {
    need_command c++ g++ -
    [ -e /usr/include/quickfix/Session.h ] || lacks QuickFIX libquickfix-dev -
}

record_fix() {
    c++ -std=c++14 -w "$recordings/fix.cpp" -o "$work/fix" -lquickfix
    local side
    for side in acceptor initiator; do
        cat >"$work/$side.cfg" <<CONF
[DEFAULT]
ConnectionType=$side
BeginString=FIX.4.4
StartTime=00:00:00
EndTime=00:00:00
HeartBtInt=1
DataDictionary=$recordings/fix.xml
SocketAcceptPort=9878
SocketReuseAddress=Y
SocketConnectHost=127.0.0.1
SocketConnectPort=9878
SocketNodelay=Y
ReconnectInterval=60
CONF
    done
    printf '[SESSION]\nSenderCompID=BROKER\nTargetCompID=%s\n' ALICE HAND >>"$work/acceptor.cfg"
    printf '[SESSION]\nSenderCompID=ALICE\nTargetCompID=BROKER\n' >>"$work/initiator.cfg"
    "$work/fix" acceptor "$work/acceptor.cfg" 2>"$work/fix.log" &
    server=$!
    wait_for_port 9878
    record fix 9878
    timeout 30 "$work/fix" initiator "$work/initiator.cfg"
    python3 "$recordings/fix-client.py"
    keep fix
}
