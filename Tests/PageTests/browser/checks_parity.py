"""Checks that the page works out by itself what the server would say: fixtures/parity.json, which the server's tests read, too."""

import json

import mock_server
from checks_files import HERE
from checks_server import at

FIXTURE = json.loads((HERE / "fixtures" / "parity.json").read_text())
GIVEN = """(async (fixture) => {
  const [{ readJSON }, { previewOf }, { TraceIndex }, { lanesOf }, { completionWords }] = await Promise.all(
    ['source/exact-json.js', 'source/preview.js', 'source/trace-index.js', 'source/lanes.js', 'language/complete.js'].map((path) => import('/' + path)));
  const index = new TraceIndex(fixture.timeline.lines.map((line) => readJSON(line)));
  const { lanes } = lanesOf(index, { from: index.earliest, to: index.latest, bins: 10, first: 0, count: 100 });
  const { formats } = new TraceIndex(fixture.completions.lines.map((line) => readJSON(line)));
  return {
    previews: fixture.previews.map(({ line }) => previewOf(readJSON(line))), lanes: lanes.map(({ connection, marks }) => ({ connection, marks })),
    words: fixture.completions.cases.map(({ prefix }) => completionWords(formats, prefix)),
  };
})"""


def the_page_says_what_the_server_says(browser, _):
    server, address = mock_server.serve(10)
    try:
        at(browser, address, "view=frames")
        given = browser.run(f"{GIVEN}({json.dumps(FIXTURE)})")
        for case, preview in zip(FIXTURE["previews"], given["previews"], strict=True):
            assert preview == case["preview"], (case["why"], preview)
        for wanted, lane in zip(FIXTURE["timeline"]["lanes"], given["lanes"], strict=True):
            assert lane == wanted, (wanted, lane)
        for case, words in zip(FIXTURE["completions"]["cases"], given["words"], strict=True):
            assert words == case["words"], (case["prefix"], words)
    finally:
        server.shutdown()


CHECKS = [the_page_says_what_the_server_says]
