"""Checks of what the page asks its server for: no more than it needs, by the right numbers, and nothing for views that are gone."""

import time

import mock_server
from checks_files import ROWS, settle, show, texts
from checks_pointer import saved
from checks_server import READY, at

HASH = "Object.fromEntries(new URLSearchParams(location.hash.slice(1)))"


def asked(traffic, path, since=0.0):
    return [query for when, name, query in traffic.asked if name == path and when >= since]


def findings_that_come_later_are_shown(browser, _):
    server, address = mock_server.serve(1000, 100)
    traffic = server.RequestHandlerClass.traffic
    rows = "Number(document.querySelector('.findings-list').getAttribute('aria-rowcount'))"
    try:
        at(browser, address, "view=findings")
        browser.wait("document.querySelector('.empty')?.checkVisibility()", "that nothing was found")
        assert not browser.run("document.querySelector('.findings-list').checkVisibility()")
        traffic.found = 3
        browser.wait("document.querySelector('.group-table')?.checkVisibility() && document.querySelector('.findings-list').checkVisibility()", "what was found")
        assert not browser.run("document.querySelector('.empty').checkVisibility()")
        browser.wait(f"document.querySelectorAll('.findings-list {ROWS}').length === 3", "three findings")
        # A full page says as little of what comes next as an empty one.
        for found in (100, 101, 200, 350):
            traffic.found = found
            browser.wait(f"{rows} === {found} && document.querySelector('.group-table td.number').textContent === '{found}'", f"{found} findings")
        browser.run("document.querySelector('.findings-list').focus()")
        browser.keys("End")
        browser.wait("document.querySelector('.findings-list [aria-selected=true]:not([hidden])')?.dataset.index === '349'", "the last one")
        browser.wait(READY.replace(".list-window", ".findings-list .list-window"), "its row")
    finally:
        server.shutdown()


def connections_are_found_by_their_numbers(browser, _):
    server, address = mock_server.serve(1000)
    traffic = server.RequestHandlerClass.traffic
    traffic.apart = 1000
    usual = traffic.get
    try:
        # As if there were more connections than the first answer has.
        traffic.get = lambda path, query: {**usual(path, query), "rows": []} if path == "connections" and "connection" not in query and query["count"] == "200" else usual(path, query)
        at(browser, address, "view=conversation&connection=7001")
        browser.wait("document.querySelector('.end.client')?.textContent.includes('127.0.0.1:50008')", "the connection")
        browser.wait(READY)
        assert asked(traffic, "connections")[-1] == {"connection": "7001"}, asked(traffic, "connections")
        traffic.get = usual
        at(browser, address, "view=connections&connection=39001&search=nothing")
        browser.wait("document.querySelector('.connection-panel h2')?.textContent.includes('127.0.0.1:50040')", "the panel")
        # Numbers that no connection has.
        for view in ("conversation", "connections", "frames", "timeline"):
            for number in (0, 7002):
                at(browser, address, f"view={view}&connection={number}")
                settle(browser)
                assert browser.errors() == [], (view, number, browser.errors())
                if view == "conversation":
                    browser.wait(f"document.querySelector('.conversation-view .count')?.textContent === 'there is no connection #{number}'", "that there is none")
        assert not [query for query in asked(traffic, "connections") if query.get("from", "0").startswith("-")]
    finally:
        server.shutdown()


def a_connection_is_chosen_before_the_list_has_come(browser, _):
    server, address = mock_server.serve(1000)
    traffic = server.RequestHandlerClass.traffic
    usual = traffic.get

    def slow(path, query):
        if path == "connections" and "connection" not in query:
            time.sleep(1.5)
        return usual(path, query)

    traffic.get = slow
    try:
        at(browser, address, "view=conversation")
        browser.run("(location.hash = 'view=conversation&connection=5', 1)")
        browser.wait("document.querySelector('.end.client')?.textContent.includes('127.0.0.1:50005')", "the chosen connection")
        browser.wait("document.querySelector('.conversation-view select')?.options.length === 40", "all of them")
        assert browser.run("document.querySelector('.conversation-view select').value") == "5"
        browser.wait(READY)
    finally:
        server.shutdown()


