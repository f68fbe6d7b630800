"""Checks of what the page does when something does not work: the server is gone, it refuses, others decide, or input cannot be read."""

import json
import time

import mock_server
from browser import BrowserError
from checks_files import ROWS
from checks_lists import COUNT, partly
from checks_server import READY, asked_of, at

PROBLEM = "document.querySelector('.page-problem').textContent"
TEXT = "document.querySelector('main').textContent"
LIVE = "document.querySelector('.live').textContent"
# The page waits for less than usual: for silence, and for an answer.
HURRY = "import('/source/server.js').then(({ ServerSource }) => { ServerSource.silence = 600; ServerSource.patience = 2000; return 1; })"


def click(browser, name, inside="document"):
    browser.run(f"([...{inside}.querySelectorAll('button')].find((e) => e.textContent === {json.dumps(name)}).click(), 1)")


def press(browser, element):
    """What the keyboard does to what has the focus; browsers do it only in a window that has the focus itself."""
    browser.run(f"(() => {{ const e = {element}; e.focus(); e.click(); return 1; }})()")


def frames_held(traffic, *indexes, **more):
    """Frames that wait for a decision."""
    traffic.waiting = [{"listener": "chat", "connection": 1, "from": "client", "index": index, "type": "txt", "since": str(mock_server.START), "line": traffic.line(index)} | more for index in indexes]


# The server


def what_is_shown_stays_while_the_server_is_gone(browser, _):
    server, address = mock_server.serve(20_000)
    traffic = server.RequestHandlerClass.traffic
    traffic.found = 3
    lists = {"frames": "", "conversation": "&connection=1", "connections": "", "findings": ""}
    try:
        for view, more in lists.items():
            traffic.manner = "well"
            at(browser, address, f"view={view}{more}")
            browser.wait(READY.replace(".length > 5", ".length > 2").replace(".list-window", "main .list-window"), f"rows of {view}")
            count = browser.run(COUNT)
            browser.run("(window.counts = [], new MutationObserver(() => counts.push(document.querySelector('main .list').getAttribute('aria-rowcount'))).observe(document.querySelector('main .list'), { attributeFilter: ['aria-rowcount'] }), 1)")
            traffic.manner = "gone"
            browser.wait(f"{LIVE}.includes('frametap does not answer')", "that it is gone")
            browser.run("document.querySelector('main .list').focus()")
            browser.keys("End")
            # A busy browser takes its time to scroll.
            browser.wait(f"({COUNT}) === {json.dumps(count)} && document.querySelectorAll('main {ROWS}').length > 2", f"{view}: what was shown")
            if view in ("frames", "conversation"):
                browser.wait(f"{PROBLEM}.includes('frametap does not answer')", f"{view}: what is wrong")
            traffic.manner = "well"
            browser.wait(f"!{LIVE}.includes('does not answer') && {PROBLEM} === ''", f"{view}: that it is back", 30)
            browser.wait(READY.replace(".length > 5", ".length > 2").replace(".list-window", "main .list-window"), f"{view}: rows that were not there")
            assert browser.run(COUNT) == count and browser.run("counts") == [], f"{view}: {browser.run(COUNT)} rows, by way of {browser.run('counts')}, not {count}"
    finally:
        browser.events.clear()
        server.shutdown()


def what_was_asked_of_a_server_that_vanished_is_asked_again(browser, _):
    server, address = mock_server.serve(20_000)
    traffic = server.RequestHandlerClass.traffic
    traffic.found = 1_000
    try:
        for view, more in {"frames": "", "conversation": "&connection=1", "findings": ""}.items():
            at(browser, address, f"view={view}{more}")
            browser.wait(READY.replace(".list-window", "main .list-window"), f"rows of {view}")
            browser.run(HURRY)
            traffic.manner = "lost"
            browser.run("document.querySelector('main .list').focus()")
            browser.keys("End")
            browser.wait(f"document.querySelector('main {ROWS}.waiting')", f"{view}: rows that are not there")
            browser.wait(f"{LIVE}.includes('frametap does not answer')", "that it is gone", 30)
            traffic.manner = "well"
            browser.wait(f"!{LIVE}.includes('does not answer')", f"{view}: that it is back", 30)
            browser.wait(f"!document.querySelector('main {ROWS}.waiting') && document.querySelectorAll('main {ROWS}').length > 5", f"{view}: rows that were not there")
            browser.wait(f"{PROBLEM} === ''", f"{view}: nothing is wrong")
    finally:
        browser.events.clear()
        server.shutdown()


