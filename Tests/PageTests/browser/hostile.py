"""A trace whose every text tries to become markup, a script, or to mislead; and one of each rare event."""

CORPUS = [
    "<script>window.__hit = 1</script>", "<img src=x onerror='window.__hit = 1'>", "\"><svg onload=window.__hit=1>", "</script><script>window.__hit=1</script>",
    "javascript:window.__hit=1", "<iframe srcdoc='<script>parent.__hit=1</script>'>", "<style>*{display:none}</style>", "${window.__hit=1}", "{{constructor.constructor('window.__hit=1')()}}",
    "\u202egnp.exe\u202c", "\u2066hidden\u2069", "a\u0000b\u0007c\u001b[31mred\u001b[0m", "\u009b31m", "line\nbreak\r\n", "x" * 20_000, "&lt;b&gt;", "<b>bold</b>", "' onmouseover='window.__hit=1", "__proto__", "constructor", "\U0001f600" * 50,
    "A" + "\u0301" * 300, "..\\..\\etc/passwd", "%3Cscript%3E", "<a href='javascript:window.__hit=1'>click</a>", "--><script>window.__hit=1</script>",
]
T = "2026-11-21T08:00:{:02}.{:09}Z"


def hostile():
    lines = [{"event": "trace", "version": 2, "source": "<img src=x onerror=window.__hit=1>\u202egnp.pcap", "tool": "<b>tool</b>"}]
    for number, text in enumerate(CORPUS, 1):
        lines += [
            {"event": "opened", "connection": number, "time": T.format(0, number), "transport": "tcp", "client": text[:200], "server": f"<i>{number}</i>", "handshake": True, "clientGuessed": True},
            {"event": "format", "connection": number, "format": text, "by": text, "evidence": text},
            {"event": "tls", "connection": number, "time": T.format(0, number), "decrypted": None, "version": text, "suite": text, "serverName": text, "protocol": text, "certificate": {"subject": text, "names": [text]}},
        ]
        for index, side in enumerate(["client", "server"]):
            body = [{"text": text}, {"json": {text: [text, {text: text}]}}, {"protobuf": {"1": text}}, {"hex": text.encode("utf-8", "replace")[:300].hex()}][(number + index) % 4]
            data = text.encode("utf-8", "replace")[:500]
            lines.append({
                "event": "frame", "connection": number, "from": side, "index": 0, "time": T.format(1, number * 1000), "started": T.format(1, 0), "offset": 0, "length": max(1, len(data)), "segments": 2, "merged": True, "type": text,
                "heartbeat": False, "fields": {text: text, "nested": {text: [text]}}, "body": {"length": len(data), **body},
                "detail": {"hex": data.hex(), "hidden": False, "truncated": False, "parts": {"head": [0, 1], text: [1, 1]}, "fields": {text: [0, 2]}, "cuts": [{"at": 0, "time": "1763712000000000000", "packet": 1}, {"at": 1, "time": "1763712000000000001", "packet": 2}], "packets": [1, 2]}})
        lines += [
            {"event": "finding", "connection": number, "from": "client", "time": T.format(2, number), "kind": text[:60], "severity": "warning", "message": text, "data": {"index": 0, text: text, "blame": text}},
            {"event": "unframed", "connection": number, "from": "client", "time": T.format(2, number), "offset": 1, "length": 3, "reason": text, "detail": text, "hex": "3c623e"},
            {"event": "action", "connection": number, "from": "client", "time": T.format(2, number), "rule": text, "action": text, "index": 0, "type": text, "offset": 0, "length": 1, "passed": 1, "detail": text, "proven": None, "before": "", "after": ""},
            {"event": "closed", "connection": number, "time": T.format(3, number), "reason": text[:40], "by": "client", "detail": text, "client": {"bytes": 1}, "server": {"bytes": 1}},
        ]
    lines.append({"event": "summary", "connections": len(CORPUS), "frames": 2 * len(CORPUS), "bytes": 1, "framed": 1, "unframed": 0, "padding": 0, "missing": 0, "dropped": 0, "split": 0, "merged": 0, "heartbeats": 0, "findings": {}, "skipped": {CORPUS[0]: 3}})
    report = {"report": 1, "deliveries": [{"format": CORPUS[1], "sent": 1, "delivered": 1, "missing": 0, "twice": 0, "outOfOrder": 0, "absent": 0, "times": {"count": 0}}], "broadcasts": [], "connections": [], "roundTrips": [
        {"format": CORPUS[0], "request": CORPUS[1], "answer": CORPUS[2], "from": "client", "count": 3, "min": 0.001, "p50": 0.002, "p90": 0.003, "p99": 0.003, "max": 0.003}], "findings": [], "moreFindings": 0, "unlistedConnections": 0}
    return {"lines": lines, "report": report}


