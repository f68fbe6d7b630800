"""Two people talk; one of them is an operator; a third writes by hand."""

import socket
import time

import irc.client

irc.client.ServerConnection.buffer_class.errors = "replace"  # not all that comes is UTF-8
reactor = irc.client.Reactor()


def wait(seconds=0.3):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        reactor.process_once(0.05)


def connect(nick, **options):
    connection = reactor.server().connect("127.0.0.1", 6667, nick, **options)
    wait(0.6)
    return connection


alice, bob = connect("alice", ircname="Alice Example"), connect("bob", username="bob", ircname="")
for who in (alice, bob):
    who.join("#lobby")
    who.join("#room", "key")
wait()
alice.topic("#room", "Grüße: was gibt es Neues?")
alice.privmsg("#room", "Hello, 世界")
bob.privmsg("#room", ":-) :a colon in front")
bob.privmsg("alice", "a long line " * 35)
bob.notice("alice", "a notice")
bob.action("#room", "waves")
alice.ctcp("VERSION", "bob")
alice.privmsg_many(["bob", "#room", "nobody"], "to several")
wait()
alice.mode("#room", "+ntlk 10 key")
alice.mode("#room", "+b *!*@192.0.2.*")
alice.mode("#room", "+b")
alice.mode("alice", "+i")
alice.invite("bob", "#private")
bob.send_raw("AWAY :for a while")
alice.privmsg("bob", "are you there?")
for words in (("whois", ["bob"]), ("who", "#room"), ("names", ["#room"]), ("list", []), ("whowas", "nobody"), ("userhost", ["bob", "alice"]), ("ison", ["bob", "carol"]),
              ("version", ""), ("time", ""), ("admin", ""), ("info", ""), ("motd", ""), ("lusers", ""), ("stats", "u")):
    getattr(alice, words[0])(*([words[1]] if words[1] else []))
    wait(0.1)
bob.nick("robert")
alice.oper("alice", "wrong")
alice.oper("alice", "sesame")
alice.kick("#room", "robert", "that was enough")
alice.part("#lobby", "see you")
alice.join("#nothing bad")
wait(0.5)
# Silence: the server pings.
wait(4)
bob.quit("gone")
wait(0.5)

with socket.create_connection(("127.0.0.1", 6667)) as sock:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # Small letters, ends of lines of either kind, empty lines, several lines in one packet, and lines in pieces.
    for words in (b"CAP LS 302\r\n", b"nick car", b"ol\r", b"\nUSER carol 0 * :Carol\n", b"CAP REQ :multi-prefix\r\nCAP END\r\n", b"\r\n\r\nping one\r\nPING :two words\r\n",
                  b":carol JOIN #room key,#lobby\r\nJOIN #other,#lobby\r\n", b"PRIVMSG\r\nPRIVMSG alice\r\nNONSENSE a b :c d\r\nNICK alice\r\nMODE #lobby +o carol\r\n",
                  b"TOPIC #lobby\r\nPART #lobby,#other :\r\nPRIVMSG #other :not there\r\n", b"PRIVMSG alice :\x01PING 4711\x01\r\nPRIVMSG alice :\xff\xfe in no encoding\r\n"):
        sock.sendall(words)
        wait(0.4)
    alice.send_raw("KILL carol :go away")
    wait(0.5)
alice.disconnect("bye")
wait()
