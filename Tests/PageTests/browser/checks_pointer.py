"""Checks of what the mouse and fingers do: dragging on the timeline, and selecting a stretch with Shift."""

import json

import mock_server
from checks_files import ROWS, settle, show, texts
from checks_server import at

FROM = "new URLSearchParams(location.hash.slice(1)).get('from')"
SPAN = "(() => { const p = new URLSearchParams(location.hash.slice(1)); return p.get('from') ? Number(BigInt(p.get('to')) - BigInt(p.get('from'))) : 0; })()"
CANVAS = "(() => { const r = document.querySelector('.timeline-canvas').getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })()"
PAUSE = "new Promise((done) => setTimeout(() => done(1), 300))"
# What would be saved, without a download.
KEPT = """(() => { URL.createObjectURL = (blob) => { window.kept = blob; return 'blob:kept'; }; URL.revokeObjectURL = () => {}; HTMLAnchorElement.prototype.click = function () { window.keptAs = this.download; }; return 1; })()"""


def zoomed(browser, folder):
    """The timeline of `blame`, zoomed in; the canvas's box, and the span."""
    show(browser, folder, "blame", "view=timeline")
    browser.keys("+")
    span = browser.wait(SPAN, "a zoomed range in the address")
    browser.run(PAUSE)
    return browser.run(CANVAS), span


def saved(browser, kind="trace"):
    """What the dialog saves: its lines and the file's name."""
    browser.run(KEPT)
    browser.run(f"(document.querySelector('dialog.save select').value = '{kind}', document.querySelector('dialog.save .primary').click(), 1)")
    text, name = browser.wait("window.kept ? window.kept.text().then((text) => [text, window.keptAs]) : null", "the file")
    browser.run("(window.kept = null, 1)")
    return [json.loads(line) for line in text.splitlines()], name


def dragging_the_timeline_pans_it(browser, folder):
    for kind in ("mouse", "touch"):
        (x, y, width, _), span = zoomed(browser, folder)
        start = browser.run(FROM)
        browser.drag([(x + width * 0.7, y + 60), (x + width * 0.6, y + 60), (x + width * 0.5, y + 60)], kind=kind)
        browser.wait(f"BigInt({FROM}) > {start}n", f"{kind}: later")
        browser.run(PAUSE)
        assert abs(browser.run(SPAN) - span) <= 2, "panning changes how much is shown"
        later = browser.run(FROM)
        browser.drag([(x + width * 0.5, y + 60), (x + width * 0.6, y + 60), (x + width * 0.7, y + 60)], kind=kind)
        browser.wait(f"BigInt({FROM}) < {later}n", f"{kind}: earlier")
        assert not texts(browser, ".detail h2"), "a drag opens nothing"
        # A stretch is not selected by panning.
        assert browser.run("document.querySelector('.selection').textContent") == ""


def dragging_on_the_axis_zooms(browser, folder):
    for kind in ("mouse", "touch"):
        (x, y, width, _), span = zoomed(browser, folder)
        room = width - 200
        browser.drag([(x + 200 + room * 0.5, y + 10), (x + 200 + room * 0.4, y + 10), (x + 200 + room * 0.25, y + 10)], kind=kind)
        browser.wait("document.querySelector('.selection').textContent.includes('selected')", f"{kind}: a selected stretch")
        browser.click(".selection button.link")
        browser.wait(f"Math.abs({SPAN} - {span} / 4) < {span} / 50", f"{kind}: a quarter of what was shown")
        assert browser.run("document.querySelector('.selection').textContent") == ""


def shift_selects_a_stretch_of_the_timeline(browser, folder):
    (x, y, width, _), span = zoomed(browser, folder)
    start = int(browser.run(FROM))
    room = width - 200
    browser.drag([(x + 200 + room * 0.2, y + 80), (x + 200 + room * 0.4, y + 80), (x + 200 + room * 0.6, y + 80)], shift=True)
    browser.wait("document.querySelector('.selection').textContent.includes('selected')", "a selected stretch")
    browser.run(PAUSE)
    assert int(browser.run(FROM)) == start, "selecting does not pan"
    browser.keys("s")
    browser.wait("document.querySelectorAll('dialog.save [type=radio]')[1]?.checked", "the selected stretch is chosen")
    lines, name = saved(browser)
    assert name == "frametap-trace.ndjson", name
    times = [nanoseconds(line["time"]) for line in lines if line["event"] in ("frame", "finding", "closed")]
    low, high = start + span * 0.2, start + span * 0.6
    assert times and low - span / 100 <= min(times) and max(times) <= high + span / 100, (low, min(times), max(times), high)
    assert not [line for line in lines if line["event"] == "summary"], "the summary is that of everything"