def views_that_are_opened_while_the_server_is_gone_come_later(browser, _):
    server, address = mock_server.serve(20_000)
    traffic = server.RequestHandlerClass.traffic
    shown = {
        "overview": "document.querySelector('.tile') && document.querySelector('main .type-bars')", "connections": f"document.querySelectorAll('main {ROWS}').length > 5", "timeline": "document.querySelector('.timeline-table table')",
        "conversation": f"document.querySelectorAll('main {ROWS}').length > 5", "frames": f"document.querySelectorAll('main {ROWS}').length > 5", "findings": "document.querySelector('.empty')?.checkVisibility()",
        "roundtrips": "document.querySelector('main .empty')", "actions": "document.querySelector('.listener') && document.querySelector('.held')",
    }
    try:
        for view, code in shown.items():
            at(browser, address, "view=frames" if view != "frames" else "view=connections")
            browser.wait(READY)
            traffic.manner = "gone"
            browser.wait(f"{LIVE}.includes('frametap does not answer')", "that it is gone")
            browser.run(f"(location.hash = 'view={view}&event=7', 1)")
            browser.wait(f"{PROBLEM}.includes('frametap does not answer')", f"{view}: what is wrong")
            browser.wait("document.querySelector('.detail .problem')", f"{view}: what is wrong with the frame")
            traffic.manner = "well"
            browser.wait(code, f"{view} is shown", 30)
            browser.wait(f"{PROBLEM} === '' && document.querySelector('.detail-title')", f"{view}: nothing is wrong")
    finally:
        browser.events.clear()
        server.shutdown()


def a_question_that_is_wrong_is_said(browser, _):
    server, address = mock_server.serve(1000)
    traffic = server.RequestHandlerClass.traffic
    usual = traffic.get

    def get(path, query):
        if query.get("sort") == "zz":
            raise mock_server.Problem("there is no order zz")
        return usual(path, query)

    traffic.get = get
    try:
        at(browser, address, "view=connections&sort=zz")
        browser.wait(f"{PROBLEM} === 'there is no order zz'", "what is wrong")
        browser.click("[data-sort=bytes] button")
        browser.wait(f"{PROBLEM} === '' && document.querySelectorAll('main {ROWS}').length > 5", "another order")
    finally:
        browser.events.clear()
        server.shutdown()


def another_server_at_the_same_address_is_said(browser, _):
    said = f"{LIVE}.includes('another frametap runs here now: open the address that it printed')"
    # Its address is opened in another tab, and the cookie is the same: before a request, or between two of a page that tries again.
    for manner in ("well", "known"):
        server, address = mock_server.serve(1000)
        traffic = server.RequestHandlerClass.traffic
        try:
            at(browser, address, "view=frames")
            browser.wait(READY)
            browser.run("(window.isOld = true, 1)")
            traffic.manner = "refused"
            browser.wait(said, "that there is another one")
            # Also while the page tries again.
            assert browser.run(f"(async () => {{ for (let n = 0; n < 60; n++) {{ await new Promise((done) => setTimeout(done, 25)); if (!{said}) return false; }} return true; }})()")
            traffic.manner = manner
            comes(browser)
        finally:
            browser.events.clear()
            server.shutdown()


def another_server_that_knows_the_page_is_noticed(browser, _):
    server, address = mock_server.serve(1000)
    traffic = server.RequestHandlerClass.traffic
    try:
        at(browser, address, "view=frames")
        browser.wait(READY)
        for run in ("1", "2"):
            browser.run("(window.isOld = true, 1)")
            traffic.manner = "gone"
            browser.wait(f"{LIVE}.includes('frametap does not answer')", "that it is gone")
            traffic.manner, traffic.run = "well", run
            if run == "2":
                comes(browser)
            else:
                browser.wait(f"!{LIVE}.includes('does not answer')", "that it is back", 30)
                browser.run("new Promise((done) => setTimeout(() => done(1), 500))")
                assert browser.run("window.isOld"), "it was the same one"
    finally:
        browser.events.clear()
        server.shutdown()


