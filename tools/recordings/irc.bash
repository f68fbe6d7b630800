# shellcheck shell=bash disable=SC2034,SC2154
# IRC: ngIRCd, Python's irc, and lines by hand.

needs_irc() {
    need_command ngircd ngircd -
    need_library irc
}

record_irc() {
    cat >"$work/ngircd.conf" <<CONF
[Global]
Name = irc.example
Info = A server of an example
AdminInfo1 = Nobody
AdminEMail = nobody@example
Listen = 127.0.0.1
Ports = 6667
MotdPhrase = Hello, 世界
ServerUID = root
ServerGID = root
[Limits]
PingTimeout = 2
PongTimeout = 5
MaxPenaltyTime = 0
[Options]
DNS = no
Ident = no
PAM = no
SyslogFacility = local1
[Operator]
Name = alice
Password = sesame
[Channel]
Name = #lobby
Topic = A place for everybody
CONF
    ngircd --nodaemon --config "$work/ngircd.conf" >"$work/ngircd.log" 2>&1 &
    server=$!
    wait_for_port 6667
    record irc 6667
    "$python" "$recordings/irc-client.py"
    keep irc
}
