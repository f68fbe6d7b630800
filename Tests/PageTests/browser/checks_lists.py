"""Checks that lists are whole in the end: when a search takes its time, after a burst, and after news that came while an answer was under way."""

import time

import mock_server
from checks_files import ROWS
from checks_server import READY, at

COUNT = "Number(document.querySelector('main .list').getAttribute('aria-rowcount'))"
LAST = f"Math.max(...[...document.querySelectorAll('main {ROWS}')].filter((e) => !e.classList.contains('waiting')).map((e) => Number(e.dataset.index)))"


def partly(usual, wanted, found):
    """Answers lists as a search does that has found only so many rows."""

    def get(path, query):
        answer = usual(path, query)
        if not wanted(path, query):
            return answer
        rows = answer["rows"][:max(0, found - int(query.get("from", 0)))]
        return answer | {"total": min(answer["total"], found), "searched": found, "rows": rows}

    return get


def slowly(usual, wanted, pause):
    """Answers late, with what there was when the question came."""

    def get(path, query):
        answer = usual(path, query)
        if wanted(path, query):
            time.sleep(pause)
        return answer

    return get


def lists_go_on_while_their_search_does(browser, _):
    server, address = mock_server.serve(20_000)
    traffic = server.RequestHandlerClass.traffic
    usual = traffic.get
    traffic.found = 350
    cases = [("view=findings", "findings", 350), ("view=conversation&connection=1", "conversation", 500), ("view=frames&connection=1", "frames", 500), ("view=frames&connection=1&follow=1", "frames", 500)]
    try:
        for place, path, count in cases:
            for found in (0, 40, 100):
                traffic.get = partly(usual, lambda asked, query: asked == path and (path != "findings" or "kind" in query), found)
                at(browser, address, place)
                browser.wait(f"{COUNT} === {found}", f"{found} rows of {place}")
                traffic.get = usual
                browser.wait(f"{COUNT} === {count}", f"{count} rows of {place} after {found}")
                browser.wait(READY.replace(".list-window", "main .list-window"), f"its rows: {place}")
        # What is selected is found late, too.
        traffic.get = partly(usual, lambda asked, query: asked == "conversation", 40)
        at(browser, address, f"view=conversation&connection=1&event={40 * 300}")
        browser.wait(f"{COUNT} === 40", "the first rows")
        traffic.get = usual
        browser.wait("document.querySelector('main .list-window [aria-selected=true]:not([hidden])')?.dataset.index === '300'", "the selected row")
    finally:
        server.shutdown()


def a_finding_leads_to_its_frame_when_it_is_found(browser, _):
    server, address = mock_server.serve(20_000)
    traffic = server.RequestHandlerClass.traffic
    usual = traffic.get
    traffic.found = 3
    line = {**traffic.line(0), "event": "finding", "kind": "unanswered", "severity": "warning", "message": "m", "data": {"index": 7}}

    def get(path, query):
        if path == "event/0":
            return usual(path, query) | {"line": {name: line[name] for name in ("event", "connection", "from", "time", "kind", "severity", "message", "data")}}
        if path == "frames" and "index" in query.get("filter", ""):
            isFound = time.monotonic() > asked + 1
            return {"total": int(isFound), "searched": 20_000 if isFound else 10, "events": 20_000, "rows": [traffic.row(280)] if isFound else []}
        return usual(path, query)

    asked = time.monotonic()
    traffic.get = get
    try:
        at(browser, address, "view=findings&event=0")
        browser.wait("[...document.querySelectorAll('.detail button')].some((e) => e.textContent.startsWith('frame 7'))", "the link")
        asked = time.monotonic()
        browser.run("([...document.querySelectorAll('.detail button')].find((e) => e.textContent.startsWith('frame 7')).click(), 1)")
        browser.wait("new URLSearchParams(location.hash.slice(1)).get('event') === '280'", "its frame")
    finally:
        server.shutdown()


def a_burst_is_shown_to_its_end(browser, _):
    places = {"view=conversation&connection=1&follow=1": 40, "view=conversation&connection=1": 40, "view=frames&connection=1&follow=1": 40, "view=frames&filter=type+%3D%3D+%22txt%22&follow=1": 8, "view=frames&follow=1": 1}
    for place, apart in places.items():
        server, address = mock_server.serve(8_000)
        traffic = server.RequestHandlerClass.traffic
        try:
            at(browser, address, place)
            browser.wait(f"{COUNT} === {8_000 // apart}", f"{place}: what was there")
            # One message of news has all of it.
            traffic.base = 408_000
            browser.wait(f"{COUNT} === {408_000 // apart}", f"{place}: all of it")
            if "follow" in place:
                browser.wait(f"{LAST} === {408_000 // apart - 1}", f"{place}: the last row")
        finally:
            server.shutdown()


