"""Requests in pieces and several in one packet; media of the client between them; pause, parameters, and what is refused."""

import re
import socket
import time

URL = "rtsp://127.0.0.1/tone"
AUTHORIZATION = "Authorization: Basic YWxpY2U6c2VzYW1l"
count = 0


def request(method, url=URL, *headers, body=""):
    global count
    count += 1
    lines = [f"{method} {url} RTSP/1.0", f"CSeq: {count}", AUTHORIZATION, *headers]
    if body:
        lines += ["Content-Type: text/parameters", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", body]).encode()


with socket.create_connection(("127.0.0.1", 554)) as sock:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def say(*parts, wait=0.2):
        for part in parts:
            sock.sendall(part)
            time.sleep(0.05)
        time.sleep(wait)
        return sock.recv(65536)

    options = request("OPTIONS", "*")
    say(options[:3], options[3:-1], options[-1:])
    say(request("OPTIONS") + request("DESCRIBE", URL, "Accept: application/sdp") + request("DESCRIBE", "rtsp://127.0.0.1/nothing"))
    say(request("DESCRIBE", URL, "Accept: text/html") + request("NONSENSE") + request("SETUP", URL + "/stream=7", "Transport: RTP/AVP/TCP;unicast;interleaved=0-1"))
    answer = say(request("SETUP", URL + "/stream=0", "Transport: RTP/AVP;unicast;client_port=5000-5001", "Transport: RTP/AVP/TCP;unicast;interleaved=2-3")).decode()
    if not (session := re.search(r"Session: *([^;\r\n]+)", answer)):
        answer = say(request("SETUP", URL + "/stream=0", "Transport: RTP/AVP/TCP;unicast;interleaved=2-3")).decode()
        session = re.search(r"Session: *([^;\r\n]+)", answer)
    session = f"Session: {session[1]}"
    say(request("PLAY", URL, session, "Range: npt=0-"), wait=0.4)
    # An empty receiver report of RTCP, then a request, then half a report.
    report = b"$\x03\x00\x08\x80\xc9\x00\x01\x00\x00\x12\x67"
    say(report + request("GET_PARAMETER", URL, session) + report[:5], report[5:] + request("SET_PARAMETER", URL, session, body="volume: 11\r\n"), wait=0.1)
    say(request("GET_PARAMETER", URL, session, body="volume\r\npackets_received\r\n"))
    say(request("PAUSE", URL, session))
    say(request("PLAY", URL, session))
    say(request("TEARDOWN", URL, session))
    say(request("PLAY", URL, session))
