#!/usr/bin/env python3
"""Measures frametap side by side with what it is compared with, on Linux: scripts/bench [PART…] [options].

The numbers of the parts that ran replace theirs in docs/benchmarks.json, and docs/benchmarks.svg and the table of
docs/benchmarks.md are made anew.
"""

import argparse
import json
import os
import platform
import re
import shlex
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import chart
import decoding
import peers
import proxying
import swift_package
import tls
from tools import CAPTURES, ROOT, Trouble, Workshop, output, say

PARTS = {
    "decode": decoding.decode,
    "scaling": decoding.scaling,
    "forms": decoding.forms,
    "memory": decoding.memory,
    "segments": decoding.segments,
    "startup": decoding.startup,
    "proxy": proxying.proxy,
    "rules": proxying.rules,
    "bulk": proxying.bulk,
    "idle": proxying.idle,
    "tls": tls.tls,
    "peers": peers.peers,
    "package": swift_package.package,
}
RESULTS = ROOT / "docs" / "benchmarks.json"


def machine():
    """What the numbers were measured on."""
    text = Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*: (.*)", text)
    memory = re.search(r"MemTotal:\s+(\d+) kB", Path("/proc/meminfo").read_text())
    release = re.search(r'PRETTY_NAME="(.*)"', Path("/etc/os-release").read_text())
    return {
        "processor": model[1] if model else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(int(memory[1]) / (1 << 20)),
        "system": f"{release[1] if release else 'Linux'}, Linux {platform.release()}",
        "swift": re.search(r"Swift version (\S+)", output("swift", "--version", stderr=subprocess.DEVNULL))[1],
    }


def commit():
    return output("git", "-C", ROOT, "describe", "--always", "--dirty", "--exclude=*").strip()


def table(results):
    """The results as lines of text."""
    for result in results:
        bounds = "" if result.must is None else f"must be {bound(result, result.must)}"
        if result.aim is not None:
            bounds += f", aim {bound(result, result.aim)}"
        yield f"{result.name:<72} {result.value:>9,.2f} {result.unit:<11} {bounds:<28} {result.verdict}"


def bound(result, number):
    return f"{'≥' if result.more_is_better else '≤'} {number:g}"


def keep(results, command):
    """Replaces the results of the parts that ran, and keeps those of the others."""
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"results": []}
    ran = {result.part for result in results}
    by_name = {result["name"]: result for result in kept["results"] if result["part"] not in ran}
    conditions = {"machine": machine(), "commit": commit(), "command": command}
    for result in results:
        entry = asdict(result)
        entry["value"] = float(f"{result.value:.4g}")
        by_name[result.name] = {**entry, "verdict": result.verdict, **conditions}
    order = list(PARTS)
    # A part that is no more leaves no numbers.
    everything = sorted((result for result in by_name.values() if result["part"] in order), key=lambda result: order.index(result["part"]))
    RESULTS.write_text(json.dumps({"results": everything}, indent=2, ensure_ascii=False) + "\n")


def main():
    parser = argparse.ArgumentParser(
        prog="scripts/bench", description="Measures frametap side by side with what it is compared with.",
        epilog="parts: " + ", ".join(f"{name} ({measure.__doc__.splitlines()[0].rstrip('.')})" for name, measure in PARTS.items()))
    parser.add_argument("parts", nargs="*", metavar="PART", help="what to measure; all of it where none is named")
    parser.add_argument("--frametap", metavar="FILE", help="the program; built with optimisation where none is named")
    parser.add_argument("--folder", metavar="DIR", help="where captures and programs are kept: 3.5 GB; .build-bench")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured; the median counts (5)")
    parser.add_argument("--prepare", action="store_true", help="only build the programs and make the captures")
    parser.add_argument("--dry", action="store_true", help="leave docs/ as it is")
    options = parser.parse_args()
    if unknown := [part for part in options.parts if part not in PARTS]:
        parser.error(f"no part is named {unknown[0]}; there are {', '.join(PARTS)}")
    if options.rounds < 1:
        parser.error(f"--rounds is {options.rounds}; expected 1 or more")
    shop = Workshop(options.frametap, options.folder)
    results = []
    try:
        if options.prepare:
            for program in ("frametap", "make-capture", "packet_loop", "ping_pong"):
                shop.program(program)
            for name in CAPTURES:
                shop.capture(name)
            return 0
        for part in options.parts or PARTS:
            say(f"measuring {part}")
            for result in PARTS[part](shop, options.rounds):
                results.append(result)
                print(*table([result]), sep="\n", flush=True)
    except (Trouble, subprocess.CalledProcessError, OSError) as trouble:
        say(str(trouble))
        return 2
    finally:
        if results and not options.dry:
            words = ["scripts/bench", *options.parts] + ([] if options.rounds == 5 else ["--rounds", str(options.rounds)])
            keep(results, shlex.join(words))
            chart.draw()
    return 0


if __name__ == "__main__":
    sys.exit(main())