def trouble():
    """Resets, gaps, drops, rules, two legs, requests without answers, secrets."""
    lines = [{"event": "trace", "version": 2, "source": "trouble.pcapng", "tool": "frametap"}]
    for number in (1, 2, 3):
        for leg in ("in", "out"):
            lines.append({"event": "opened", "connection": number, "leg": leg, "time": T.format(0, number), "transport": "tcp", "client": f"10.0.0.{number}:4000", "server": "10.0.1.1:80", "handshake": True, "clientGuessed": False})
        lines.append({"event": "format", "connection": number, "leg": "in", "format": "chat", "by": "content", "evidence": "made up"})
        for index in range(6):
            request = len(lines)
            answered = index != 3
            lines.append({"event": "frame", "connection": number, "from": "client", "leg": "in", "index": index, "time": T.format(1 + index, number * 1000), "started": T.format(1 + index, number * 1000), "offset": index * 10, "length": 10, "segments": 1, "merged": False,
                          "type": "ask", "heartbeat": False, "fields": {"id": index, "password": "«secret»"}, "body": {"length": 2, "text": "hi"}, "detail": {"hex": "", "hidden": True, "truncated": False, "parts": {}, "fields": {}, "cuts": [], "packets": [index]},
                          "pair": {"role": "request", "event": request + 1 if answered else None, "index": index if answered else None, "took": 0.05 if answered else None}})
            if answered:
                lines.append({"event": "frame", "connection": number, "from": "server", "leg": "in", "index": index, "time": T.format(1 + index, 50_000_000 + number * 1000), "started": T.format(1 + index, 50_000_000), "offset": index * 5, "length": 5, "segments": 1, "merged": False,
                              "type": "answer", "heartbeat": False, "fields": {"id": index}, "body": {"length": 1, "text": "k"}, "pair": {"role": "answer", "event": request, "index": index, "took": 0.05}})
            else:
                lines.append({"event": "finding", "connection": number, "from": "server", "time": T.format(5, 0), "kind": "unanswered", "severity": "warning", "message": "ask 3 was not answered within 1 s", "data": {"index": index, "type": "ask", "within": 1.0}})
        lines += [
            {"event": "missing", "connection": number, "from": "server", "leg": "in", "time": T.format(7, number), "offset": 100, "length": 1448},
            {"event": "dropped", "connection": number, "from": "server", "leg": "in", "time": T.format(7, number), "offset": 100, "length": 1448, "reason": "recorder too slow"},
            {"event": "unframed", "connection": number, "from": "client", "leg": "in", "time": T.format(7, number), "offset": 60, "length": 3, "reason": "bad-head", "detail": "no head", "hex": "010203"},
            {"event": "action", "connection": number, "from": "client", "time": T.format(7, number), "rule": "slow", "action": "delay", "index": 2, "type": "ask", "offset": 20, "length": 10, "passed": 10, "detail": "by 1 s", "proven": None, "before": "", "after": ""},
            {"event": "closed", "connection": number, "leg": "in", "time": T.format(9, number), "reason": "reset", "by": "server", "client": {"bytes": 63}, "server": {"bytes": 1500}},
        ]
    return {"lines": lines, "report": None}
