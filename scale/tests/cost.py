"""What each part of a run costs: `python tests/cost.py FRAMETAP CAPTURES SHARDS`. By hand; prints lines of JSON.

CAPTURES is a folder that `python tests/synthetic.py` made.

CPU seconds of this process and of those that it started, and the most memory that each held. Spark itself is not in it.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from frametap_spark.program import FIXED, Program
from frametap_spark.tasks import Job, ShardWork, decode, split
from frametap_spark.transfer import Transfer

FORMAT = Path(__file__).parent / "device.yaml"


def measured(name: str, part: Callable[[], object], **more: object) -> object:
    """Runs a part, and prints what it cost."""
    before = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    started = time.monotonic()
    result = part()
    wall = time.monotonic() - started
    after = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu = [round(b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime, 2) for a, b in zip(before, after, strict=True)]
    most = [usage.ru_maxrss // 1024 for usage in after]
    line = {
        "part": name,
        "cpuHere": cpu[0],
        "cpuFrametap": cpu[1],
        "wall": round(wall, 2),
        "mostMiBHere": most[0],
        "mostMiBFrametap": most[1],
    }
    print(json.dumps({**line, **more}), flush=True)
    return result


def main(frametap: str, captures: str, shards: int) -> None:
    """Measures plain decode, splitting and decoding, in this order: memory only grows."""
    files = sorted(map(str, Path(captures).iterdir()))
    size = sum(Path(file).stat().st_size for file in files)
    program = Program(frametap, (f"--format={FORMAT}",))
    with tempfile.TemporaryDirectory() as folder:
        job = Job(program, Transfer(), shards, 1, f"{folder}/shards", f"{folder}/tables")
        plain = [frametap, "decode", "--as", "ndjson", *FIXED, *program.options, *files]
        measured("plain decode", lambda: subprocess.run(plain, stdout=subprocess.DEVNULL, check=True), bytes=size)
        group, _ = measured("splitting", lambda: split(job, files))
        work = ShardWork([group], [], None, group.end, group.end - 3_600 * 10**9, None)
        for shard in range(shards):
            measured(f"decoding shard {shard}", lambda shard=shard: decode(job, work, shard))
        print(json.dumps({"part": "tables", "bytes": sum(path.stat().st_size for path in Path(folder, "tables").rglob("*.parquet"))}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