def nanoseconds(text):
    import make_fixtures
    return make_fixtures.nanoseconds(text)


def shift_selects_a_stretch_of_a_list(browser, folder):
    for view in ("frames", "conversation"):
        show(browser, folder, "chat", f"view={view}")
        browser.wait(f"document.querySelectorAll('{ROWS}').length > 12")
        row = "#main .list-window .row[data-index='{}']"
        browser.click(row.format(3))
        browser.click(row.format(8), shift=True)
        selected = "[...document.querySelectorAll('#main .list-window [aria-selected=true]:not([hidden])')].map((e) => Number(e.dataset.index)).sort((a, b) => a - b)"
        browser.wait(f"JSON.stringify({selected}) === '[3,4,5,6,7,8]'", f"{view}: six rows")
        browser.run("document.querySelector('#main .list').focus()")
        browser.command("input.releaseActions", {"context": browser.tab})
        browser.keys("Shift", "ArrowDown", "ArrowDown")
        browser.wait(f"JSON.stringify({selected}) === '[3,4,5,6,7,8,9,10]'", f"{view}: eight rows")
        times = browser.run("[3, 10].map((n) => document.querySelector(`#main .list-window .row[data-index='${n}'] time`).title)")
        browser.keys("s")
        browser.wait("document.querySelectorAll('dialog.save [type=radio]')[1]?.checked", f"{view}: the selected stretch is chosen")
        lines, _ = saved(browser)
        frames = [line["time"] for line in lines if line["event"] == "frame"]
        assert (min(frames), max(frames)) == tuple(times), (view, times, frames)
        # Without Shift, it is one row again.
        browser.wait("!document.querySelector('dialog.save')")
        browser.click(row.format(5))
        browser.wait(f"JSON.stringify({selected}) === '[5]'", f"{view}: one row")


def fingers_zoom_the_timeline(browser, folder):
    (x, y, width, _), span = zoomed(browser, folder)
    middle = x + 200 + (width - 200) / 2
    browser.fingers([(middle - 50, y + 60), (middle - 75, y + 60), (middle - 100, y + 60)], [(middle + 50, y + 60), (middle + 75, y + 60), (middle + 100, y + 60)])
    browser.wait(f"Math.abs({SPAN} - {span} / 2) < {span} / 20", "half of what was shown")
    assert not texts(browser, ".detail h2")
    # A finger that taps opens what is there, as a click does.
    browser.keys("0")
    browser.wait(f"{SPAN} === 0")
    settle(browser)
    browser.click_at(x + 300, y + 22 + 19 - 6, kind="touch")
    browser.wait("document.querySelector('.detail h2')", "what was tapped")


def what_the_browser_takes_over_ends_a_drag(browser, folder):
    (x, y, width, _), _ = zoomed(browser, folder)
    start = browser.run(FROM)
    press = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [{"type": "pointerMove", "x": round(x + width * 0.6), "y": round(y + 60)}, {"type": "pointerDown", "button": 0}]}
    browser.command("input.performActions", {"context": browser.tab, "actions": [press]})
    browser.run("(document.querySelector('.timeline-canvas').dispatchEvent(new PointerEvent('pointercancel', { pointerId: 1 })), 1)")
    browser.move_to(x + width * 0.4, y + 60)
    browser.run(PAUSE)
    assert browser.run(FROM) == start, "the timeline moved with a press that is over"
    browser.command("input.releaseActions", {"context": browser.tab})


def a_click_on_a_lane_opens_its_next_frame(browser, _):
    server, address = mock_server.serve(100_000)
    try:
        at(browser, address, "view=timeline")
        browser.wait("document.querySelector('.timeline-table table')", "the lanes")
        x, y, width, _ = browser.run(CANVAS)
        # Lane three, in the middle of the time.
        browser.click_at(x + 200 + (width - 200) / 2, y + 22 + 38 * 2 + 30)
        browser.wait("new URLSearchParams(location.hash.slice(1)).get('event')", "an event")
        event = int(browser.run("new URLSearchParams(location.hash.slice(1)).get('event')"))
        assert event % mock_server.CONNECTIONS == 2 and 45_000 < event < 55_000, event
        browser.wait("document.querySelector('.detail-title')", "the frame")
    finally:
        server.shutdown()


CHECKS = [
    dragging_the_timeline_pans_it, dragging_on_the_axis_zooms, shift_selects_a_stretch_of_the_timeline, shift_selects_a_stretch_of_a_list, fingers_zoom_the_timeline, what_the_browser_takes_over_ends_a_drag,
    a_click_on_a_lane_opens_its_next_frame,
]