def no_connection_of_a_file_is_no_error(browser, folder):
    show(browser, folder, "blame", "view=connections&connection=3&search=nothing")
    browser.wait("document.querySelector('.connection-panel h2')?.textContent.includes('#3 ')", "the panel of one that is not listed")
    for view in ("conversation", "connections", "frames", "timeline", "roundtrips"):
        for number in (0, 4711):
            show(browser, folder, "chat", f"view={view}&connection={number}")
            assert browser.errors() == [], (view, number, browser.errors())
            if view == "frames":
                browser.wait("document.querySelector('.count').textContent.trim() === '0 found'", f"no frames of connection {number}")
            if view == "conversation":
                browser.wait(f"document.querySelector('.count').textContent === 'there is no connection #{number}'")


def everything_is_saved_without_times(browser, folder):
    server, address = mock_server.serve(1000)
    traffic = server.RequestHandlerClass.traffic
    try:
        at(browser, address, "view=frames")
        browser.wait(READY)
        for kind, name in [("trace", "frametap-trace.ndjson"), ("golden", "frametap-golden.ndjson")]:
            browser.keys("s")
            browser.wait("document.querySelector('dialog.save')")
            lines, given = saved(browser, kind)
            assert given == name and len(lines) == 1001, (given, len(lines))
            assert asked(traffic, "save")[-1] == {"as": kind}, asked(traffic, "save")
            browser.wait("!document.querySelector('dialog.save')")
        browser.keys("s")
        browser.wait("document.querySelector('dialog.save')")
        assert saved(browser, "torture")[1] == "frametap-torture.sh"
    finally:
        server.shutdown()
    # A file: its summary is that of everything.
    for place, isWhole in [("view=frames", True), ("view=frames&connection=1", False)]:
        show(browser, folder, "chat", place)
        browser.keys("s")
        browser.wait("document.querySelector('dialog.save')")
        lines, _ = saved(browser)
        events = [line["event"] for line in lines]
        assert ("summary" in events) == isWhole, (place, events[-3:])
        assert events[:2] == ["trace", "opened"] and "closed" in events and "format" in events, events[:4]
        assert {line["connection"] for line in lines if "connection" in line} == ({1} if not isWhole else {line["connection"] for line in lines if "connection" in line})


def the_whole_timeline_is_asked_for_once_a_second(browser, _):
    server, address = mock_server.serve(10_000, 1000)
    traffic = server.RequestHandlerClass.traffic
    try:
        for view in ("timeline", "overview"):
            at(browser, address, f"view={view}")
            browser.wait("document.querySelector('.timeline-table table')", "the lanes")
            began = time.monotonic()
            time.sleep(4)
            count = len(asked(traffic, "timeline", began))
            assert 2 <= count <= 5, f"{view}: asked {count} times in four seconds"
        # What somebody wants to see is asked for at once.
        at(browser, address, "view=timeline")
        browser.wait("document.querySelector('.timeline-table table')", "the lanes")
        began = time.monotonic()
        browser.keys("+")
        browser.wait("new URLSearchParams(location.hash.slice(1)).get('from')")
        assert asked(traffic, "timeline", began)
    finally:
        server.shutdown()


def a_paused_page_asks_for_nothing(browser, _):
    server, address = mock_server.serve(100_000, 10_000)
    traffic = server.RequestHandlerClass.traffic
    usual = traffic.get

    def slow(path, query):
        if path == "frames":
            time.sleep(0.4)
        return usual(path, query)

    try:
        at(browser, address, "view=frames&follow=1")
        browser.wait(READY)
        traffic.get = slow
        browser.wait("document.querySelector('.behind')", "that it is behind")
        browser.keys(" ")
        browser.wait("document.querySelector('.live').textContent.includes('paused')")
        time.sleep(1.5)
        began = time.monotonic()
        time.sleep(2)
        count = len(asked(traffic, "frames", began))
        assert count == 0, f"asked {count} times in two seconds while paused"
        # What is after the end is asked for at the end, not where it was.
        traffic.get = usual
        browser.keys(" ")
        newest = f"Math.max(...[...document.querySelectorAll('{ROWS}')].map((e) => Number(e.dataset.index)))"
        browser.wait(f"{newest} > 100000 + {traffic.frames - 100_000 - 20_000}", "going on")
    finally:
        server.shutdown()


