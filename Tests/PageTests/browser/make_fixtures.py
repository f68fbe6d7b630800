"""Writes the fixtures of the page's tests: traces of this repository's captures, with what the page's data have beside a trace's lines.

    make_fixtures.py FRAMETAP CAPTURE[,CAPTURE…] [OPTION…]  > fixtures/NAME.json

FRAMETAP is the built program. `detail` (bytes, parts, cuts) comes from the streams that `frametap streams` writes; pairs from the report.
"""

import collections
import json
import pathlib
import subprocess
import sys
import tempfile


def nanoseconds(text):
    import datetime
    whole = datetime.datetime.strptime(text[:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=datetime.timezone.utc)
    return int(whole.timestamp()) * 1_000_000_000 + int(text[20:29])


def streams(program, capture, options):
    folder = tempfile.mkdtemp()
    subprocess.run([program, "streams", *capture.split(","), "--directory", folder, *options], stdout=subprocess.DEVNULL, check=True)
    return pathlib.Path(folder)


def detail(line, content):
    data = content[line["offset"]:line["offset"] + line["length"]]
    if len(data) != line["length"] or "missing" in line["body"]:
        return None
    if "«secret»" in json.dumps(line, ensure_ascii=False):
        return {"hex": "", "hidden": True, "truncated": False, "parts": {}, "fields": {}, "cuts": [], "packets": []}
    body = line["body"]["length"]
    places = {}
    at = 0
    for name, value in line["fields"].items():
        found = data.find(str(value).encode(), at) if isinstance(value, str) and value else -1
        if found >= 0:
            places[name] = [found, len(value.encode())]
    text = line["body"].get("text")
    head = line["length"] - body
    if text is not None and not data.endswith(data[head:]) or text is not None and data[head:head + body] != text.encode()[:body]:
        head = max(0, data.find((text or "").encode()))
    count = line["segments"]
    began, ended = nanoseconds(line["started"]), nanoseconds(line["time"])
    cuts = [{"at": len(data) * part // count, "time": str(began + (ended - began) * part // max(1, count - 1)), "packet": line["index"] * 7 + 4 + part} for part in range(min(count, 64))]
    return {"hex": data[:65536].hex(), "hidden": False, "truncated": len(data) > 65536, "parts": {"head": [0, head], "body": [head, body]}, "fields": places,
            "cuts": cuts, "packets": [cut["packet"] for cut in cuts]}


def pair(lines, report):
    """Joins answers to requests in order, by the types that the report has as pairs."""
    answers = {(row["answer"], "server" if row["from"] == "client" else "client"): [] for row in report["roundTrips"]}
    for row in report["roundTrips"]:
        answers[row["answer"], "server" if row["from"] == "client" else "client"].append(row["request"])
    requests = {(row["request"], row["from"]) for row in report["roundTrips"]}
    waiting = collections.defaultdict(collections.deque)
    for event, line in enumerate(lines):
        if line["event"] != "frame":
            continue
        kind = (line["type"] or "-", line["from"])
        if kind in answers:
            queue = waiting[line["connection"], "client" if line["from"] == "server" else "server"]
            found = next((each for each in queue if (lines[each]["type"] or "-") in answers[kind]), None)
            if found is not None:
                queue.remove(found)
                took = (nanoseconds(line["time"]) - nanoseconds(lines[found]["time"])) / 1e9
                line["pair"] = {"role": "answer", "event": found, "index": lines[found]["index"], "took": took}
                lines[found]["pair"] = {"role": "request", "event": event, "index": line["index"], "took": took}
                continue
        if kind in requests:
            waiting[line["connection"], line["from"]].append(event)
            line["pair"] = {"role": "request", "event": None, "index": None, "took": None}


def fixture(program, capture, options):
    run = lambda *command: subprocess.run([program, *command], stdout=subprocess.PIPE, check=True).stdout.decode()
    lines = [json.loads(line) for line in run("decode", *capture.split(","), "--as", "ndjson", "--hazards", *options).splitlines()]
    report = json.loads(run("report", *capture.split(","), "--as", "json", *options))
    lines[0]["source"] = report["source"] = ", ".join(pathlib.Path(each).name for each in capture.split(","))
    pair(lines, report)
    keys = [option for place, option in enumerate(options) if option == "--key-log" or (place > 0 and options[place - 1] == "--key-log")]
    folder = streams(program, capture, keys)
    files = {}
    for line in lines:
        if line["event"] == "frame":
            key = line["connection"], line["from"]
            if key not in files:
                found = [path for path in sorted(folder.iterdir()) if path.name.split("-")[0].lstrip("0") == str(key[0]) and key[1] in path.name]
                files[key] = found[0].read_bytes() if found else b""
            line["detail"] = detail(line, files[key])
    return {"lines": lines, "report": report}


if __name__ == "__main__":
    json.dump(fixture(sys.argv[1], sys.argv[2], sys.argv[3:]), sys.stdout, ensure_ascii=False, separators=(",", ":"))
