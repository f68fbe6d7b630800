"""What measurements have in common: the programs, the captures, running and timing them, results."""

import datetime
import os
import re
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BENCHMARKS = ROOT / "Benchmarks"

# What is made of each shape: see `make-capture`.
CAPTURES = {
    "small": "frames 100 12000000 40",
    "large": "frames 100 1000000 1000",
    "some": "frames 100 2000000 40",
    "more": "frames 100 4000000 40",
    "few": "frames 100 1000000 40",
    "tenth": "frames 100 100000 40",
    "chat": "chat 100 2000000",
    "open": "open 1000000",
    "bytes-1": "bytewise 1048576",
    "bytes-16": "bytewise 16777216",
    "in-order": "in-order 100000",
    "reversed": "reversed 100000",
}


class Trouble(Exception):
    """A measurement that could not be made: what, and why."""


def say(text):
    print(f"frametap: {text}", file=sys.stderr, flush=True)


def output(*command, **options):
    """What a command prints; Trouble where it fails."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, **options)
    if done.returncode != 0:
        raise Trouble(f"{' '.join(map(str, command))}: exit status {done.returncode}")
    return done.stdout


def swift_build(*arguments):
    """Builds with optimisation; returns the folder with the programs."""
    command = ["swift", "build", "-c", "release", *map(str, arguments)]
    subprocess.run(command, stdout=sys.stderr, check=True)
    return Path(output(*command, "--show-bin-path").strip())


class Workshop:
    """The programs that measure, and where captures are kept: both are made when they are first asked for."""

    def __init__(self, frametap=None, folder=None):
        self.folder = Path(folder or ROOT / ".build-bench")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.given = frametap and Path(frametap).resolve()
        self.programs = {}

    def program(self, name):
        if name not in self.programs:
            self.programs[name] = self.build(name)
        return self.programs[name]

    def build(self, name):
        if name == "frametap":
            return self.given or swift_build("--package-path", ROOT, "--product", name) / name
        if name == "make-capture":
            return swift_build("--package-path", BENCHMARKS / "Captures", "--product", name) / name
        program = self.folder / name
        source = BENCHMARKS / "Reference" / f"{name}.c"
        libraries = ["-lpcap"] if name == "packet_loop" else []
        output(os.environ.get("CC", "cc"), "-O2", "-o", program, source, *libraries)
        return program

    @property
    def frametap(self):
        return self.program("frametap")

    def capture(self, name, shape=None):
        """A capture's path. Its name has its shape, so that another shape is another file; it is made anew where what makes it changed."""
        shape = shape or CAPTURES[name]
        path = self.folder / f"{shape.replace(' ', '-')}.pcap"
        changed = max(source.stat().st_mtime for source in (BENCHMARKS / "Captures" / "Sources").rglob("*.swift"))
        if not path.exists() or path.stat().st_mtime < changed:
            partial = path.with_suffix(".partial")
            output(self.program("make-capture"), *shape.split(), partial)
            partial.rename(path)
        return path

    def decode(self, name, form="summary", *, shape="len16-id"):
        """The command that decodes a capture."""
        return [self.frametap, "decode", self.capture(name), "--format", shape, "--as", form]


@dataclass
class Usage:
    """What running a command took: wall-clock seconds, CPU seconds of all its threads, and how many threads it had."""

    wall: float
    cpu: float
    threads: int


def usage(command, is_short=False):
    """Runs a command; what it prints goes to /dev/null.

    Its threads are counted every 2 ms, and its end is noticed then: a short one is waited for instead, and counted as one thread.
    """
    start = time.monotonic()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
    threads = 1
    while True:
        pid, status, resources = os.wait4(process.pid, 0 if is_short else os.WNOHANG)
        if pid:
            break
        threads = max(threads, thread_count(process.pid))
        time.sleep(0.002)
    wall = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Trouble(f"{' '.join(map(str, command))}: exit status {process.returncode}")
    return Usage(wall, resources.ru_utime + resources.ru_stime, threads)


def thread_count(pid):
    """How many threads a process has now; 0 where it is gone."""
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except (FileNotFoundError, ProcessLookupError):
        return 0


def median_usage(command, rounds, is_short=False):
    """Medians of what a command takes; it runs once more before, to warm up."""
    usage(command, is_short)
    return middle([usage(command, is_short) for _ in range(rounds)])


def middle(usages):
    return Usage(
        statistics.median(used.wall for used in usages), statistics.median(used.cpu for used in usages),
        max(used.threads for used in usages))


@dataclass
class Comparison:
    """What two commands took, run in turn: medians of each, and of the ratios of each pair."""

    ours: Usage
    theirs: Usage
    wall_ratio: float
    cpu_ratio: float


def in_turn(first, second, rounds):
    """Compares two commands that run in turn."""
    usage(first), usage(second)
    pairs = [(usage(first), usage(second)) for _ in range(rounds)]
    return Comparison(
        middle([ours for ours, _ in pairs]), middle([theirs for _, theirs in pairs]),
        statistics.median(ours.wall / theirs.wall for ours, theirs in pairs),
        statistics.median(ours.cpu / theirs.cpu for ours, theirs in pairs))


def frames_of(command):
    """How many frames a summary counts."""
    text = output(*command)
    found = re.search(r"([\d,]+) frames?", text)
    if not found:
        raise Trouble(f"the summary counts no frames: {text!r}")
    return int(found[1].replace(",", ""))


def anonymous_memory(pid):
    """A process's memory that is no file's, in bytes (RssAnon); 0 where it is gone."""
    try:
        found = re.search(r"RssAnon:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return int(found[1]) << 10 if found else 0


def peak_memory(command):
    """The most anonymous memory a command has, looked at every few milliseconds."""
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
    most = 0
    while process.poll() is None:
        most = max(most, anonymous_memory(process.pid))
        time.sleep(0.002)
    if process.returncode != 0:
        raise Trouble(f"{' '.join(map(str, command))}: exit status {process.returncode}")
    return most


@dataclass
class Result:
    """One number, and what it should be."""

    part: str
    name: str
    value: float
    unit: str
    must: float = None
    aim: float = None
    more_is_better: bool = False
    # Threads at work and CPU seconds of all of them, beside the wall-clock seconds: what was measured, and what it was compared with.
    threads: int = None
    wall_seconds: float = None
    cpu_seconds: float = None
    details: dict = field(default_factory=dict)
    date: str = field(default_factory=lambda: datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"))

    def reaches(self, bound):
        return self.value >= bound if self.more_is_better else self.value <= bound

    @property
    def verdict(self):
        if self.must is None:
            return ""
        if self.aim is not None and self.reaches(self.aim):
            return "aim"
        return "must" if self.reaches(self.must) else "missed"
