"""Messages by hand: in pieces and several in one packet, a gap in the numbers, a message sent again, a wrong sum, and what the broker refuses."""

import datetime
import socket
import time

number = 0


def message(kind, *fields, sequence=None, wrong=False):
    global number
    number = number + 1 if sequence is None else sequence
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%d-%H:%M:%S.%f")[:-3]
    body = "".join(f"{field}\x01" for field in (f"35={kind}", f"34={number}", "49=HAND", f"52={now}", "56=BROKER", *fields)).encode()
    start = b"8=FIX.4.4\x019=%d\x01" % len(body) + body
    return start + b"10=%03d\x01" % ((sum(start) + wrong) % 256)


def order(name, *fields):
    return message("D", f"11={name}", "55=ABC", "54=1", "60=20261121-08:00:00", "40=2", "38=100", *fields)


with socket.create_connection(("127.0.0.1", 9878)) as sock:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def say(*parts):
        for part in parts:
            sock.sendall(part)
            time.sleep(0.1)
        time.sleep(0.2)
        return sock.recv(65536, socket.MSG_DONTWAIT)

    logon = message("A", "98=0", "108=30")
    say(logon[:1], logon[1:13], logon[13:-4], logon[-4:])
    one, two, three = order("H1"), order("H2", "44=12.5"), order("H3")
    say(one + two + three[:20], three[20:])
    say(message("1", "112=hello"))
    # A field that there is not, a value that is none, a required field that is missing.
    say(order("H4", "9999=?"))
    say(order("H5", "44=much"))
    say(message("D", "11=H6"))
    # The broker misses two: it asks for them, and is told that there is nothing to send.
    say(message("1", "112=gap", sequence=number + 3))
    last = number
    sock.sendall(message("4", "43=Y", "122=20261121-08:00:00", "123=Y", f"36={last + 1}", sequence=last - 2))
    number = last
    say(message("2", "7=1", "16=0"))
    # Nothing comes back to a wrong sum.
    sock.sendall(message("1", "112=wrong", wrong=True))
    number -= 1
    time.sleep(0.2)
    say(message("5", "58=bye"))