def views_that_are_gone_do_nothing(browser, _):
    server, address = mock_server.serve(10_000)
    try:
        at(browser, address, "view=frames")
        browser.wait(READY)
        for view in ("timeline", "overview", "timeline", "frames"):
            browser.run(f"(location.hash = 'view={view}', 1)")
            browser.wait(f"{HASH}.view === '{view}' && document.querySelector('main').childElementCount > 0")
            settle(browser)
        browser.wait(READY)
        settle(browser)
        drawn = browser.run("""(async () => { let drawn = 0; const usual = window.requestAnimationFrame; window.requestAnimationFrame = (draw) => { drawn += 1; return usual(draw); };
          document.dispatchEvent(new Event('themechange')); await new Promise((done) => setTimeout(done, 100)); window.requestAnimationFrame = usual; return drawn; })()""")
        assert drawn == 0, f"{drawn} drawings of views that are gone"
        # The place of a list is not written into the address of the next view.
        for view in ("frames", "connections", "conversation"):
            at(browser, address, f"view={view}")
            browser.wait(READY)
            found = browser.run(f"""(async () => {{ document.querySelector('.list-scroller').scrollTop = 100;
              await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
              location.hash = 'view={'frames' if view == 'conversation' else 'conversation'}&top=50'; await new Promise((done) => setTimeout(done, 800)); return {HASH}; }})()""")
            assert found["top"] == "50", (view, found)
    finally:
        server.shutdown()


def heartbeats_have_a_color_of_their_own(browser, folder):
    color = "(e, what) => { const probe = document.createElement('canvas').getContext('2d'); probe.fillStyle = getComputedStyle(e)[what]; return probe.fillStyle; }"
    theme = f"((name) => {{ const e = document.createElement('span'); e.style.color = `var(--${{name}})`; document.body.append(e); const found = ({color})(e, 'color'); e.remove(); return found; }})"
    for look in ("light", "dark"):
        show(browser, folder, "chat", f"view=frames&theme={look}")
        browser.wait("document.querySelector('.swatch.beat')")
        beat = browser.run(f"[...new Set([...document.querySelectorAll('.swatch.beat')].map((e) => ({color})(e, 'color')))]")
        others = browser.run(f"[...new Set([...document.querySelectorAll('.swatch:not(.beat)')].map((e) => ({color})(e, 'backgroundColor')))]")
        all = browser.run(f"[0, 1, 2, 3, 4, 5, 6, 7, 'none'].map((n) => {theme}('type-' + n))")
        assert len(beat) == 1 and beat[0] not in others and beat[0] not in all and len(set(all)) == 9, (look, beat, others, all)
        # Types by themselves, in the overview and in a connection's panel.
        for place in ("view=overview", "view=connections&connection=1"):
            show(browser, folder, "chat", f"{place}&theme={look}")
            browser.wait("document.querySelector('.type .swatch')")
            shown = browser.run("[...document.querySelectorAll('.type')].map((e) => [e.textContent, e.querySelector('.swatch').classList.contains('beat')])")
            assert shown and all_are(shown), (place, shown)
        # The legend, also after the theme has changed.
        show(browser, folder, "chat", f"view=timeline&theme={look}")
        for name in (look, "dark" if look == "light" else "light"):
            browser.run(f"(document.querySelector('html').dataset.theme === '{name}') || ((location.hash = 'view=timeline&theme={name}'), 1)")
            browser.wait(f"document.documentElement.dataset.theme === '{name}'")
            settle(browser)
            wanted = browser.run(f"{theme}('type-heartbeat')")
            drawn = browser.run("(() => { const c = document.querySelector('.legend-sample'); const d = c.getContext('2d').getImageData(c.width / 2, c.height / 2, 1, 1).data; return '#' + [...d].slice(0, 3).map((v) => v.toString(16).padStart(2, '0')).join(''); })()")
            assert drawn == wanted, (name, drawn, wanted)


def all_are(shown):
    """Whether the types of heartbeats, and only they, have a heart."""
    return all(text.lstrip("♥").startswith("heart") == heart for text, heart in shown)


CHECKS = [
    findings_that_come_later_are_shown, connections_are_found_by_their_numbers, a_connection_is_chosen_before_the_list_has_come, no_connection_of_a_file_is_no_error, everything_is_saved_without_times,
    the_whole_timeline_is_asked_for_once_a_second, a_paused_page_asks_for_nothing, views_that_are_gone_do_nothing, heartbeats_have_a_color_of_their_own,
]