def comes(browser):
    """Waits for the page of another server."""
    began = time.monotonic()
    while not loaded(browser):
        assert time.monotonic() < began + 60, "waited in vain for the page of the other one"
        time.sleep(0.1)


def loaded(browser):
    """Whether it is another page; while it comes, there is none to ask."""
    try:
        return browser.run("!window.isOld && document.querySelector('main')?.childElementCount > 0")
    except BrowserError:
        return False


def a_server_that_says_nothing_any_more_is_noticed(browser, _):
    server, address = mock_server.serve(1000)
    traffic = server.RequestHandlerClass.traffic
    usual = traffic.state
    try:
        at(browser, address, "view=frames")
        browser.wait(READY)
        browser.run(HURRY)
        browser.run("new Promise((done) => setTimeout(() => done(1), 2500))")
        assert not browser.run(f"{LIVE}.includes('does not answer')"), "it is there"
        traffic.manner = "silent"
        browser.wait(f"{LIVE}.includes('frametap does not answer')", "that it is silent", 30)
        traffic.manner = "well"
        browser.wait(f"!{LIVE}.includes('does not answer')", "that it goes on", 30)
        traffic.state = lambda: usual() | {"frames": 4711}
        browser.wait(f"{LIVE}.includes('4,711 frames')", "news")
    finally:
        traffic.manner = "well"
        browser.events.clear()
        server.shutdown()


def a_server_that_has_no_news_is_there(browser, _):
    server, address = mock_server.serve(1000)
    handler = server.RequestHandlerClass
    usual, connections = handler.news, []

    def quiet(self):
        connections.append(self)
        state, told = self.traffic.state, []

        class Once:
            manner = "well"

            def state(_):
                # After the first message, nothing comes.
                while told:
                    time.sleep(0.02)
                told.append(1)
                return state()

        self.traffic = Once()
        usual(self)

    handler.news = quiet
    try:
        at(browser, address, "view=frames")
        browser.wait(READY)
        browser.run(HURRY)
        assert browser.run(f"(async () => {{ for (let n = 0; n < 100; n++) {{ await new Promise((done) => setTimeout(done, 25)); if ({LIVE}.includes('does not answer')) return false; }} return true; }})()")
        assert len(connections) == 1, "the page has connected again"
    finally:
        server.shutdown()


def what_could_not_be_read_is_shown(browser, _):
    server, address = mock_server.serve(1000)
    traffic = server.RequestHandlerClass.traffic
    try:
        at(browser, address, "view=overview")
        browser.wait("document.querySelector('.tile')", "the overview")
        assert not browser.run(f"{LIVE}.includes('not all could be read')")
        traffic.complaints = ["line 7: expected an object, found G"]
        browser.wait(f"{LIVE}.includes('not all could be read')", "the badge")
        browser.wait(f"{TEXT}.includes('line 7: expected an object, found G')", "what it was")
    finally:
        server.shutdown()


def a_paused_page_searches_what_there_was(browser, _):
    server, address = mock_server.serve(20_000, 1)
    traffic = server.RequestHandlerClass.traffic
    usual = traffic.get
    try:
        for place in ("view=frames", "view=conversation&connection=1"):
            traffic.get = usual
            at(browser, address, place)
            browser.wait(READY)
            browser.keys(" ")
            browser.wait(f"{LIVE}.includes('paused')", "the pause")
            traffic.base += 10_000
            # The search goes on, and is past the events of the pause in the end.
            path, began = place[5:].split("&")[0], time.monotonic()
            traffic.get = lambda asked, query: partly(usual, lambda name, _: name == path, min(25_000, int((time.monotonic() - began) * 10_000)))(asked, query)
            browser.run("(location.hash = location.hash + '&again=1&leg=out&filter=type+%3D%3D+%22txt%22', 1)" if path == "frames" else "(location.hash = location.hash.replace('connection=1', 'connection=2'), 1)")
            wanted = 20_000 // 8 if path == "frames" else 20_000 // mock_server.CONNECTIONS
            browser.wait(f"{COUNT} >= {wanted} && !document.querySelector('.count progress')", f"{path}: what was found", 20)
            while time.monotonic() < began + 3:
                time.sleep(0.1)
            asked = len([1 for _, name, _ in traffic.asked if name == path])
            time.sleep(1)
            assert len([1 for _, name, _ in traffic.asked if name == path]) == asked, f"{path}: it asks for what is new: {traffic.asked[-3:]} {traffic.frames}"
            traffic.base -= 10_000
    finally:
        server.shutdown()


