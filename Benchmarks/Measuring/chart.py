#!/usr/bin/env python3
"""Draws docs/benchmarks.svg from docs/benchmarks.json, and puts the same numbers into the table of docs/benchmarks.md, and those of
Benchmarks/guard.json into another one: tools/chart.

Each bar is how far a number is from what it must be: 1 is just enough, to the right of it is better.
"""

import json
import sys
from html import escape
from math import log10
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
RESULTS = ROOT / "docs" / "benchmarks.json"
CHART = ROOT / "docs" / "benchmarks.svg"
PAGE = ROOT / "docs" / "benchmarks.md"
LIMITS = ROOT / "Benchmarks" / "guard.json"
BEGIN, END = "<!-- benchmarks: made by tools/chart -->", "<!-- end of benchmarks -->"
COUNTS_BEGIN, COUNTS_END = "<!-- counts: made by tools/chart -->", "<!-- end of counts -->"

WIDTH, LEFT, RIGHT, ROW, TOP = 1000, 500, 140, 30, 56
DECADES = (0.1, 1, 10, 100)

STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 15px }
  .quiet { fill: #59636e }
  .grid { stroke: #d1d9e0 }
  .must { stroke: #59636e; stroke-width: 1.5 }
  .reached { fill: #1a7f37 }
  .missed { fill: #bc4c00 }
  .aim { stroke: #0969da; stroke-width: 2.5 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc }
    .quiet { fill: #9198a1 }
    .grid { stroke: #3d444d }
    .must { stroke: #9198a1 }
    .reached { fill: #3fb950 }
    .missed { fill: #f0883e }
    .aim { stroke: #58a6ff }
  }
"""


def bounded(results):
    return [result for result in results if result["must"] is not None]


def factor(result, value):
    """How many times as good as it must be a value is."""
    return value / result["must"] if result["more_is_better"] else result["must"] / value


def place(value):
    """Where a factor is on the logarithmic axis, within its ends."""
    low, high = log10(DECADES[0]), log10(DECADES[-1])
    share = (log10(max(value, DECADES[0])) - low) / (high - low)
    return LEFT + min(share, 1) * (WIDTH - LEFT - RIGHT)


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 1 else f"{value:.4g}"


def quantity(result, value=None):
    text = number(result["value"] if value is None else value)
    return f"{text}{'' if result['unit'] == '×' else ' '}{result['unit']}"


def svg(results):
    """The chart."""
    height = TOP + ROW * len(results) + 34
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="frametap’s benchmarks">'
    yield f"<style>{STYLE}</style>"
    yield '<text class="title" x="12" y="24">How far each number is from what it must be (longer is better)</text>'
    bottom = TOP + ROW * len(results)
    for decade in DECADES:
        x = place(decade)
        yield f'<line class="{"must" if decade == 1 else "grid"}" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 8}" y2="{bottom}"/>'
        label = "must" if decade == 1 else f"{decade:g}×"
        yield f'<text class="quiet" text-anchor="middle" x="{x:.1f}" y="{bottom + 18}">{label}</text>'
    for row, result in enumerate(results):
        y = TOP + ROW * row
        start, end = place(DECADES[0]), place(factor(result, result["value"]))
        kind = "missed" if result["verdict"] == "missed" else "reached"
        yield f'<text text-anchor="end" x="{LEFT - 10}" y="{y + 15}">{escape(result["name"])}</text>'
        yield f'<rect class="{kind}" x="{start:.1f}" y="{y + 2}" width="{max(end - start, 1):.1f}" height="18" rx="2"/>'
        if result["aim"] is not None:
            x = place(factor(result, result["aim"]))
            yield f'<line class="aim" x1="{x:.1f}" x2="{x:.1f}" y1="{y - 1}" y2="{y + 23}"/>'
        yield f'<text x="{WIDTH - RIGHT + 8}" y="{y + 15}">{escape(quantity(result))}</text>'
    yield f'<text class="quiet" x="12" y="{bottom + 18}">the blue line is what is aimed at</text>'
    yield "</svg>"


def table(results):
    """The page's table, and what the numbers were measured on."""
    yield "| what | measured | must | aim | threads | wall | CPU | measured on |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for result in results:
        sign = "≥" if result["more_is_better"] else "≤"
        bounds = ["" if result[key] is None else f"{sign} {result[key]:g}" for key in ("must", "aim")]
        mark = " (missed)" if result["verdict"] == "missed" else ""
        cells = [result["name"], quantity(result) + mark, *bounds, *spent(result), day(result)]
        yield f"| {' | '.join(cells)} |"
    yield ""
    yield from conditions(results)


def day(result):
    """The day on which a result was measured."""
    return result["date"].split()[0]


def spent(result):
    """Threads, wall-clock and CPU seconds of the median run; empty where they were not taken."""
    threads, wall, cpu = (result.get(key) for key in ("threads", "wall_seconds", "cpu_seconds"))
    yield "" if threads is None else str(threads)
    yield from ("" if value is None else f"{value:.3g} s" for value in (wall, cpu))


def conditions(results):
    """A line for each machine and day: which commands measured there."""
    runs = {}
    for result in results:
        machine = result["machine"]
        where = f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB, {machine['system']}, Swift {machine['swift']}"
        # A dictionary, since a set has no order.
        runs.setdefault((day(result), where), {})[f"`{result['command']}`"] = None
    for (measured, where), commands in sorted(runs.items()):
        yield f"Measured on {measured} by {', '.join(commands)}: {where}."


def counts():
    """What `scripts/guard` accepts."""
    yield "| what | instructions | allocations |"
    yield "| --- | --- | --- |"
    for name, each in json.loads(LIMITS.read_text()).items():
        yield f"| {name} | {each['instructions']:,.0f} | {max(each['allocations'], 0):,.3f} |"


def replaced(text, begin, lines, end):
    """A page with other lines between two marks."""
    before, found, rest = text.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found or not found_end:
        sys.exit(f"{PAGE}: expected the lines {begin} and {end}")
    return f"{before}{begin}\n" + "\n".join(lines) + f"\n{end}{after}"


def draw():
    """Makes the chart and the tables anew."""
    everything = json.loads(RESULTS.read_text())["results"]
    results = bounded(everything)
    CHART.write_text("\n".join(svg(results)) + "\n")
    text = replaced(PAGE.read_text(), BEGIN, table(everything), END)
    PAGE.write_text(replaced(text, COUNTS_BEGIN, counts(), COUNTS_END))


if __name__ == "__main__":
    draw()
