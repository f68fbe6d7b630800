"""Checks that numbers stay what they are: no digit is lost, and what is missing is counted."""

import json

import mock_server
import one_file
from checks_files import ROWS, show, texts
from checks_server import at

LARGE = 2**60 + 1
T = "2026-11-21T08:00:{:02}.000000000Z"


def frame(index, **more):
    return {"event": "frame", "connection": 1, "from": "client", "index": index, "time": T.format(index), "started": T.format(index), "offset": index * 10, "length": 10, "segments": 1, "merged": False, "type": "move", "heartbeat": False, "fields": {}, "body": {"length": 2, "text": "hi"}} | more


def page_of(folder, name, frames):
    opened = {"event": "opened", "connection": 1, "time": T.format(0), "transport": "tcp", "client": "10.0.0.1:4000", "server": "10.0.1.1:80", "handshake": True, "clientGuessed": False}
    (folder / f"{name}.html").write_text(one_file.page([{"event": "trace", "version": 2, "source": name, "tool": "frametap"}, opened, *frames]))


def large_numbers_keep_their_digits(browser, folder):
    values = [LARGE, LARGE - 1, 2**63, -(2**63), 7]
    page_of(folder, "large", [frame(index, fields={"id": value}, body={"length": 9, "json": {"id": value, "list": [value]}}) for index, value in enumerate(values)])
    show(browser, folder, "large", "view=frames")
    assert [text.split(" ")[0] for text in texts(browser, f"{ROWS} .c-preview")] == [f"id={value}" for value in values]
    assert f"list:[{LARGE}]" in texts(browser, f"{ROWS} .c-preview")[0]
    for filter, found in [(f"body.json.id == {LARGE}", 1), (f"fields.id > {LARGE - 1}", 2), ("fields.id < 8", 2), (f"body.json.list contains \"{LARGE}\"", 1)]:
        browser.run(f"(location.hash = new URLSearchParams({{view: 'frames', filter: {json.dumps(filter)}}}), 1)")
        browser.wait(f"document.querySelector('.filter-input').value === {json.dumps(filter)} && document.querySelector('.count').textContent.trim() === '{found} found'", f"{filter}: {found}")
    show(browser, folder, "large", "view=frames&event=2")
    shown = browser.wait("document.querySelector('.body-section') && document.querySelector('.detail').textContent")
    assert shown.count(str(LARGE)) >= 6 and str(LARGE - 1) not in shown, shown
    # What is saved is what came.
    browser.run("(URL.createObjectURL = (blob) => { window.kept = blob; return 'blob:kept'; }, URL.revokeObjectURL = () => {}, HTMLAnchorElement.prototype.click = () => {}, 1)")
    browser.keys("s")
    browser.wait("document.querySelector('dialog.save')")
    browser.run("(document.querySelector('dialog.save .primary').click(), 1)")
    lines = browser.wait("window.kept?.text()", "the file").splitlines()
    assert [json.loads(line)["body"]["json"]["list"][0] for line in lines if '"frame"' in line] == values


def numbers_are_read_and_written_as_they_came(browser, _):
    server, address = mock_server.serve(10)
    try:
        at(browser, address, "view=frames")
        for text in [
            "12345678901234567890", "-9007199254740993", "0.12345678901234567891", "1e400", "[1,2.5,-3]", '{"a":{"b":[9007199254740993,1,"9007199254740993"]}}', '"9007199254740993"', '[":9007199254740993"]', '["\\"",9007199254740993]',
            '{"9007199254740993":1}', '{"__proto__":9007199254740993}', "null", '["exact-1-2-3-4:5",9007199254740993]', "123456789.12345678",
        ]:
            again = browser.run(f"import('/source/exact-json.js').then(({{ readJSON, writeJSON }}) => writeJSON(readJSON({json.dumps(text)})))")
            assert again == text, (text, again)
        for text in ['{"a":9007199254740993,}', "[9007199254740993", "09007199254740993"]:
            said = browser.run(f"import('/source/exact-json.js').then(({{ readJSON }}) => {{ try {{ readJSON({json.dumps(text)}); return 'read'; }} catch (error) {{ return error.name; }} }})")
            assert said == "SyntaxError", (text, said)
    finally:
        server.shutdown()


