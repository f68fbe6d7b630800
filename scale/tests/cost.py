"""What each part of a run costs: `python tests/cost.py FRAMETAP CAPTURES SHARDS [ROUNDS]`. By hand; prints lines of JSON.

CAPTURES is a folder that `python tests/synthetic.py` made.

CPU seconds of this process and of those that it started, and the most memory that each held so far. Spark itself is not in it. The last
line has the medians of all rounds, and what all parts cost together against plain decode, once with its output in a file, as that of the
parts is, and once with none.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from frametap_spark.program import FIXED, Program, with_large_pages
from frametap_spark.tasks import Job, ShardWork, decode, split
from frametap_spark.transfer import Transfer

FORMAT = Path(__file__).parent / "device.yaml"


class Costs:
    """What parts cost in each round."""

    def __init__(self) -> None:
        self.rounds: list[dict[str, float]] = []

    def begin(self) -> None:
        """Begins a round."""
        self.rounds.append(defaultdict(float))

    def measured(self, name: str, part: Callable[[], object]) -> object:
        """Runs a part, and prints what it cost."""
        before = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        started = time.monotonic()
        result = part()
        wall = time.monotonic() - started
        after = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        cpu = [b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime for a, b in zip(before, after, strict=True)]
        self.rounds[-1][name] += sum(cpu)
        line = {
            "part": name,
            "cpuHere": round(cpu[0], 2),
            "cpuFrametap": round(cpu[1], 2),
            "wall": round(wall, 2),
            "mostMiBHere": after[0].ru_maxrss // 1024,
            "mostMiBFrametap": after[1].ru_maxrss // 1024,
        }
        print(json.dumps(line), flush=True)
        return result

    def median(self, name: str) -> float:
        """Of all rounds."""
        return statistics.median(costs[name] for costs in self.rounds)

    def ratios(self, plain: str) -> list[float]:
        """What the parts cost in each round, against plain decode."""
        return sorted(round((costs["splitting"] + costs["decoding"]) / costs[plain], 2) for costs in self.rounds)


def measure(costs: Costs, program: Program, files: list[str], shards: int) -> dict[str, int]:
    """One round; gives how many bytes there were and came of it."""
    costs.begin()
    # The same for all: it is worth a little.
    os.environ.update(with_large_pages())
    plain = [program.name, "decode", "--as", "ndjson", *FIXED, *program.options]
    costs.measured("plain", lambda: subprocess.run([*plain, *files], stdout=subprocess.DEVNULL, check=True))
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "trace.ndjson")
        costs.measured("plainToFile", lambda: subprocess.run([*plain, "--output", str(trace), "--", *files], check=True))
        size = trace.stat().st_size
        trace.unlink()
        job = Job(program, Transfer(), shards, 1, f"{folder}/shards", f"{folder}/tables")
        group, _ = costs.measured("splitting", lambda: split(job, files))
        work = ShardWork([group], [], None, group.end, group.end - 3_600 * 10**9, None)
        for shard in range(shards):
            costs.measured("decoding", lambda shard=shard: decode(job, work, shard))
        tables = sum(path.stat().st_size for path in Path(folder, "tables").rglob("*.parquet"))
    return {"captures": sum(Path(file).stat().st_size for file in files), "trace": size, "tables": tables}


def main(frametap: str, captures: str, shards: int, rounds: int = 5) -> None:
    """Measures plain decode, splitting and decoding, one after the other, again and again: machines change."""
    files = sorted(map(str, Path(captures).iterdir()))
    costs = Costs()
    sizes = [measure(costs, Program(frametap, (f"--format={FORMAT}",)), files, shards) for _ in range(rounds)]
    names = ("plain", "plainToFile", "splitting", "decoding")
    medians = {name: round(costs.median(name), 2) for name in names}
    print(json.dumps({"bytes": sizes[-1], "medians": medians, "ratios": {name: costs.ratios(name) for name in names[:2]}}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
