"""What the page shows of the real program: real sockets, real captures. FRAMETAP names the program; without it, that of the debug build."""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request

from checks_server import READY

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = os.environ.get("FRAMETAP") or str(ROOT / ".build" / "debug" / "frametap")


class Program:
    """frametap with a page; what it says on standard error is read as it comes."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([PROGRAM, *arguments], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        self.said = []

    def says(self, pattern):
        while True:
            for line in self.said:
                found = re.search(pattern, line)
                if found:
                    return found.group(1)
            line = self.process.stderr.readline()
            assert line, f"frametap ended: {self.said}"
            self.said.append(line)

    def close(self):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.process.stderr.close()


class LineServer:
    """Keeps the lines that arrive, and answers each."""

    def __init__(self):
        self.lines = []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def receives(self, line):
        """Waits for a line: it may be on its way, or in a thread that has not run yet."""
        deadline = time.monotonic() + 20
        while line not in self.lines:
            assert time.monotonic() < deadline, f"the server did not get {line!r}, but {self.lines}"
            time.sleep(0.02)

    def serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.talk, args=(connection,), daemon=True).start()

    def talk(self, connection):
        with connection, connection.makefile("rb") as lines:
            try:
                for line in lines:
                    self.lines.append(line.decode())
                    connection.sendall(b"got it\n")
            except OSError:
                pass


def a_held_frame_is_edited_and_the_server_gets_the_edit(browser, _):
    server = LineServer()
    program = Program("proxy", "--listen", "127.0.0.1:0", "--to", f"127.0.0.1:{server.port}", "--format", "line", "--web", "127.0.0.1:0", "--as", "none")
    try:
        page, port = program.says(r"page at (\S+)"), program.says(r"listening on 127\.0\.0\.1:(\d+)")
        browser.open(page)
        browser.wait("document.querySelector('main')?.childElementCount > 0", "the page")
        assert browser.run("location.search + document.cookie") == "", "neither the token nor the cookie is for scripts"
        browser.run("(location.hash = 'view=actions', 1)")
        browser.wait("document.querySelectorAll('.switches .add').length === 2", "rules and breakpoints")
        browser.run("""(() => { const form = document.querySelectorAll('.switches .add')[1]; form.querySelector('input').value = 'body.text startsWith "pay"'; form.requestSubmit(); return 1; })()""")
        browser.wait("document.querySelectorAll('.switches [role=switch]').length === 1", "the breakpoint")
        with socket.create_connection(("127.0.0.1", int(port))) as client:
            client.settimeout(20)
            client.sendall(b"hello\npay 5\nbye\n")
            browser.wait("document.querySelector('.held textarea')?.value === 'pay 5'", "the held frame")
            server.receives("hello\n")
            assert server.lines == ["hello\n"], f"while it was held: {server.lines}"
            browser.run("""(() => { const area = document.querySelector('.held textarea'); area.value = 'pay 7'; area.dispatchEvent(new Event('input'));
              [...document.querySelectorAll('.held button')].find((e) => e.textContent === 'Release as edited').click(); return 1; })()""")
            answers = b""
            while answers.count(b"\n") < 3:
                answers += client.recv(100)
        assert server.lines == ["hello\n", "pay 7\n", "bye\n"], server.lines
        browser.wait("!document.querySelector('.held')", "nothing is held any more")
        # Live, in the list of frames: what both sides sent, and what was done.
        browser.run("(location.hash = 'view=frames&kinds=all', 1)")
        browser.wait("document.querySelector('.list-window')?.textContent.includes('replace')", "the action")
        assert browser.errors() == []
        # Without the cookie, or for another site, there is nothing.
        address = re.match(r"http://[^/]+", page).group(0)
        for headers in [{}, {"Host": "evil.example"}, {"Origin": "http://evil.example"}]:
            try:
                urllib.request.urlopen(urllib.request.Request(f"{address}/api/v1/page/state", headers=headers), timeout=20)
                raise AssertionError(f"{headers} was let in")
            except urllib.error.HTTPError as error:
                assert error.code == 403, error.code
    finally:
        browser.open("about:blank")
        browser.events.clear()
        program.close()
        server.socket.close()


def a_capture_is_shown_as_decode_shows_it(browser, _):
    for capture, options in [("im-json/chat.pcap", []), ("tlv32/conversation.pcap", []), ("examples/redis.pcap", ["--format", "example:redis"]), ("blame/sender-leaves.pcap", [])]:
        path = str(ROOT / "fixtures" / capture)
        lines = [json.loads(line) for line in subprocess.run([PROGRAM, "decode", path, "--as", "ndjson", *options], capture_output=True, check=True).stdout.splitlines()]
        frames = [line for line in lines if line["event"] == "frame"]
        program = Program("view", path, "--no-open", *options)
        try:
            browser.open(program.says(r"page at (\S+)"))
            browser.run("(location.hash = 'view=frames', 1)")
            if frames:
                browser.wait(READY)
            # What the server says, as the page asks for it.
            ask = lambda query: browser.run(f"fetch('/api/v1/page/{query}').then((answer) => answer.json())")
            browser.wait("fetch('/api/v1/page/state').then((answer) => answer.json()).then((state) => state.finished)", "the end")
            assert ask("frames?from=0&count=1")["total"] == len(frames), capture
            assert ask("findings")["groups"] is not None
            # The report looks for deliveries, decode does not.
            kinds = {group["kind"]: group["count"] for group in ask("findings")["groups"] if not group["kind"].startswith("delivery-")}
            expected = {}
            for line in lines:
                if line["event"] == "finding":
                    expected[line["kind"]] = expected.get(line["kind"], 0) + 1
            assert kinds == expected, (capture, kinds, expected)
            assert ask("report")["summary"]["frames"] == len(frames), capture
            for view in ["overview", "connections", "timeline", f"conversation&connection={frames[0]['connection'] if frames else 1}", "findings", "roundtrips"]:
                browser.run(f"(location.hash = 'view={view}', 1)")
                browser.wait(f"new URLSearchParams(location.hash.slice(1)).get('view') === '{view.split('&')[0]}' && document.querySelector('main').textContent.length > 20", f"{view} of {capture}")
            if frames:
                browser.run("(location.hash = 'view=frames&event=' + 3, 1)")
                browser.wait("document.querySelector('aside, .detail')?.textContent.length > 50", "a frame")
            assert browser.errors() == [], browser.errors()
        finally:
            # A page whose program is gone would try to reach it.
            browser.open("about:blank")
            browser.events.clear()
            program.close()


CHECKS = [a_held_frame_is_edited_and_the_server_gets_the_edit, a_capture_is_shown_as_decode_shows_it] if os.access(PROGRAM, os.X_OK) else []
