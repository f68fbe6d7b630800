"""How the servers end a connection."""

import socket


def close(sock):
    """Closes it so that every client sees an end of stream: one with bytes that nobody has read is reset, if they came in time."""
    try:
        sock.shutdown(socket.SHUT_WR)
        while sock.recv(65536):
            pass
    except OSError:
        pass
    sock.close()
