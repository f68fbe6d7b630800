"""Checks of the page with its data inside one file."""

import json
import pathlib
import re

import one_file
from hostile import hostile, trouble

HERE = pathlib.Path(__file__).resolve().parent
# The views with their titles, but those that need a proxy.
VIEWS = dict(re.findall(r'name: "(\w+)", title: "([^"]+)", make: \(page\) => new \w+\(page\) \}', (one_file.WEB / "views/views.js").read_text()))
assert len(VIEWS) > 6, "views.js is written in another way"
FIXTURES = ["blame", "tlv32", "im-magic", "mqtt", "postgresql", "redis", "evict", "chat", "trouble"]


def write_pages(folder):
    for name in ["blame", "tlv32", "im-magic", "mqtt", "postgresql", "redis", "evict"]:
        data = json.loads((HERE / "fixtures" / f"{name}.json").read_text())
        (folder / f"{name}.html").write_text(one_file.page(data["lines"], data["report"]))
    chat = [json.loads(line) for line in (HERE.parents[2] / "fixtures/im-json/chat.ndjson").read_text().splitlines()]
    (folder / "chat.html").write_text(one_file.page(chat))
    for name, data in {"hostile": hostile(), "trouble": trouble()}.items():
        (folder / f"{name}.html").write_text(one_file.page(data["lines"], data["report"]))


def show(browser, folder, name, place):
    """A fresh page at a place."""
    browser.open("about:blank")
    browser.open(f"file://{folder}/{name}.html#{place}")
    browser.wait("document.querySelector('main')?.childElementCount > 0", f"{name} {place}")
    settle(browser)


def settle(browser):
    browser.run("new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => done(1))), 120))")


def texts(browser, selector):
    return browser.run(f"[...document.querySelectorAll({json.dumps(selector)})].filter((e) => e.checkVisibility()).map((e) => e.textContent)")


ROWS = ".list-window .row:not([hidden])"


# Without a browser


def modules_can_be_joined(_, __):
    seen = {}
    for path in one_file.modules():
        for name in re.findall(r"^(?:export )?(?:async )?(?:function|class|const|let) (\w+)", path.read_text(), re.M):
            assert name not in seen, f"{name} is in {seen[name]} and in {path.name}"
            seen[name] = path.name
    code = one_file.script()
    assert "</script" not in code.lower() and "<!--" not in code
    missing = {path.name for path in one_file.WEB.rglob("*.js")} - {path.name for path in one_file.modules()} - {"model.js"}
    assert not missing, f"not part of the page: {missing}"