def the_last_news_is_shown(browser, _):
    for place, path in [("view=conversation&connection=1", "conversation"), ("view=frames&connection=1", "frames"), ("view=frames&connection=1&follow=1", "frames"), ("view=connections", "connections")]:
        server, address = mock_server.serve(8_000)
        traffic = server.RequestHandlerClass.traffic
        usual = traffic.get
        try:
            at(browser, address, place)
            browser.wait(READY.replace(".list-window", "main .list-window"))
            traffic.get = slowly(usual, lambda asked, query: asked == path, 1)
            for frames in (9_600, 12_000):
                # The second news come while the answer to the first is under way.
                traffic.base = frames
                time.sleep(0.5)
            wanted = f"{COUNT} === 300" if path != "connections" else f"document.querySelector('main {ROWS} .c-count').textContent === '150 → 150 ←'"
            browser.wait(wanted, f"{place}: what the last news said")
        finally:
            server.shutdown()


def connections_that_are_scrolled_to_are_as_new_as_the_others(browser, _):
    server, address = mock_server.serve(8_000)
    traffic = server.RequestHandlerClass.traffic
    usual = traffic.get

    def many(path, query):
        if path != "connections" or "connection" in query:
            return usual(path, query)
        rows = [traffic.connection(place) for place in range(400)]
        first = int(query.get("from", 0))
        return {"total": 400, "rows": rows[first:first + int(query.get("count", 100))]}

    traffic.get = many
    first = f"[...document.querySelectorAll('main {ROWS}')].find((e) => e.dataset.index === '0')?.querySelector('.c-count')?.textContent"
    try:
        at(browser, address, "view=connections")
        browser.wait(f"{first} === '100 → 100 ←'", "the first row")
        browser.run("document.querySelector('main .list').focus()")
        browser.keys("End")
        browser.wait(f"{LAST} > 380 && new URLSearchParams(location.hash.slice(1)).get('connection') === '400'", "the last rows, and the last connection")
        traffic.base = 12_000
        browser.wait(f"[...document.querySelectorAll('main {ROWS} .c-count')].every((e) => e.textContent === '150 → 150 ←')", "what is new")
        browser.keys("Home")
        browser.wait(f"{first} === '150 → 150 ←'", "the first row as it is now")
        browser.wait("new URLSearchParams(location.hash.slice(1)).get('connection') === '1'", "its connection")
    finally:
        server.shutdown()


def a_connection_whose_row_is_elsewhere_is_not_taken_for_another(browser, _):
    server, address = mock_server.serve(8_000)
    traffic = server.RequestHandlerClass.traffic
    usual = traffic.get

    def many(path, query):
        if path != "connections" or "connection" in query:
            return usual(path, query)
        # The first one becomes the last one.
        rows = [traffic.connection(place) for place in range(400)][::1 if traffic.base == 8_000 else -1]
        first = int(query.get("from", 0))
        return {"total": 400, "rows": rows[first:first + int(query.get("count", 100))]}

    traffic.get = many
    selected = "document.querySelector('main .list-window [aria-selected=true]:not([hidden])')"
    frames = "document.querySelector('.connection-panel .sides tbody td')?.textContent"
    place = "new URLSearchParams(location.hash.slice(1))"
    try:
        at(browser, address, "view=connections&sort=frames&connection=1")
        browser.wait(f"{selected}?.dataset.index === '0' && {frames} === '100'", "the connection")
        browser.run("(window.pressed = document.querySelector('.panel-tools button'), 1)")
        traffic.base = 12_000
        browser.wait(f"document.querySelector('main {ROWS} .c-number').textContent === '400'", "the new order")
        browser.wait(f"{frames} === '150'", "the panel as it is now")
        assert browser.run("window.pressed.isConnected"), "the buttons stay"
        browser.wait(f"!{selected}", "no other one is selected")
        browser.run("document.querySelector('main .list').focus()")
        browser.keys("Enter")
        browser.wait(f"{place}.get('view') === 'conversation'", "the conversation")
        assert browser.run(f"{place}.get('connection')") == "1"
    finally:
        server.shutdown()


def an_old_answer_does_not_shorten_a_list(browser, _):
    server, address = mock_server.serve(1_000)
    try:
        at(browser, address, "view=frames")
        totals = browser.run("""import('/parts/row-pages.js').then(async ({ RowPages }) => {
          const answers = [], totals = [];
          const pages = new RowPages(() => new Promise((done) => answers.push(done)), (answer) => totals.push(answer.total), () => {});
          const asked = [pages.load(0), pages.load(1)];
          answers[1]({ total: 250, rows: [] });
          await asked[1];
          answers[0]({ total: 180, rows: [] });
          await asked[0];
          const later = pages.load(2);
          answers[2]({ total: 120, rows: [] });
          await later;
          return [...totals, pages.total];
        })""")
        assert totals == [250, 250, 120, 120], totals
    finally:
        server.shutdown()