def an_edited_body_keeps_its_other_numbers(browser, _):
    server, address = mock_server.serve(1000)
    traffic = server.RequestHandlerClass.traffic
    line = traffic.line(3)
    body = {"id": LARGE, "word": "one", "list": [2**64 - 1, 0.5]}
    line["fields"], line["body"] = {"room": {"id": LARGE}, "count": LARGE}, {"length": 50, "json": body}
    traffic.waiting[0]["line"] = line
    try:
        at(browser, address, "view=actions")
        browser.wait("document.querySelector('.held textarea')")
        assert json.loads(browser.run("document.querySelector('.held textarea').value")) == body
        browser.run("""(() => { const area = document.querySelector('.held textarea'); area.value = area.value.replace('one', 'two');
          const room = document.querySelector('.held [aria-label=room]'); room.value = room.value.replace('}', ',"more":true}');
          [...document.querySelectorAll('.held button')].find((e) => e.textContent === 'Release as edited').click(); return 1; })()""")
        browser.wait("!document.querySelector('.held')", "the decided frame leaves")
        assert traffic.done.pop() == ["POST", "listeners/chat/connections/1/decide", {
            "from": "client", "index": 3, "do": "replace", "fields": {"room": {"id": LARGE, "more": True}}, "body": {"json": body | {"word": "two"}}}]
        browser.run(f"""(() => {{ const form = document.querySelector('.send'); form.querySelector('textarea').value = '{{"id": {LARGE}}}'; form.requestSubmit(); return 1; }})()""")
        browser.wait("document.querySelector('.send [role=status]').textContent")
        assert traffic.done.pop()[2]["fields"] == {"id": LARGE}
    finally:
        server.shutdown()


def missing_bytes_of_frames_are_shown_and_found(browser, folder):
    page_of(folder, "missing", [frame(0), frame(1, body={"length": 2000, "hex": "00" * 32, "missing": 1448}), frame(2)])
    show(browser, folder, "missing", "view=frames")
    shown = texts(browser, f"{ROWS} .c-preview")
    assert ["missing" in text for text in shown] == [False, True, False] and "1,448 B missing" in shown[1], shown
    for filter, found in [("missing == 1448", 1), ("missing > 0", 1), ("missing == 0", 2), ("body.hex exists", 0), ("body.length == 2000", 1)]:
        browser.run(f"(location.hash = new URLSearchParams({{view: 'frames', filter: {json.dumps(filter)}}}), 1)")
        browser.wait(f"document.querySelector('.filter-input').value === {json.dumps(filter)} && document.querySelector('.count').textContent.trim() === '{found} found'", f"{filter}: {found}")
    show(browser, folder, "missing", "view=frames&event=3")
    browser.wait("document.querySelector('.facts')?.textContent.includes('1,448 of them missing')", "how much is missing")


def answers_that_are_not_in_the_file_are_not_missed(browser, folder):
    pairs = [{"role": "request", "event": None, "index": 0, "took": 0.25}, {"role": "request", "event": None, "index": None, "took": None}]
    page_of(folder, "parted", [frame(index, pair=pair) for index, pair in enumerate(pairs)])
    show(browser, folder, "parted", "view=conversation&connection=1")
    assert texts(browser, f"{ROWS} .c-took") == ["not in file", "no answer"], texts(browser, f"{ROWS} .c-took")
    for event, said in [(2, "answered after 250.0 ms; its answer is not in this file"), (3, "a request without an answer")]:
        show(browser, folder, "parted", f"view=frames&event={event}")
        assert texts(browser, ".detail .pair") == [said], texts(browser, ".detail .pair")


def frames_that_are_passed_on_are_not_counted(browser, folder):
    page_of(folder, "legs", [frame(index, leg=leg) for index in range(3) for leg in ("in", "out")])
    show(browser, folder, "legs", "view=overview")
    tile = "[...document.querySelectorAll('.tile')].find((e) => e.querySelector('dt').textContent === 'frames')?.querySelector('dd').textContent"
    assert browser.wait(tile, "how many") == "3", browser.run(tile)


CHECKS = [
    large_numbers_keep_their_digits, numbers_are_read_and_written_as_they_came, an_edited_body_keeps_its_other_numbers, missing_bytes_of_frames_are_shown_and_found, answers_that_are_not_in_the_file_are_not_missed,
    frames_that_are_passed_on_are_not_counted,
]