# Actions


def what_was_written_into_a_held_frame_stays(browser, _):
    server, address = mock_server.serve(1000)
    traffic = server.RequestHandlerClass.traffic
    card = "document.querySelector('.held')"
    try:
        # A deadline that is past, one that is not, and none.
        for deadline, until, said in [("2020-11-21T08:01:00.000000000Z", ", at most until 08:01:00.000", "its time was up, and it went on as it was"), ("2996-11-21T08:01:00.5Z", ", at most until 08:01:00.500", "it was decided elsewhere"), (None, "", "it was decided elsewhere")]:
            frames_held(traffic, 3, 4, **({"deadline": deadline} if deadline else {}))
            at(browser, address, f"view=actions&time=utc&again={len(traffic.asked)}")
            browser.wait("document.querySelectorAll('.held').length === 2", "the held frames")
            assert browser.run(f"{card}.querySelector('header').textContent").split("held since")[1][13:] == until
            browser.run(f"(() => {{ const area = {card}.querySelector('textarea'); area.value = 'half'; area.focus(); return 1; }})()")
            traffic.waiting = []
            browser.wait(f"document.querySelectorAll('.held').length === 1 && {card}.textContent.includes({json.dumps(said)})", f"{deadline}: what has become of it")
            assert browser.run(f"{card}.querySelector('textarea').value") == "half"
            assert browser.run("document.activeElement.value") == "half"
            assert browser.run(f"[...{card}.querySelectorAll('button')].map((e) => e.textContent)") == ["Close"]
            assert "(" not in browser.run("document.querySelector('.actions-view h2').textContent")
            click(browser, "Close", card)
            browser.wait("!document.querySelector('.held')", "the card is gone")
    finally:
        server.shutdown()


def a_decision_that_cannot_be_carried_out_is_said(browser, _):
    server, address = mock_server.serve(1000)
    traffic = server.RequestHandlerClass.traffic
    usual, problem = traffic.act, "document.querySelector('.actions-view > .problem').textContent"
    held = "document.querySelectorAll('.held').length"
    try:
        frames_held(traffic, 3, 4)
        at(browser, address, "view=actions")
        browser.wait(f"{held} === 2", "the held frames")

        def act(method, path, body):
            if body.get("fields"):
                raise mock_server.Problem("kind: 300 does not fit a byte")
            return usual(method, path, body)

        traffic.act = act
        browser.run("(document.querySelector('.held [aria-label=sender]').value = '300', 1)")
        click(browser, "Release as edited", "document.querySelector('.held')")
        browser.wait(f"{problem} === 'kind: 300 does not fit a byte'", "why not")
        assert browser.run(f"{held} === 2 && document.querySelector('.held [aria-label=sender]').value === '300'")
        # Another page decides before this one knows of it.
        state, kept = traffic.state, len(traffic.waiting)
        traffic.state = lambda: state() | {"held": kept}
        traffic.waiting = traffic.waiting[1:]
        click(browser, "Drop", "document.querySelector('.held')")
        browser.wait(f"{problem} === 'frame 3 is not held'", "that it is not held")
        browser.wait("document.querySelector('.held').textContent.includes('no longer held')", "what was written")
        traffic.state = state
        # The next one gets the focus.
        press(browser, "[...document.querySelectorAll('.held button')].find((e) => e.textContent === 'Release')")
        browser.wait(f"{held} === 1 && document.activeElement.textContent === 'Close'", "the focus")
        assert asked_of(traffic)[2] == {"from": "client", "index": 4, "do": "release"}
        assert browser.run(problem) == ""
    finally:
        browser.events.clear()
        server.shutdown()