def the_list_goes_where_the_pane_goes(browser, _):
    server, address = mock_server.serve(8_000)
    selected = "document.querySelector('main .list-window [aria-selected=true]:not([hidden])')?.dataset.index"
    event = "new URLSearchParams(location.hash.slice(1)).get('event')"
    try:
        at(browser, address, "view=frames")
        browser.wait(READY.replace(".list-window", "main .list-window"))
        browser.click("main .list-window .row[data-index='5']")
        # The row of event N is N.
        for key, row in [(None, 5), ("]", 5 + mock_server.CONNECTIONS), ("[", 5), ("]", 5 + mock_server.CONNECTIONS)]:
            if key:
                browser.keys(key)
            browser.wait(f"{event} === '{row}' && {selected} === '{row}'", f"{row} after {key}")
            # The keys are those of the frame that is shown.
            browser.wait(f"document.querySelector('.detail').textContent.includes('message {row}')", f"frame {row}")
    finally:
        server.shutdown()


def a_finding_is_opened_on_its_own_connection(browser, _):
    server, address = mock_server.serve(8_000)
    traffic = server.RequestHandlerClass.traffic
    usual = traffic.get
    traffic.found = 3

    def get(path, query):
        answer = usual(path, query)
        if path == "findings" and "kind" not in query:
            answer["groups"][0] |= {"first": 80, "connections": [1, 2]}
        return answer

    traffic.get = get
    place = "new URLSearchParams(location.hash.slice(1))"
    try:
        for number, event in [(1, "80"), (2, None)]:
            at(browser, address, "view=findings&connection=2")
            browser.wait("document.querySelectorAll('.c-connections button').length === 2", "both connections")
            browser.run(f"(document.querySelectorAll('.c-connections button')[{number - 1}].click(), 1)")
            browser.wait(f"{place}.get('view') === 'conversation' && {place}.get('connection') === '{number}'", f"connection {number}")
            assert browser.run(f"{place}.get('event')") == event, number
    finally:
        server.shutdown()


def an_order_of_connections_that_is_kept_is_asked_for_again(browser, _):
    server, address = mock_server.serve(8_000)
    traffic = server.RequestHandlerClass.traffic
    usual = traffic.get
    kept = {}

    def get(path, query):
        answer = usual(path, query)
        if path != "connections" or "connection" in query:
            return answer
        # As the server does with many connections: the order before the news is kept for a second.
        if traffic.frames > 8_000 and time.monotonic() - kept.setdefault("since", time.monotonic()) > 0.8:
            return answer | {"searched": traffic.frames, "events": traffic.frames, "rows": answer["rows"][::-1]}
        return answer | {"searched": 8_000, "events": traffic.frames}

    traffic.get = get
    try:
        at(browser, address, "view=connections&sort=frames")
        browser.wait(READY.replace(".list-window", "main .list-window"))
        traffic.base = 12_000
        browser.wait(f"document.querySelector('main {ROWS} .c-number').textContent === '40'", "the order that there is now")
    finally:
        server.shutdown()


def the_overview_knows_when_a_live_trace_began(browser, _):
    server, address = mock_server.serve(0)
    traffic = server.RequestHandlerClass.traffic
    state = traffic.state
    traffic.state = lambda: state() | ({} if traffic.base else {"earliest": None, "latest": None, "connections": 0})
    try:
        at(browser, address, "view=overview")
        browser.wait("document.querySelector('.tile')", "the tiles")
        traffic.base = 100_000
        browser.wait("[...document.querySelectorAll('.tile')].some((e) => e.textContent.startsWith('time') && e.textContent.includes(' UTC'))", "when it began", 20)
    finally:
        server.shutdown()


def an_old_answer_does_not_bring_back_a_held_frame(browser, _):
    server, address = mock_server.serve(8_000, 20)
    traffic = server.RequestHandlerClass.traffic
    usual = traffic.get
    late = []

    def get(path, query):
        answer = usual(path, query)
        if path == "held" and not late:
            late.append("asked")
            time.sleep(2)
            late.append("answered")
        return answer

    try:
        at(browser, address, "view=actions")
        browser.wait("document.querySelector('.held')", "the held frame")
        traffic.get = get
        while not late:
            time.sleep(0.02)
        traffic.waiting = []
        browser.wait("!document.querySelector('.held')", "nothing is held any more")
        while len(late) < 2:
            time.sleep(0.02)
        time.sleep(0.5)
        assert browser.run("document.querySelectorAll('.held').length") == 0, "a frame that is gone"
    finally:
        server.shutdown()


CHECKS = [
    lists_go_on_while_their_search_does, a_finding_leads_to_its_frame_when_it_is_found, a_burst_is_shown_to_its_end, the_last_news_is_shown, connections_that_are_scrolled_to_are_as_new_as_the_others,
    an_order_of_connections_that_is_kept_is_asked_for_again, the_overview_knows_when_a_live_trace_began,
    an_old_answer_does_not_bring_back_a_held_frame, a_connection_whose_row_is_elsewhere_is_not_taken_for_another, an_old_answer_does_not_shorten_a_list,
    the_list_goes_where_the_pane_goes, a_finding_is_opened_on_its_own_connection,
]