def no_module_makes_markup(_, __):
    forbidden = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|\beval\(|new Function|srcdoc|setHTML|cssText|setAttribute\(\"style\"|https?://(?!127)")
    for path in [*one_file.WEB.rglob("*.js"), *one_file.WEB.rglob("*.css"), one_file.WEB / "index.html"]:
        found = forbidden.search(path.read_text())
        assert not found, f"{path.name}: {found.group()}"
        assert len(path.read_text().splitlines()) <= 300, f"{path.name} is too long"


def words_are_spelled_as_the_docs_spell_them(_, __):
    forbidden = re.compile(r"colour|recognis|neighbour|behaviour|honour|\bcentre", re.I)
    for path in [*one_file.WEB.rglob("*.js"), *one_file.WEB.rglob("*.css"), one_file.WEB / "index.html"]:
        found = forbidden.search(path.read_text())
        assert not found, f"{path.name}: {found.group()}"


def every_view_is_documented(_, __):
    text = (HERE.parents[2] / "docs/page.md").read_text()
    for title in VIEWS.values():
        assert f"\n| {title} | " in text, f"docs/page.md lacks {title}"


modules_can_be_joined.without_browser = every_view_is_documented.without_browser = no_module_makes_markup.without_browser = words_are_spelled_as_the_docs_spell_them.without_browser = True


# Views


def every_view_shows_every_trace(browser, folder):
    for name in FIXTURES:
        for view in VIEWS:
            show(browser, folder, name, f"view={view}")
            assert texts(browser, "nav a[aria-current=page]") == [VIEWS[view]], (name, view)
            if view in ("frames", "connections", "conversation"):
                browser.wait(f"document.querySelectorAll({json.dumps(ROWS)}).length > 0 && !document.querySelector('.waiting:not([hidden])')", f"rows of {name} {view}")
            assert browser.errors() == [], (name, view, browser.errors())


def connections_are_sorted_searched_and_opened(browser, folder):
    show(browser, folder, "blame", "view=connections")
    browser.click("[data-sort=bytes] button")
    browser.wait("document.querySelector('[data-sort=bytes]').getAttribute('aria-sort') === 'descending'")
    settle(browser)
    assert texts(browser, f"{ROWS} .c-bytes")[0] == "8.2 kB"
    browser.keys("/")
    browser.type("9236")
    browser.wait("document.querySelector('.count').textContent.includes('7 found')")
    browser.keys("Tab")
    browser.run("document.querySelector('.list').focus()")
    browser.keys("j")
    browser.wait("location.hash.includes('connection=')")
    browser.keys("Enter")
    browser.wait("document.querySelector('nav [aria-current]').textContent === 'Conversation'")


def a_filter_finds_and_errors_have_columns(browser, folder):
    show(browser, folder, "chat", "view=frames")
    browser.keys("/")
    browser.type('type == "img" && length > 1000')
    browser.keys("Enter")
    browser.wait("/^\\d+ found/.test(document.querySelector('.count').textContent)")
    settle(browser)
    found = int(browser.run("document.querySelector('.count').textContent").split()[0])
    lines = [json.loads(line) for line in (HERE.parents[2] / "fixtures/im-json/chat.ndjson").read_text().splitlines()]
    wanted = sum(1 for line in lines if line["event"] == "frame" and line["type"] == "img" and line["length"] > 1000)
    assert found == wanted, (found, wanted)
    assert set(texts(browser, f"{ROWS} .c-type")) == {"img"}
    for text, column, message in [
        ("type == )", 9, "expected a value, found `)`"), ("a == 1", 1, "there is no value a"), ('body.text matches "("', 20, "the pattern cannot be read"), ("length >", 9, "found the end"), ("类 == 1", 1, "there is no value 类"),
        ('connection.cliend == "a"', 1, "there is no value connection.cliend; did you mean client?"), ("tim > 1", 1, "did you mean time?"),
    ]:
        show(browser, folder, "chat", "view=frames")
        browser.keys("/")
        browser.type(text)
        browser.keys("Escape", "Enter")
        said = browser.wait("document.querySelector('.filter-error').textContent", text)
        assert said.startswith(f"column {column}: ") and message in said, (text, said)
        assert browser.run("document.querySelector('.filter-input').getAttribute('aria-invalid')") == "true"


def filters_mean_what_the_language_says(browser, folder):
    lines = [json.loads(line) for line in (HERE.parents[2] / "fixtures/im-json/chat.ndjson").read_text().splitlines()]
    opened = [line for line in lines if line["event"] == "opened"]
    ends, times = opened[-1], [line["time"][:-1] for line in lines if line["event"] == "frame"]
    servers, middle = [line["connection"] for line in opened if line["server"].endswith(":" + ends["server"].split(":")[-1])], times[len(times) // 2]
    cases = {
        "heartbeat": lambda line: line["heartbeat"], "not heartbeat and from == server": lambda line: not line["heartbeat"] and line["from"] == "server",
        'fields.size == 5': lambda line: line["fields"].get("size") == "5", 'body.text contains "nice"': lambda line: "nice" in line["body"].get("text", ""),
        'type in {"heartA", "heartB"}': lambda line: line["type"] in ("heartA", "heartB"), "length in {90..95}": lambda line: 90 <= line["length"] <= 95,
        'fields.targetID matches "^Cinent[B-Z]$"': lambda line: re.search("^Cinent[B-Z]$", line["fields"].get("targetID", "")), "fields.nothing exists": lambda line: False, "fields.nothing != 1": lambda line: False,
        "not (fields.nothing == 1)": lambda line: True, "segments > 1 || merged": lambda line: line["segments"] > 1 or line["merged"], "(length - 3) * 2 > 1000": lambda line: (line["length"] - 3) * 2 > 1000,
        'connection == 2': lambda line: line["connection"] == 2, "connection in {1, 3} and heartbeat": lambda line: line["connection"] in (1, 3) and line["heartbeat"],
        f'connection.client == "{ends["client"]}"': lambda line: line["connection"] == ends["connection"], f'connection.server endsWith ":{ends["server"].split(":")[-1]}"': lambda line: line["connection"] in servers,
        f'time >= "{middle[:-4]}"': lambda line: line["time"][:-1] >= middle[:-4], f'time == "{middle}"': lambda line: line["time"][:-1] == middle,
        'fields["type"] startsWith "he" and !merged': lambda line: line["fields"].get("type", "").startswith("he") and not line["merged"], "length & 1 == 0": lambda line: line["length"] % 2 == 0,
    }
    show(browser, folder, "chat", "view=frames")
    for text, holds in cases.items():
        browser.run(f"(location.hash = new URLSearchParams({{view: 'frames', filter: {json.dumps(text)}}}), 1)")
        wanted = sum(1 for line in lines if line["event"] == "frame" and holds(line))
        browser.wait(f"document.querySelector('.filter-input').value === {json.dumps(text)} && document.querySelector('.count').textContent.trim() === '{wanted} found'", f"{text}: {wanted}")


def words_are_completed(browser, folder):
    show(browser, folder, "chat", "view=frames")
    browser.keys("/")
    browser.type("fields.tar")
    browser.wait("[...document.querySelectorAll('.completions li')].some((e) => e.textContent === 'fields.targetID')")
    assert browser.run("document.querySelector('.filter-input').getAttribute('aria-expanded')") == "true"
    browser.keys("ArrowDown", "Enter")
    assert browser.run("document.querySelector('.filter-input').value") == "fields.targetID"
    browser.type(' exists and type == "heart')
    browser.wait("document.querySelectorAll('.completions li').length === 2")
    browser.keys("ArrowDown", "ArrowDown", "Enter", "Enter")
    assert browser.run("document.querySelector('.filter-input').value").endswith('type == "heartB"')
    browser.wait("document.querySelector('.count').textContent.includes('4 found')")


def selection_and_place_survive_a_reload(browser, folder):
    show(browser, folder, "chat", "view=frames&filter=length+%3E+80")
    browser.run("document.querySelector('.list').focus()")
    browser.keys(*["j"] * 60)
    settle(browser)
    browser.run("new Promise((done) => setTimeout(() => done(1), 400))")
    read = "(() => { const row = document.querySelector('.list-window [aria-selected=true]'); return [row?.dataset.index, row?.textContent, document.querySelector('.detail-title')?.textContent, document.querySelector('.list-scroller').scrollTop, document.querySelector('.filter-input').value]; })()"
    before = browser.wait(f"(() => {{ const found = {read}; return found[0] === '59' && found[2] ? found : null; }})()")
    browser.reload()
    browser.wait(f"{read}[0] === '59' && {read}[2]", "the same row")
    settle(browser)
    assert browser.run(read) == before, (before, browser.run(read))


def a_frame_shows_fields_bytes_and_cuts(browser, folder):
    show(browser, folder, "tlv32", "view=frames&event=3")
    browser.wait("document.querySelector('.preview')?.naturalWidth > 0", "the picture")
    assert "split over 8 segments" in browser.run("document.querySelector('.facts').textContent")
    browser.wait("document.querySelector('.hex .byte')")
    browser.run("(document.querySelector('.cuts summary').click(), 1)")
    rows = browser.run("[...document.querySelectorAll('.cuts tbody tr')].map((row) => Number(row.cells[0].textContent.replaceAll(',', '')))")
    assert len(rows) == 8 and rows[0] == 0, rows
    # The mark of a cut is at its byte.
    browser.run(f"(() => {{ const list = document.querySelector('.hex .list-scroller'); list.scrollTop = Math.floor({rows[1]} / 16) * 20; return 1; }})()")
    browser.wait(f"document.querySelector('.hex [data-at=\"{rows[1]}\"].cut')", "the cut's mark")


def fields_and_bytes_light_up_both_ways(browser, folder):
    lines = json.loads((HERE / "fixtures" / "postgresql.json").read_text())["lines"]
    event = next(event for event, line in enumerate(lines) if isinstance(line.get("detail"), dict) and line["detail"]["fields"])
    show(browser, folder, "postgresql", f"view=frames&event={event}")
    browser.wait("document.querySelector('.field-name')", "a field with a place")
    name = browser.run("document.querySelector('.field-name').textContent")
    browser.click(".field-name")
    lit = browser.wait("(() => { const lit = [...document.querySelectorAll('.hex-digits .lit')].map((e) => Number(e.dataset.at)); return lit.length ? lit : null; })()", "lit bytes")
    box = browser.run(f"(() => {{ const r = document.querySelector('.hex-digits [data-at=\"{lit[0]}\"]').getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()")
    browser.run("(document.querySelector('.detail-tools button:last-child').focus(), 1)")
    browser.move_to(5, 300)
    browser.move_to(*box)
    browser.wait(f"document.querySelector('.fields tr.lit')?.dataset.field === {json.dumps(name)}", "the lit field")


def answers_lead_to_their_requests(browser, folder):
    show(browser, folder, "trouble", "view=conversation&connection=2")
    browser.wait("document.querySelectorAll('.took').length === 5")
    assert "no answer" in browser.run("document.querySelector('.list-window').textContent")
    browser.run("document.querySelector('.list').focus()")
    browser.keys("j")
    browser.wait("document.querySelector('.pair')?.textContent.includes('50.0 ms')")
    title = browser.run("document.querySelector('.detail-title').textContent")
    browser.keys("p")
    browser.wait(f"document.querySelector('.detail-title').textContent !== {json.dumps(title)} && document.querySelector('.pair').textContent.startsWith('answers')")
    assert "ask" in title and "hold secrets" in browser.run("(async () => { document.querySelector('.pair button').click(); await new Promise((done) => setTimeout(done, 200)); return document.querySelector('.secret-note').textContent; })()")
    browser.run("(() => { const legs = document.querySelector('[aria-label=leg]'); legs.value = 'out'; legs.dispatchEvent(new Event('change')); return 1; })()")
    browser.wait("location.hash.includes('leg=out')")


def the_timeline_zooms_pans_and_opens(browser, folder):
    show(browser, folder, "blame", "view=timeline")
    span = "(() => { const p = new URLSearchParams(location.hash.slice(1)); return p.get('from') ? Number(BigInt(p.get('to')) - BigInt(p.get('from'))) : 0; })()"
    start = "new URLSearchParams(location.hash.slice(1)).get('from')"
    assert browser.run(span) == 0, browser.run("location.hash")
    browser.keys("+", "+")
    first = browser.wait(span, "a zoomed range in the address")
    browser.run("new Promise((done) => setTimeout(() => done(1), 300))")
    place = browser.run(start)
    browser.keys("l")
    browser.wait(f"BigInt({start}) > {place}n", "panned to later")
    browser.keys("-")
    browser.wait(f"{span} > {first}")
    box = browser.run("(() => { const r = document.querySelector('.timeline-canvas').getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })()")
    before = browser.run(span)
    browser.wheel(box[0] + box[2] * 0.6, box[1] + 200, -240)
    browser.wait(f"{span} < {before}", "zoomed by the wheel")
    browser.keys("0")
    browser.wait(f"{span} === 0")
    settle(browser)
    browser.keys("j", "j")
    browser.wait("document.querySelector('.detail h2')?.textContent.includes('heartbeat')", "the mark's finding")
    browser.wait("['sender', 'network'].every((word) => document.querySelector('.timeline-table table')?.textContent.includes(word))", "the table for screen readers")
    browser.reload()
    browser.wait("document.querySelector('.detail h2')")


def findings_lead_to_their_places(browser, folder):
    show(browser, folder, "blame", "view=findings")
    kinds = browser.wait("[...document.querySelectorAll('.group-table tbody th')].map((e) => e.textContent.split(' ').at(-1))")
    assert kinds[0] == "heartbeat-gap" and len(kinds) == len(set(kinds)), kinds
    browser.run("document.querySelector('.list').focus()")
    browser.keys("j")
    browser.wait("document.querySelector('.detail .facts')?.textContent.includes('heartbeat gap')")
    browser.run("([...document.querySelectorAll('.detail button')].find((e) => e.textContent.startsWith('frame')).click(), 1)")
    browser.wait("document.querySelector('.detail-title')", "the frame of the finding")


def everything_of_the_text_report_is_there(browser, folder):
    for name in ["mqtt", "blame", "redis"]:
        report = json.loads((HERE / "fixtures" / f"{name}.json").read_text())["report"]
        show(browser, folder, name, "view=overview")
        text = browser.wait("document.querySelector('.overview section:last-child') && document.querySelector('.overview').textContent")
        for row in report["connections"]:
            assert f"#{row['connection']} {row['client']} → {row['server']}" in text, (name, row["connection"])
            for gap in row["gaps"][:20]:
                assert gap["reason"] in text, gap
        for kind in report["summary"]["findings"]:
            assert kind in text, kind
        for row in report["deliveries"]:
            assert f"{row['sent']}" in text
        if report["roundTrips"]:
            assert report["roundTrips"][0]["answer"] in text
        order = browser.run("[...document.querySelectorAll('.overview h2')].map((e) => e.textContent.split(' ')[0])")
        assert order.index("When") < order.index("Findings") < order.index("Connections"), order


def keys_work_and_are_shown(browser, folder):
    show(browser, folder, "chat", "view=overview")
    for key, title in zip("1234567", ["Overview", "Connections", "Timeline", "Conversation", "Frames", "Findings", "Round trips"]):
        browser.keys(key)
        browser.wait(f"document.querySelector('nav [aria-current]').textContent === '{title}'", title)
    browser.keys("?")
    browser.wait("document.querySelector('dialog.keys').open")
    browser.keys("Escape")
    browser.wait("!document.querySelector('dialog.keys').open")
    browser.keys("t")
    browser.wait("document.documentElement.dataset.theme === 'light'")
    browser.keys("t")
    browser.wait("document.documentElement.dataset.theme === 'dark'")
    browser.keys("s")
    browser.wait("document.querySelector('dialog.save').open")
    browser.keys("Escape")
    browser.wait("!document.querySelector('dialog.save')")


# Safety


def network_bytes_never_become_markup(browser, folder):
    expected = "[...document.body.querySelectorAll('script:not([type=\"application/json\"]):not([type=module]), iframe, object, embed, svg, style, b, i, base, form[action], a[href^=\"javascript\"], img:not(.preview)')].map((e) => e.outerHTML.slice(0, 90))"
    listeners = "[...document.body.querySelectorAll('*')].flatMap((e) => e.getAttributeNames()).filter((name) => name.startsWith('on') || name === 'style' && false)"
    misleading = r"[...document.body.querySelectorAll('*')].filter((e) => e.tagName !== 'SCRIPT').flatMap((e) => [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data).concat(e.getAttribute('title') ?? [], e.getAttribute('aria-label') ?? [])).filter((t) => /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(t)).map((t) => JSON.stringify(t.slice(0, 60)))"
    from hostile import CORPUS
    per = len([line for line in hostile()["lines"] if line.get("connection") == 1])
    for view in VIEWS:
        show(browser, folder, "hostile", f"view={view}&kinds={'all' if view == 'frames' else ''}")
        for number in range(1, len(CORPUS) + 1, 1 if view == "frames" else 9):
            for offset in range(3, per) if view == "frames" and number < 4 else [3]:
                event = 1 + (number - 1) * per + offset
                browser.run(f"(() => {{ const p = new URLSearchParams(location.hash.slice(1)); p.set('event', {event}); p.set('connection', {number}); location.hash = p; return 1; }})()")
                browser.wait(f"document.querySelector('.detail-bar')", f"{view} {event}")
            settle(browser)
            for what, code in {"an element": expected, "a listener": listeners, "a misleading character": misleading}.items():
                found = browser.run(code)
                assert not found, f"{view}, {CORPUS[number - 1][:40]!r}: {what}: {found[:3]}"
        assert browser.run("window.__hit ?? null") is None, f"{view}: a script ran"
        wide = browser.run("document.scrollingElement.scrollWidth <= innerWidth")
        assert wide, f"{view}: the page became wider"
    assert browser.run("document.title").isprintable()


def a_file_loads_nothing(browser, folder):
    show(browser, folder, "blame", "view=overview")
    loaded = browser.run("performance.getEntriesByType('resource').map((e) => e.name).filter((name) => !/^(data|blob):/.test(name))")
    assert loaded == [], loaded


# For everybody

NAMES = r"""(() => {
  const text = (e) => e.textContent.trim() || e.getAttribute('aria-label') || e.getAttribute('title') || '';
  const labelled = (e) => (e.getAttribute('aria-labelledby') ?? '').split(' ').map((id) => document.getElementById(id)?.textContent ?? '').join('');
  const name = (e) => e.getAttribute('aria-label') || labelled(e) || [...(e.labels ?? [])].map(text).join('') || (/^(BUTTON|A|SUMMARY)$/.test(e.tagName) ? text(e) : '') || e.getAttribute('title') || '';
  const controls = [...document.querySelectorAll('button, a[href], input, select, textarea, summary, canvas, aside, nav, dialog, [role=grid], [role=img], [role=separator], [role=region], [tabindex="0"]:not(pre)')];
  const nameless = controls.filter((e) => e.getAttribute('aria-hidden') !== 'true' && e.checkVisibility() && !name(e)).map((e) => e.outerHTML.slice(0, 120));
  const strays = [...document.querySelectorAll('[role=gridcell], [role=columnheader], [role=rowheader]')].filter((e) => !e.parentElement.matches('[role=row]')).length
    + [...document.querySelectorAll('[role=row]')].filter((e) => !e.closest('[role=grid]')).length
    // What can have the focus has a role, whatever it says; a grid has rows and groups of them.
    + [...document.querySelectorAll('[role=presentation][tabindex]')].length
    + [...document.querySelectorAll('[role=grid]')].flatMap((e) => [...e.children]).filter((e) => e.checkVisibility() && !e.matches('[role=row], [role=rowgroup], [aria-hidden=true]')).length;
  const tables = [...document.querySelectorAll('table')].filter((e) => !e.querySelector('th')).length;
  return { nameless, strays, tables, main: document.querySelectorAll('main').length, heads: document.querySelectorAll('h1').length, language: document.documentElement.lang };
})()"""

CONTRAST = r"""(() => {
  const canvas = document.createElement('canvas'); canvas.width = canvas.height = 1;
  const context = canvas.getContext('2d', { willReadFrequently: true });
  const known = new Map();
  const rgba = (color) => {
    if (!known.has(color)) { context.clearRect(0, 0, 1, 1); context.fillStyle = color; context.fillRect(0, 0, 1, 1); const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data; known.set(color, [r, g, b, a / 255]); }
    return known.get(color);
  };
  const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3]));
  const ground = (e) => { const layers = []; for (let at = e; at; at = at.parentElement) { const c = rgba(getComputedStyle(at).backgroundColor); if (c[3] > 0) layers.push(c); if (c[3] === 1) break; }
    return layers.reduceRight((under, top) => over(top, under), rgba(getComputedStyle(document.body).backgroundColor).slice(0, 3)); };
  const light = (c) => { const [r, g, b] = c.map((v) => { const s = v / 255; return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const poor = [];
  for (const e of document.body.querySelectorAll('*')) {
    if (!e.checkVisibility() || e.closest(':disabled, canvas, [hidden], .spoken, script, option, .swatch') || ![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
    const style = getComputedStyle(e); const under = ground(e); const size = parseFloat(style.fontSize);
    const needed = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    const value = ratio(over(rgba(style.color), under), under);
    if (value < needed) poor.push(`${value.toFixed(2)} ${e.tagName}.${e.className} “${e.textContent.slice(0, 24)}”`);
  }
  // What canvases write and draw.
  const probe = document.createElement('span'); document.body.append(probe);
  const theme = (name) => { probe.style.color = `var(--${name})`; return over(rgba(getComputedStyle(probe).color), [0, 0, 0]); };
  for (const [top, under, needed] of [['text', 'paper', 4.5], ['faint', 'paper', 4.5], ['faint', 'panel', 4.5], ['text', 'chosen', 4.5], ['faint', 'chosen', 4.5], ['text', 'lit', 4.5], ['accent', 'chosen', 4.5], ['warning', 'chosen', 4.5], ['info', 'chosen', 4.5], ['error', 'hover', 4.5],
    ['client', 'life', 3], ['server', 'life', 3], ['edge', 'paper', 3], ['type-heartbeat', 'life', 3], ['bar', 'panel', 3], ['tcp', 'panel', 3], ['cut', 'paper', 3]]) {
    const value = ratio(theme(top), theme(under));
    if (value < needed) poor.push(`${value.toFixed(2)} --${top} on --${under}`);
  }
  probe.remove();
  return [...new Set(poor)];
})()"""

PLACES = [("blame", f"view={view}") for view in VIEWS] + [("tlv32", "view=frames&event=3"), ("trouble", "view=frames&kinds=all&event=6"), ("blame", "view=connections&connection=2"), ("im-magic", "view=frames&event=3"), ("trouble", "view=conversation&event=12&connection=1"), ("chat", "view=frames&filter=type+%3D%3D"), ("redis", "view=roundtrips")]


def everything_has_a_name_and_a_role(browser, folder):
    for name, place in PLACES:
        show(browser, folder, name, place)
        found = browser.run(NAMES)
        assert not found["nameless"], (place, found["nameless"])
        assert found["strays"] == 0 and found["tables"] == 0 and found["main"] == 1 and found["heads"] == 1 and found["language"] == "en", (place, found)
    show(browser, folder, "blame", "view=frames")
    for key in ("?", "s"):
        browser.keys(key)
        browser.wait("document.querySelector('dialog[open]')")
        found = browser.run(NAMES)
        assert not found["nameless"], (key, found["nameless"])
        browser.keys("Escape")


def contrast_is_enough_in_both_themes(browser, folder):
    for theme in ("light", "dark"):
        for name, place in PLACES:
            show(browser, folder, name, f"{place}&theme={theme}")
            poor = browser.run(CONTRAST)
            assert not poor, (theme, place, poor[:6])


def usable_at_420_pixels(browser, folder):
    browser.size(420, 800)
    for name, place in PLACES:
        show(browser, folder, name, place)
        wide = browser.run("document.scrollingElement.scrollWidth")
        assert wide <= 420, (place, wide)
        outside = browser.run("""[...document.querySelectorAll('button, input, select, a[href], summary')].filter((e) => e.checkVisibility() && !e.closest('nav, .table-scroll, .groups, .spoken, .skip') && (e.getBoundingClientRect().right > 421 || e.getBoundingClientRect().left < -1))
          .filter((e) => e.getBoundingClientRect().width > 1 && !e.classList.contains('skip')).map((e) => e.outerHTML.slice(0, 100))""")
        assert not outside, (place, outside)
        small = browser.run("[...document.querySelectorAll('.list, .timeline-scroller')].filter((e) => e.checkVisibility() && e.clientHeight < 60 && !e.closest('.detail')).length")
        assert small == 0, (place, "a list has no room")


def lists_have_room_on_the_smallest_screen(browser, folder):
    browser.size(320, 256)
    for name, place in [*PLACES, ("chat", "view=frames&event=3"), ("chat", "view=conversation&event=3"), ("blame", "view=findings&event=3"), ("blame", "view=connections&event=3")]:
        show(browser, folder, name, place)
        small = browser.run("[...document.querySelectorAll('main .list')].filter((e) => e.checkVisibility()).map((e) => [e.querySelector('.list-scroller').clientHeight, e.querySelector('.list-window .row:not([hidden])')?.clientHeight ?? 0]).filter(([list, row]) => list < row)")
        assert small == [], (place, small)
        assert browser.run("document.scrollingElement.scrollWidth") <= 320, place


def a_file_is_not_paused(browser, folder):
    show(browser, folder, "chat", "view=frames")
    browser.keys(" ")
    settle(browser)
    assert "paused" not in browser.run("location.hash") + browser.run("document.querySelector('.live').textContent")
    # An address of a page that was live.
    show(browser, folder, "chat", "view=frames&paused=1&filter=type+%3D%3D+%22img%22")
    browser.wait("/^\\d+ found$/.test(document.querySelector('.count').textContent.trim())", "all that is found")
    assert "paused" not in browser.run("document.querySelector('.live').textContent")


CHECKS = [
    modules_can_be_joined, every_view_is_documented, no_module_makes_markup, words_are_spelled_as_the_docs_spell_them, every_view_shows_every_trace, connections_are_sorted_searched_and_opened, a_filter_finds_and_errors_have_columns, filters_mean_what_the_language_says,
    words_are_completed, selection_and_place_survive_a_reload, a_frame_shows_fields_bytes_and_cuts, fields_and_bytes_light_up_both_ways, answers_lead_to_their_requests, the_timeline_zooms_pans_and_opens,
    findings_lead_to_their_places, everything_of_the_text_report_is_there, keys_work_and_are_shown, network_bytes_never_become_markup, a_file_loads_nothing, everything_has_a_name_and_a_role,
    contrast_is_enough_in_both_themes, usable_at_420_pixels, lists_have_room_on_the_smallest_screen, a_file_is_not_paused,
]
