#!/usr/bin/env python3
"""Counts what decoding a frame and relaying a message take and compares with Benchmarks/guard.json: scripts/guard [--accept] [--testable] [--frametap FILE].

It counts with the optimised build, since that is what has a hot path: in a debug build, most instructions are of what the optimiser takes
away. Each capture is decoded twice, a short one and a longer one; the difference is what the frames took, without starting up. Relaying is
counted in the same way: on one connection, each message is sent when the one before it came back.

CI builds a program in which tests can import what is internal. There, the compiler cannot prove that nobody else accesses the properties of a
class, and leaves checks of exclusive access in: such a program takes a known factor more instructions, which guard.json has for each case.
"""

import argparse
import json
import re
import subprocess
import sys

import chart
from counting import ENVIRONMENT, stripped, totals, valgrind
from proxying import echo_server, frametap_proxy
from tools import BENCHMARKS, Trouble, Workshop, output, say

LIMITS = BENCHMARKS / "guard.json"
# How much more may be counted than was accepted: processors differ in which memcpy the C library takes.
MARGIN = {"instructions": 1.10, "allocations": 1.10}
# The relay begins another array of events whenever the recorder takes the last one: how often depends on what else the machine does.
RELAY_MARGIN = {"instructions": 1.10, "allocations": 1.50}
# Fewer allocations a frame than this are none: tables that grow now and then.
SLACK = {"instructions": 0, "allocations": 0.01}

# What is decoded, the lengths of both captures, the format and the form.
CASES = {
    "45-byte frames, --as summary": ("frames 10 {} 40", 20_000, 80_000, "len16-id", "summary"),
    "45-byte frames of a long capture, --as summary": ("frames 10 {} 40", 100_000, 300_000, "len16-id", "summary"),
    "45-byte frames, --as ndjson": ("frames 10 {} 40", 60_000, 120_000, "len16-id", "ndjson"),
    "45-byte frames, --as text": ("frames 10 {} 40", 60_000, 120_000, "len16-id", "text"),
    "1,005-byte frames, --as summary": ("frames 10 {} 1000", 5_000, 20_000, "len16-id", "summary"),
    "im-json, --as summary": ("chat 10 {}", 5_000, 20_000, "im-json", "summary"),
    "10-byte frames, segments reversed": ("reversed {}", 5_000, 20_000, "len16-id", "summary"),
    "connections of one frame, not recognized mid-stream": ("open {}", 200, 800, "auto", "summary"),
    "connections of one im-json message, recognized": ("messages {}", 200, 800, "auto", "summary"),
    "connections of 100 im-json messages, recognized mid-stream": ("chat {0} {0}00", 20, 60, "auto", "summary"),
    "a byte of other text, searched for HTTP": ("text {}", 10_000, 30_000, "example:http", "summary"),
    "a byte of other text, searched for STOMP": ("text {}", 10_000, 30_000, "example:stomp", "summary"),
    "a byte of other text, searched for AMQP": ("text {}", 10_000, 30_000, "example:amqp", "summary"),
    "1-byte segments of one frame": ("bytewise {}", 20_000, 80_000, "im-json", "summary"),
}

RELAYING = "relaying a 64-byte message there and back"
ROUND_TRIPS = (1_000, 3_000)
COMPARING = "a pair of 45-byte frames, diff"
PAIRS = (5_000, 20_000)


