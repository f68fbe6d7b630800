"""What workers do: split a group of files by connection, and decode a shard of all groups.

A task writes to a folder of its own attempt, and its result says which. Only results that Spark accepted are used, so a task may
run twice, or die in the middle, and nothing changes.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from .captures import end_of, write_end
from .errors import Problem
from .program import Program, Selection, Written, connection_names
from .transfer import Transfer


@dataclass(frozen=True)
class Group:
    """Files that one task split: where its shards are, and until when they last."""

    place: str
    end: int | None


@dataclass(frozen=True)
class Job:
    """What all tasks of a run need to know."""

    program: Program
    transfer: Transfer
    shards: int
    run: int
    #: Where attempts write shards and tables, on the output's file system.
    shard_area: str
    table_area: str


@dataclass(frozen=True)
class ShardWork:
    """What the decoding of all shards has in common."""

    new: list[Group]
    #: Groups of earlier runs, with packets of live connections.
    old: list[Group]
    #: Where the earlier run left its live connections; None: there was none.
    live: str | None
    #: Until when all captures last; connections that ended before `horizon` are final, those before `after` were already.
    end: int | None
    horizon: int | None
    after: int | None


@dataclass
class Decoded:
    """What a task made of a shard: its files below `place`, and what the next run must know."""

    place: str
    files: list[str] = field(default_factory=list)
    #: Formats that have heartbeats.
    heartbeats: list[str] = field(default_factory=list)
    #: The ends of live connections, and when the first of them opened.
    live: set[str] = field(default_factory=set)
    since: int | None = None
    connections: int = 0
    frames: int = 0

    def add(self, written: Written) -> None:
        """Adds what frametap wrote."""
        self.heartbeats += written.heartbeats
        # A client may have used a port twice.
        self.live |= written.live
        self.since = min((time for time in (self.since, written.since) if time is not None), default=None)
        self.connections += written.connections
        self.frames += written.frames


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder on the worker's disk."""
    folder = Path(tempfile.mkdtemp(prefix="frametap-spark-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def split(job: Job, urls: list[str]) -> tuple[Group | None, list[Problem]]:
    """Splits files, in the order of their names; gives where the shards are, and what could not be read."""
    with scratch() as folder:
        fetched = folder / "files"
        fetched.mkdir()
        paths, problems = job.transfer.fetch(urls, fetched)
        if not paths:
            return None, problems
        shards = folder / "shards"
        unread = job.program.shard(list(paths.values()), job.shards, shards)
        names = {path: url for url, path in paths.items()}
        problems += [replace(problem, file=names.get(problem.file, problem.file)) for problem in unread]
        smallest = min(shards.iterdir(), key=lambda path: path.stat().st_size)
        end = end_of(smallest)
        return Group(job.transfer.store(shards, job.shard_area), end), problems


def decode(job: Job, work: ShardWork, shard: int) -> Decoded:
    """Decodes a shard of the new groups, and once more, with the old groups, the connections that were live."""
    with scratch() as folder:
        live = _live(job, work, shard, folder)
        result = folder / "result"
        (result / "tables").mkdir(parents=True)
        decoded = Decoded("")
        since = live.get("since") or 0
        pairs = sorted(set(live.get("pairs", [])))
        old = [group for group in work.old if group.end is None or group.end >= since] if pairs else []
        if work.end is not None:
            write_end(folder / "end.pcapng", work.end)
        new_files = _pieces(job, work.new, shard, folder / "new")
        parts = [([], new_files, Selection(without=pairs, horizon=work.horizon))] if new_files else []
        if pairs:
            every = _pieces(job, old, shard, folder / "old") + new_files
            parts += [(names, every, Selection(after=work.after, horizon=work.horizon)) for names in connection_names(pairs)]
        for part, (names, files, selection) in enumerate(parts):
            if work.end is not None:
                files = [*files, str(folder / "end.pcapng")]
            name = f"run-{job.run:05}-shard-{shard:05}-{part}"
            decoded.add(job.program.tables(files, names, selection, name, result / "tables"))
        (result / "live.json").write_text(json.dumps({"since": decoded.since, "pairs": sorted(decoded.live)}))
        decoded.files = sorted(str(path.relative_to(result)) for path in result.rglob("*.parquet"))
        decoded.place = job.transfer.store(result, job.table_area)
        return decoded


def _live(job: Job, work: ShardWork, shard: int, folder: Path) -> dict:
    """What the earlier run left of this shard."""
    if work.live is None:
        return {}
    url = f"{work.live}/shard-{shard:05}.json"
    paths, problems = job.transfer.fetch([url], folder)
    if problems:
        raise OSError(f"cannot read {url}: {problems[0].message}")
    return json.loads(Path(paths[url]).read_text())


def _pieces(job: Job, groups: list[Group], shard: int, folder: Path) -> list[str]:
    """The shard's captures of these groups, on this machine."""
    folder.mkdir()
    urls = [f"{group.place}/shard-{shard:05}.pcapng" for group in groups]
    paths, problems = job.transfer.fetch(urls, folder)
    if problems:
        raise OSError(f"cannot read {problems[0].file}: {problems[0].message}")
    return [paths[url] for url in urls]
