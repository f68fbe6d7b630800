"""One run: new files in, tables out."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from . import listing, second_stage
from .errors import Problem, Refusal, say
from .program import Program
from .stage import run_stage
from .state import STATE, Commit, Manifest, Output
from .storage import Storage
from .tasks import Decoded, Group, Job, ShardWork, decode, split
from .transfer import Transfer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Request:
    """What is asked for."""

    input: list[str]
    output: str
    shards: int
    program: Program
    #: Format files, by the names in them.
    formats: dict[str, str] = field(default_factory=dict)
    #: Seconds after its end in which a connection may still get packets from files that come later.
    keep: int = 3_600
    #: How many bytes of files a task splits at most.
    group_size: int = 2**30
    break_lock: bool = False


@dataclass
class Outcome:
    """What a run did."""

    files: int
    connections: int
    frames: int
    problems: list[Problem]


def run(spark: SparkSession, request: Request) -> Outcome:
    """Reads what is new below the input, and brings the tables up to date."""
    storage = Storage(spark, request.output)
    output = Output(storage)
    before = output.open(request.break_lock)
    try:
        return _Run(spark, request, storage, output, before).perform()
    finally:
        output.close()


class _Run:
    def __init__(self, spark: SparkSession, request: Request, storage: Storage, output: Output, before: Manifest) -> None:
        self.spark, self.request, self.storage, self.output, self.before = spark, request, storage, output, before
        self.number = before.run + 1
        self.decoding = [*request.program.options, *sorted(request.formats.values())]
        self.job = Job(
            request.program,
            Transfer(self._hadoop_settings()),
            request.shards,
            self.number,
            shard_area=f"{storage.root}/{STATE}/shards/run-{self.number:05}",
            table_area=f"{storage.root}/{STATE}/unfinished",
        )
        self.workers = max(1, spark.sparkContext.defaultParallelism)

    def perform(self) -> Outcome:
        self._check()
        known = self.output.files()
        listed, problems = listing.list_files(self.spark, self.request.input)
        files, changed = listing.news(listed, known)
        problems += changed
        if not files:
            say("no new files")
            return Outcome(0, 0, 0, problems)
        self.storage.delete(f"{STATE}/shards/run-{self.number:05}")
        groups, more = self._split(files)
        problems += more
        work = self._work(groups)
        decoded = run_stage(self.spark, "decoding", partial(decode, self.job, work), list(range(self.request.shards)))
        unread = {problem.file for problem in problems if problem.again}
        read = [file for file in files if file.path not in unread]
        self.output.commit(self._commit(read, problems, work, decoded))
        return Outcome(len(files), sum(part.connections for part in decoded), sum(part.frames for part in decoded), problems)

    def _check(self) -> None:
        """The same shards, decoded in the same way, or connections would not continue."""
        before = self.before
        if before.run and before.shards != self.request.shards:
            raise Refusal(
                f"{self.storage.root} was made with --shards {before.shards}, not {self.request.shards}: "
                "connections are continued by the number of their shard. Use the same, or another --output"
            )
        if before.run and before.decoding != self.decoding:
            raise Refusal(f"{self.storage.root} was made with other formats or options of decode. Use the same, or another --output")

    def _split(self, files: list[listing.InputFile]) -> tuple[list[Group], list[Problem]]:
        parts = listing.groups(files, self.request.group_size, self.workers)
        say(f"splitting {len(files)} files by connection, in {len(parts)} tasks")
        results = run_stage(self.spark, "splitting", partial(split, self.job), parts)
        return [group for group, _ in results if group], [problem for _, problems in results for problem in problems]

    def _work(self, new: list[Group]) -> ShardWork:
        before = self.before
        end = max((end for end in (*(group.end for group in new), before.end) if end is not None), default=None)
        return ShardWork(
            new,
            before.known_groups(),
            f"{self.storage.root}/{STATE}/live/run-{before.run:05}" if before.run else None,
            end,
            horizon=None if end is None else end - self.request.keep * 10**9,
            after=before.horizon,
        )

    def _commit(self, files: list[listing.InputFile], problems: list[Problem], work: ShardWork, decoded: list[Decoded]) -> Commit:
        storage, before = self.storage, self.before
        moves = [(f"{part.place}/{file}", file.removeprefix("tables/")) for part in decoded for file in part.files]
        heartbeats = sorted({*before.heartbeats, *(name for part in decoded for name in part.heartbeats)})
        across = self._second_stage(moves, heartbeats)
        replaced = [name for _, name in moves if name.endswith("-live.parquet")] + [name for _, name in across]
        moves += across
        moves += [
            (f"{part.place}/live.json", f"{STATE}/live/run-{self.number:05}/shard-{shard:05}.json") for shard, part in enumerate(decoded)
        ]
        since = min((part.since for part in decoded if part.since is not None), default=None)
        every = [*work.old, *work.new]
        kept = [group for group in every if since is not None and (group.end is None or group.end >= since)]
        gone = [group.place.removeprefix(f"{storage.root}/") for group in every if group not in kept]
        manifest = Manifest(
            self.number,
            self.request.shards,
            self.decoding,
            [asdict(group) for group in kept],
            work.end,
            work.horizon,
            replaced,
            heartbeats,
        )
        writes = [(f"{STATE}/files/run-{self.number:05}.ndjson", _lines(file.__dict__ for file in files))]
        if problems:
            writes.append((f"problems/run-{self.number:05}.ndjson", _lines(problem.as_row() for problem in problems)))
        return Commit(manifest, moves, writes, [*before.replaced, f"{STATE}/live/run-{before.run:05}", *gone])

    def _second_stage(self, moves: list[tuple[str, str]], heartbeats: list[str]) -> list[tuple[str, str]]:
        """Over the rows as they will be: those of earlier runs that stay, and the new ones."""
        files: dict[str, list[str]] = {}
        for table in ("connections", "findings"):
            stay = [
                f"{self.storage.root}/{table}/{day}/{name}"
                for day in self.storage.names(table)
                for name in self.storage.names(f"{table}/{day}")
                if f"{table}/{day}/{name}" not in self.before.replaced
            ]
            files[table] = stay + [url for url, name in moves if name.startswith(f"{table}/")]
        partitions = min(self.workers, self.request.shards)
        return second_stage.find(self.spark, self.job, files["connections"], files["findings"], heartbeats, partitions)

    def _hadoop_settings(self) -> dict[str, str]:
        """What was set for Hadoop with --conf spark.hadoop.…"""
        prefix = "spark.hadoop."
        settings = self.spark.sparkContext.getConf().getAll()
        return {name.removeprefix(prefix): value for name, value in settings if name.startswith(prefix)}


def _lines(rows) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)
