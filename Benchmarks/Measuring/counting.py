"""Counting instructions with valgrind's callgrind: the counts are the same each time, whatever else the machine does."""

import os
import re

from tools import Trouble, output

ALLOCATING = ("malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc")
ENVIRONMENT = {"PATH": os.environ["PATH"], "SWIFT_DETERMINISTIC_HASHING": "1", "TZ": "UTC"}


def stripped(shop):
    """The program without debugging information: valgrind reads it for as long as it takes to count."""
    program = shop.folder / "frametap-to-count"
    output("strip", "--strip-debug", "-o", program, shop.frametap)
    return program


def valgrind(counts, *options):
    return ["valgrind", "-q", "--tool=callgrind", "--compress-strings=no", f"--callgrind-out-file={counts}", *options]


def totals(counts):
    """Instructions and allocations of callgrind's file."""
    text = counts.read_text()
    calls = re.findall(rf"^cfn=(?:{'|'.join(ALLOCATING)})\ncalls=(\d+)", text, re.MULTILINE)
    if not calls:
        raise Trouble(f"{counts}: nothing called malloc")
    return {"instructions": instructions(counts, text), "allocations": sum(map(int, calls))}


def instructions(counts, text=None):
    total = re.search(r"^(?:summary|totals): (\d+)", text or counts.read_text(), re.MULTILINE)
    if not total:
        raise Trouble(f"{counts}: no line says how many instructions there were")
    return int(total[1])


def by_thread(shop, command):
    """The instructions of each thread of a command: the first thread's, and those of the others, the most first."""
    counts = shop.folder / "callgrind-threads.out"
    for old in shop.folder.glob(f"{counts.name}*"):
        old.unlink()
    output(*valgrind(counts, "--separate-threads=yes", "--fair-sched=yes"), *command, env=ENVIRONMENT)
    first, *others = (instructions(path) for path in sorted(shop.folder.glob(f"{counts.name}-*")))
    return [first, *sorted(others, reverse=True)]