def counted(shop, program, capture, *arguments):
    """Instructions and allocations of a run that reads a capture from its standard input: then one thread does all."""
    counts = shop.folder / "callgrind.out"
    command = [*valgrind(counts), program, "decode", "-", "--conflict-history", "0", *arguments]
    with capture.open("rb") as file:
        done = subprocess.run(
            [str(word) for word in command], stdin=file, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    if done.returncode != 0:
        raise Trouble(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return totals(counts)


def compared(shop, program, capture):
    """Instructions and allocations of comparing a capture with itself."""
    counts = shop.folder / "callgrind-diff.out"
    command = [*valgrind(counts), program, "diff", capture, capture, "--format", "len16-id"]
    output(*command, env=ENVIRONMENT)
    return totals(counts)


def relayed(shop, program, messages):
    """Instructions and allocations of the event loop that relays messages. The recorder's thread depends on when it wakes."""
    counts = shop.folder / "callgrind-relay.out"
    for old in shop.folder.glob(f"{counts.name}*"):
        old.unlink()
    counting = [*valgrind(counts, "--separate-threads=yes"), program]
    with echo_server(shop) as server, frametap_proxy(shop, server, "--format", "len16-id", program=counting) as (_, port, _):
        output(shop.program("ping_pong"), "client", port, 1, messages)
    # Accepting a client happens on another thread than relaying it.
    threads = shop.folder.glob(f"{counts.name}-*")
    relaying = [path for path in threads if re.search(r"^c?fn=.*RelayHandler.*channelRead", path.read_text(), re.MULTILINE)]
    if len(relaying) != 1:
        raise Trouble(f"{len(relaying)} threads relayed one connection")
    return totals(relaying[0])


def measure(shop):
    """What each frame takes, by case."""
    program = stripped(shop)
    for name, (shape, short, long, format_name, form) in CASES.items():
        few, many = (
            counted(shop, program, shop.capture(None, shape.format(count)), "--format", format_name, "--as", form) for count in (short, long))
        yield name, each(few, many, long - short)
    few, many = (compared(shop, program, shop.capture(None, f"frames 10 {count} 40")) for count in PAIRS)
    yield COMPARING, each(few, many, PAIRS[1] - PAIRS[0])
    few, many = (relayed(shop, program, messages) for messages in ROUND_TRIPS)
    yield RELAYING, each(few, many, ROUND_TRIPS[1] - ROUND_TRIPS[0])


def each(few, many, difference):
    """What each of the additional ones took."""
    return {what: round((many[what] - few[what]) / difference, 3) for what in few}


def accepted_counts(name, limits, is_testable):
    """What is accepted of a case, by kind of count; None if guard.json has no such case."""
    accepted = limits.get(name)
    if accepted is None:
        return None
    factor = accepted.get("testable", 1) if is_testable else 1
    return {"instructions": round(accepted["instructions"] * factor, 3), "allocations": accepted["allocations"]}


def compare(name, now, accepted):
    """Complaints about a case that has grown."""
    if accepted is None:
        yield f"{name}: Benchmarks/guard.json has no such case"
        return
    for what, count in now.items():
        # A longer capture may take fewer allocations than a short one: the difference is then below nought.
        margin = RELAY_MARGIN if name == RELAYING else MARGIN
        most = max(accepted[what], 0) * margin[what] + SLACK[what]
        if count > most:
            grown = f"{count / accepted[what] - 1:.0%} more than" if accepted[what] > 0 else "and not"
            yield f"{name}: {count:,.3f} {what} for each, {grown} the {accepted[what]:,.3f} that were accepted (at most {most:,.3f} pass)"


def renewed(accepted, now, is_testable):
    """A case of guard.json with what was counted now."""
    if is_testable:
        return accepted | {"testable": round(now["instructions"] / accepted["instructions"], 3)}
    return accepted | now


def main():
    parser = argparse.ArgumentParser(prog="scripts/guard", description="Fails where decoding a frame or relaying a message takes more than was accepted.")
    parser.add_argument("--accept", action="store_true", help="take what is counted now as the measure, in Benchmarks/guard.json")
    parser.add_argument("--frametap", metavar="FILE", help="the program; built with optimisation where none is named")
    parser.add_argument("--testable", action="store_true", help="the program is built so that tests can import what is internal, as in CI; with --accept, take how much more it takes")
    options = parser.parse_args()
    if options.testable and not options.frametap:
        parser.error("--testable needs --frametap: a program that FRAMETAP_BUILT_ONCE=yes scripts/test built")
    shop = Workshop(options.frametap)
    limits = json.loads(LIMITS.read_text()) if LIMITS.exists() else {}
    complaints, counts = [], {}
    try:
        for name, now in measure(shop):
            counts[name] = now
            accepted = accepted_counts(name, limits, options.testable)
            said = ", ".join(f"{count:,.3f} {what} (accepted: {(accepted or {}).get(what, 'none')})" for what, count in now.items())
            print(f"{name}: {said}", flush=True)
            complaints += compare(name, now, accepted)
    except (Trouble, subprocess.CalledProcessError, OSError) as trouble:
        say(str(trouble))
        return 2
    unknown = [name for name in counts if name not in limits]
    if options.accept and options.testable and unknown:
        say(f"guard.json does not have {', '.join(unknown)}: run scripts/guard --accept first, with a program built without FRAMETAP_BUILT_ONCE")
        return 2
    if options.accept:
        for name, now in counts.items():
            limits[name] = renewed(limits.get(name, {}), now, options.testable)
        LIMITS.write_text(json.dumps({name: limits[name] for name in counts}, indent=2, ensure_ascii=False) + "\n")
        chart.draw()
        say(f"accepted: {LIMITS}, and the table of docs/benchmarks.md")
        return 0
    for complaint in complaints:
        print(f"FAILED: {complaint}")
    if complaints:
        print("It has become slower. If it has to be: scripts/guard --accept, and commit Benchmarks/guard.json with the reason.")
        if options.testable:
            print("If CI's program alone takes more, or a case is new: scripts/guard --accept --testable --frametap FILE, with what CI built.")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
