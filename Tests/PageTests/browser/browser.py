"""Chromium and Firefox through WebDriver BiDi, with Python's standard library only.

Chromium is driven through chromedriver; Firefox speaks BiDi itself (--remote-debugging-port), so it needs no driver.
"""

import base64
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request

from websocket import WebSocket

KEYS = {
    "Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004", "ArrowDown": "\ue015", "ArrowUp": "\ue013", "ArrowLeft": "\ue012", "ArrowRight": "\ue014",
    "PageDown": "\ue00f", "PageUp": "\ue00e", "Home": "\ue011", "End": "\ue010", "Space": " ", "Shift": "\ue008", "Backspace": "\ue003",
}


class BrowserError(Exception):
    pass


class BrowserLost(BrowserError):
    """The browser answers no more: it ended, or hangs."""


class Browser:
    """One browser with one tab."""

    def __init__(self, name):
        self.name = name
        self.profile = tempfile.mkdtemp(prefix="frametap-page-")
        self.number = 0
        self.events = []
        self.lost = False
        start = {"chromium": self._chromium, "firefox": self._firefox}[name]
        start()
        self.command("session.subscribe", {"events": ["log.entryAdded"]})
        self.tab = self.command("browsingContext.getTree", {})["contexts"][0]["context"]

    @staticmethod
    def missing(name):
        """What is missing to drive a browser; None if nothing is."""
        wanted = {"chromium": [("chromedriver",), ("chromium", "chromium-browser", "google-chrome")], "firefox": [("firefox-esr", "firefox")]}[name]
        for names in wanted:
            if not any(shutil.which(each) for each in names):
                return " or ".join(names)
        return None

    def _spawn(self, command, pattern):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, text=True, errors="replace")
        end = time.monotonic() + 60
        for line in self.process.stdout:
            found = re.search(pattern, line)
            if found:
                # Nobody reads what follows; a full pipe must not stop the browser.
                subprocess.Popen(["cat"], stdin=self.process.stdout, stdout=subprocess.DEVNULL, start_new_session=True)
                return found.group(1)
            if time.monotonic() > end:
                break
        raise BrowserError(f"{command[0]} did not start")

    def _chromium(self):
        binary = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        port = self._spawn(["chromedriver", "--port=0"], r"started successfully on port (\d+)")
        options = {"binary": binary, "args": [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-precise-memory-info", "--js-flags=--expose-gc", f"--user-data-dir={self.profile}"]}
        body = json.dumps({"capabilities": {"alwaysMatch": {"webSocketUrl": True, "goog:chromeOptions": options}}}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{port}/session", body, {"Content-Type": "application/json"})
        value = json.load(urllib.request.urlopen(request, timeout=90))["value"]
        self.socket = WebSocket(value["capabilities"]["webSocketUrl"])
        self.driver = (port, value["sessionId"])

    def _firefox(self):
        binary = shutil.which("firefox-esr") or shutil.which("firefox")
        with open(os.path.join(self.profile, "user.js"), "w") as file:
            file.write('user_pref("browser.shell.checkDefaultBrowser", false);\nuser_pref("datareporting.policy.dataSubmissionEnabled", false);\n'
                       'user_pref("app.update.enabled", false);\nuser_pref("remote.active-protocols", 1);\nuser_pref("network.captive-portal-service.enabled", false);\n')
        address = self._spawn([binary, "--headless", "--no-remote", "--profile", self.profile, "--remote-debugging-port", "0"], r"WebDriver BiDi listening on (ws://\S+)")
        self.socket = WebSocket(address + "/session")
        self.command("session.new", {"capabilities": {}})
        self.driver = None

    def command(self, method, parameters):
        try:
            return self._command(method, parameters)
        except OSError as error:
            self.lost = True
            raise BrowserLost(f"no answer to {method} {json.dumps(parameters)[:200]}: {error}; {self._processes()}") from None

    def _processes(self):
        """What the browser's processes do, to tell one that hangs from one that ended or waits; Linux only."""
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                name, _, rest = path.read_text(errors="replace").partition("(")[2].rpartition(")")
            except OSError:
                continue
            fields = rest.split()
            # proc(5): the state, the parent, the group, the session; ticks in user and kernel mode follow as 14 and 15.
            if fields[3] == str(self.process.pid):
                found.append(f"{name} {fields[0]} {(int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK'):.0f} s")
        return "its processes, with state and processor time: " + (", ".join(sorted(found)) or "none")

    def _command(self, method, parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.receive())
            if message.get("type") == "event":
                self.events.append(message)
            elif message.get("id") == self.number:
                if message.get("type") == "error":
                    raise BrowserError(f"{method}: {message['error']}: {message['message'][:400]}")
                return message["result"]

    def open(self, address):
        self.command("browsingContext.navigate", {"context": self.tab, "url": address, "wait": "complete"})

    def reload(self):
        self.command("browsingContext.reload", {"context": self.tab, "wait": "complete"})

    def size(self, width, height):
        self.command("browsingContext.setViewport", {"context": self.tab, "viewport": {"width": width, "height": height}, "devicePixelRatio": 1})

    def run(self, code):
        """The JSON value of an expression, or of what its promise gives; True for an element."""
        result = self.command("script.evaluate", {
            "expression": f"(async () => JSON.stringify(((value) => value instanceof Node || value)(await ({code}))))()", "target": {"context": self.tab}, "awaitPromise": True, "resultOwnership": "none"})
        if result["type"] == "exception":
            raise BrowserError(result["exceptionDetails"]["text"][:600])
        value = result["result"].get("value")
        return None if value is None else json.loads(value)

    def wait(self, code, what=None, seconds=60):
        """Waits until an expression is true; its value."""
        end = time.monotonic() + seconds
        while True:
            value = self.run(code)
            if value:
                return value
            if time.monotonic() > end:
                raise BrowserError(f"waited in vain for {what or code}; the errors: {self.errors()}")
            time.sleep(0.05)

    def keys(self, *keys):
        actions = []
        held = []
        for key in keys:
            if key == "Shift":
                actions.append({"type": "keyDown", "value": KEYS["Shift"]})
                held.append(KEYS["Shift"])
                continue
            value = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        actions += [{"type": "keyUp", "value": value} for value in held]
        self.command("input.performActions", {"context": self.tab, "actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def type(self, text):
        self.keys(*text)

    def click(self, selector, shift=False):
        box = self.wait(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); if (!e) return null; e.scrollIntoView({{block: 'nearest'}}); const r = e.getBoundingClientRect(); return r.width ? [r.x + r.width / 2, r.y + r.height / 2] : null; }})()", f"{selector} to click")
        self.click_at(*box, shift=shift)

    def click_at(self, x, y, shift=False, kind="mouse"):
        self.drag([(x, y)], shift, kind)

    def drag(self, points, shift=False, kind="mouse"):
        """Presses at the first point and lets go at the last one. kind: mouse or touch."""
        places = [{"type": "pointerMove", "x": round(x), "y": round(y)} for x, y in points]
        actions = [places[0], {"type": "pointerDown", "button": 0}, *places[1:], {"type": "pointerUp", "button": 0}]
        keys = []
        if shift:
            actions = [{"type": "pause"}, *actions]
            keys = [{"type": "key", "id": "keyboard", "actions": [{"type": "keyDown", "value": KEYS["Shift"]}, *[{"type": "pause"}] * (len(actions) - 1), {"type": "keyUp", "value": KEYS["Shift"]}]}]
        self.command("input.performActions", {"context": self.tab, "actions": [*keys, {"type": "pointer", "id": kind, "parameters": {"pointerType": kind}, "actions": actions}]})

    def fingers(self, *paths):
        """Several fingers at once, each along its points; all have as many."""
        self.command("input.performActions", {"context": self.tab, "actions": [{"type": "pointer", "id": f"finger{number}", "parameters": {"pointerType": "touch"}, "actions": [
            {"type": "pointerMove", "x": round(path[0][0]), "y": round(path[0][1])}, {"type": "pointerDown", "button": 0},
            *[{"type": "pointerMove", "x": round(x), "y": round(y)} for x, y in path[1:]], {"type": "pointerUp", "button": 0}]} for number, path in enumerate(paths)]})

    def move_to(self, x, y):
        self.command("input.performActions", {"context": self.tab, "actions": [{"type": "pointer", "id": "mouse", "actions": [{"type": "pointerMove", "x": round(x), "y": round(y)}]}]})

    def wheel(self, x, y, by):
        self.command("input.performActions", {"context": self.tab, "actions": [{"type": "wheel", "id": "wheel", "actions": [
            {"type": "scroll", "x": round(x), "y": round(y), "deltaX": 0, "deltaY": by}]}]})

    def screenshot(self, path):
        data = self.command("browsingContext.captureScreenshot", {"context": self.tab})["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def errors(self):
        """What the page complained about: errors of scripts and of the content security policy."""
        return [event["params"].get("text", "")[:300] for event in self.events if event["method"] == "log.entryAdded" and event["params"].get("level") == "error"]

    def close(self):
        try:
            if self.lost:
                pass
            elif self.driver:
                port, session = self.driver
                urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/session/{session}", method="DELETE"), timeout=20).read()
            else:
                self.command("browser.close", {})
        except (OSError, BrowserError):
            pass
        try:
            self.process.wait(0 if self.lost else 5)
            # The driver's end does not end a browser that was lost.
            ends = self.lost
        except subprocess.TimeoutExpired:
            ends = True
        if ends:
            try:
                os.killpg(self.process.pid, signal.SIGKILL if self.lost else signal.SIGTERM)
            except ProcessLookupError:
                pass
        self.socket.close()
        shutil.rmtree(self.profile, ignore_errors=True)
