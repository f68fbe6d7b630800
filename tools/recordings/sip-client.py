"""A call: the messages come in pieces, several in one packet, and with empty lines between them that keep the connection alive."""

import socket
import time

BODY = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 6000 RTP/AVP 0\r\n"


def message(method, number, body="", length="Content-Length"):
    return "\r\n".join([f"{method} sip:bob@example SIP/2.0", f"Via: SIP/2.0/TCP 127.0.0.1;branch=z9hG4bK{number}", "From: <sip:alice@example>;tag=1", "To: <sip:bob@example>",
                        "Call-ID: by-hand", f"CSeq: {number} {method}", "Content-Type: application/sdp" if body else "Max-Forwards: 70",
                        f"{length}: {len(body)}", "", body]).encode()


with socket.create_connection(("127.0.0.1", 5060)) as sock:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    invite = message("INVITE", 1, BODY)
    for piece in (b"\r\n\r\n", invite[:9], invite[9:-100], invite[-100:-1], invite[-1:], message("ACK", 1, length="l") + b"\r\n\r\n" + message("BYE", 2, length="CONTENT-LENGTH   ")):
        sock.sendall(piece)
        time.sleep(0.1)
    time.sleep(0.3)
