"""What ends in an error, and what the other clients do not say."""

import smtplib
import socket
import time

with smtplib.SMTP("127.0.0.1", local_hostname="client.example") as client:
    client.helo()
    client.ehlo()
    client.verify("bob@example")
    client.expn("all")
    client.help()
    client.noop()
    client.docmd("NONSENSE", "with words")
    client.docmd("RCPT", "TO:<bob@example>")
    client.docmd("MAIL", "FROM:<>")
    client.rset()
    client.docmd("MAIL", "FROM:<alice@example> SIZE=99999999")
    client.sendmail("alice@example", ["bob@example"], "Subject: empty\r\n\r\n")
    client.sendmail("alice@example", ["bob@example"], "Grüße, 世界\r\n.\r\n".encode(), ["SMTPUTF8", "BODY=8BITMIME"])
    for letter in ("refuse me", "a long line\r\n" * 200):
        try:
            client.sendmail("alice@example", ["bob@example", "carol@example"], letter)
        except smtplib.SMTPDataError:
            pass
    client.docmd("AUTH", "LOGIN")
    client.docmd("*")
    client.login("alice", "sesame")

# All at once, and in pieces.
with socket.create_connection(("127.0.0.1", 25)) as sock:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.recv(4096)
    sock.sendall(b"EHLO client.example\r\n")
    time.sleep(0.1)
    sock.recv(4096)
    sock.sendall(b"MAIL FROM:<alice@example>\r\nRCPT TO:<bob@example>\r\nRCPT TO:<nobody@example>\r\nDATA\r\n")
    time.sleep(0.2)
    for piece in (b"Subject: in pieces\r", b"\n\r\n.", b".dot\r\n.\r", b"\nMAIL FROM:<alice@example>\r\nRS", b"ET\r\nquit\r\n"):
        sock.sendall(piece)
        time.sleep(0.1)
    while sock.recv(4096):
        pass
