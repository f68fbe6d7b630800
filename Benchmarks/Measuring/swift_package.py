"""The benchmarks of the Swift package in Benchmarks/, which use frametap's libraries and not the program."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tools import BENCHMARKS, Result, Trouble, say

# The export with smaller-is-better metrics has the 99th percentile of each, "NAME - METRIC".
METRIC = "Time (wall clock)"
MILLISECONDS = {"ns": 1e-6, "μs": 1e-3, "us": 1e-3, "ms": 1.0, "s": 1e3}


def package(shop, rounds):
    """The library alone, on one thread, captures in memory (99th percentile)."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "swift", "package", "--package-path", BENCHMARKS, "--allow-writing-to-directory", folder, "benchmark", "run",
            "--no-progress", "--format", "jsonSmallerIsBetter", "--path", folder]
        say(" ".join(map(str, command)))
        subprocess.run([str(word) for word in command], stdout=sys.stderr, check=True)
        files = list(Path(folder).iterdir())
        if len(files) != 1:
            raise Trouble(f"the benchmark package wrote {len(files)} files, expected 1")
        for entry in json.loads(files[0].read_text()):
            name, _, metric = entry["name"].rpartition(" - ")
            if metric == METRIC:
                yield Result("package", f"library: {name}", entry["value"] * MILLISECONDS[entry["unit"]], "ms")