def all_held_frames_are_counted(browser, _):
    server, address = mock_server.serve(1000)
    traffic = server.RequestHandlerClass.traffic
    try:
        frames_held(traffic, *range(150))
        at(browser, address, "view=actions")
        browser.wait("document.querySelector('.actions-view h2').textContent === 'Held frames (100 of 150)'", "how many")
        frames_held(traffic, *range(20))
        browser.wait("document.querySelector('.actions-view h2').textContent === 'Held frames (20)'", "how many are left")
    finally:
        server.shutdown()


def changes_of_rules_keep_what_is_being_written(browser, _):
    server, address = mock_server.serve(1000)
    traffic = server.RequestHandlerClass.traffic
    listener = traffic.listeners[0]
    codes = "[...document.querySelectorAll('.switches')].map((e) => [...e.querySelectorAll('code')].map((each) => each.textContent))"
    typed = "[document.querySelector('.send textarea').value, document.querySelector('#send-body').value, document.querySelectorAll('.add input')[0].value]"
    try:
        at(browser, address, "view=actions")
        browser.wait("document.querySelector('.switches code')", "a rule")
        rule = listener["rules"][0]
        browser.run("(document.querySelector('.send textarea').value = '[1]', document.querySelector('#send-body').value = 'my words', document.querySelectorAll('.add input')[0].value = 'drop: ty', 1)")
        before = browser.run(typed)
        # Another page's breakpoint comes by itself.
        listener["breakpoints"] = ["length > 1"]
        traffic.switches += 1
        browser.wait(f"JSON.stringify({codes}) === {json.dumps(json.dumps([[rule], ['length > 1']], separators=(',', ':')))}", "another page's breakpoint")
        # Two at once, both beside that of another page which is not shown yet.
        listener["breakpoints"] = ["length > 1", "length > 2"]
        browser.run("(() => { const form = document.querySelectorAll('.add')[1]; for (const text of ['length > 3', 'length > 4']) { form.querySelector('input').value = text; form.requestSubmit(); } return 1; })()")
        browser.wait(f"{codes}[1].length === 4", "all four")
        assert listener["breakpoints"] == [f"length > {n}" for n in (1, 2, 3, 4)], listener["breakpoints"]
        # Off, on, removed.
        switch = "[...document.querySelectorAll('[role=switch]')].find((e) => e.parentElement.textContent === 'length > 2')"
        press(browser, switch)
        browser.wait(f"{codes}[1].join() === 'length > 1,length > 3,length > 4,length > 2' && !{switch}.checked && document.activeElement === {switch}", "it is off, and has the focus")
        assert listener["breakpoints"] == [f"length > {n}" for n in (1, 3, 4)]
        press(browser, switch)
        browser.wait(f"{switch}.checked && document.activeElement === {switch}", "it is on")
        press(browser, f"{switch}.closest('li').querySelector('button')")
        browser.wait(f"{codes}[1].join() === 'length > 1,length > 3,length > 4' && document.activeElement.matches('.add input')", "it is removed")
        assert browser.run(typed) == before
        # What cannot be set is not shown as set.
        usual = traffic.act

        def act(method, path, body):
            raise mock_server.Problem("no")

        traffic.act = act
        browser.run("(document.querySelectorAll('[role=switch]')[1].click(), 1)")
        browser.wait("document.querySelector('.actions-view > .problem').textContent === 'no' && document.querySelectorAll('[role=switch]')[1].checked", "it is still on")
        traffic.act = usual
    finally:
        browser.events.clear()
        server.shutdown()


CHECKS = [
    what_is_shown_stays_while_the_server_is_gone, what_was_asked_of_a_server_that_vanished_is_asked_again, views_that_are_opened_while_the_server_is_gone_come_later, a_question_that_is_wrong_is_said, another_server_at_the_same_address_is_said,
    another_server_that_knows_the_page_is_noticed,
    a_server_that_says_nothing_any_more_is_noticed, a_server_that_has_no_news_is_there, what_could_not_be_read_is_shown, a_paused_page_searches_what_there_was, what_was_written_into_a_held_frame_stays,
    a_decision_that_cannot_be_carried_out_is_said, all_held_frames_are_counted, changes_of_rules_keep_what_is_being_written,
]
