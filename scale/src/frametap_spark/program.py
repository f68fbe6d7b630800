"""Runs frametap as an external process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from . import times
from .errors import Problem, Refusal

#: How captures are always decoded: a default of frametap's that depends on the size of files is fixed, so that shards are
#: decoded as the whole is. Spark runs as many tasks as there are cores: each decodes on one thread.
FIXED = ("--conflict-history", "64KiB", "--threads", "1")

#: How many connections are named in one command line.
NAMED = 5_000


@dataclass
class Selection:
    """Which connections of captures belong to the tables, and which of them are final.

    A connection is final when it ended before `horizon`: nothing that comes later changes its rows.
    """

    #: Ends of connections whose rows other tables have.
    without: list[str] = field(default_factory=list)
    #: Connections that ended before are in the tables already.
    after: int | None = None
    #: In nanoseconds; None: all connections are final.
    horizon: int | None = None

    def options(self, name: str, without: str) -> list[str]:
        """What frametap is told; `without` is a file that has the ends."""
        options = ["--except", without] if self.without else []
        if self.after is not None:
            options += ["--written-before", times.text(self.after)]
        # If all connections are final, their files are still called so.
        return (
            [*options, "--name", f"{name}-final"]
            if self.horizon is None
            else [*options, "--name", name, "--final-before", times.text(self.horizon)]
        )


@dataclass
class Written:
    """What frametap wrote."""

    connections: int = 0
    frames: int = 0
    #: Formats of connections that declare heartbeats.
    heartbeats: list[str] = field(default_factory=list)
    #: The ends of connections that are not final, and when the first of them opened.
    live: set[str] = field(default_factory=set)
    since: int | None = None

    @classmethod
    def read(cls, lines: Iterable[bytes]) -> Written:
        """Of the lines of JSON that `frametap tables` prints."""
        written = cls()
        for line in map(json.loads, lines):
            if "live" in line:
                opened = times.nanoseconds(line["opened"])
                written.live.add(line["live"])
                written.since = opened if written.since is None else min(opened, written.since)
            elif line.get("heartbeat"):
                written.heartbeats.append(line["format"])
            elif "connections" in line:
                written.connections, written.frames = line["connections"], line["frames"]
        return written


@dataclass(frozen=True)
class Program:
    """frametap, and how it decodes."""

    #: A path, or a name that is looked up among the files that Spark shipped, then in PATH.
    name: str = "frametap"
    #: Options of `frametap tables`; `@FILE` in them is a file that Spark shipped.
    options: tuple[str, ...] = ()

    def path(self) -> str:
        """Where the program is on this machine."""
        shipped = _shipped(self.name)
        found = str(shipped) if shipped and os.access(shipped, os.X_OK) else shutil.which(self.name)
        if found is None:
            raise Refusal(
                f"no program {self.name} on this machine: install frametap on every worker, name it with --frametap, "
                "or ship it with spark-submit --files"
            )
        return found

    def shard(self, files: list[str], shards: int, folder: Path) -> list[Problem]:
        """Splits captures by connection. Problems name what could not be read; what could be is in the shards."""
        result = subprocess.run(
            [self.path(), "shard", "--shards", str(shards), "--output", str(folder), "--force", "--no-origins", "--", *files],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        lines = result.stderr.splitlines()
        unwritten = [line for line in lines if str(folder) in line]
        if unwritten or result.returncode not in (0, 2) or len(list(folder.glob("*.pcapng"))) != shards:
            raise OSError(f"frametap shard ended with {result.returncode}: {' '.join(unwritten or lines)}")
        return list(_problems(lines, files)) if result.returncode else []

    def tables(self, files: list[str], only: list[str], selection: Selection, name: str, folder: Path, tolerant: bool = False) -> Written:
        """Writes the tables of these captures to folder/TABLE/day=DAY/NAME-final.parquet, and to NAME-live.parquet what a later run
        replaces; of the named connections alone, if there are any. If `tolerant`, captures may be damaged."""
        with (
            tempfile.NamedTemporaryFile("w", suffix=".txt") as without,
            tempfile.TemporaryFile() as printed,
            tempfile.TemporaryFile("w+", errors="replace") as errors,
        ):
            without.writelines(f"{pair}\n" for pair in selection.without)
            without.flush()
            status = subprocess.run(
                [
                    *(self.path(), "tables", "--no-index", "--shard", *FIXED, *self._resolved()),
                    *("--output", str(folder), *selection.options(name, without.name)),
                    *(part for pair in only for part in ("--connection-of", pair)),
                    *("--", *files),
                ],
                stdout=printed,
                stderr=errors,
                env=with_large_pages(),
            ).returncode
            if status and not (tolerant and status == 2 and printed.tell()):
                errors.seek(0)
                raise OSError(f"frametap tables ended with {status}: {errors.read(4_000).strip()}")
            printed.seek(0)
            return Written.read(printed)

    def _resolved(self) -> list[str]:
        return [_resolve(option) for option in self.options]


def with_large_pages() -> dict[str, str]:
    """The environment, with glibc told to ask for pages of 2 MiB.

    Rows take much memory while they wait; with pages of 4 KiB, to get it takes 3 % of the time if frames are large. Other C libraries
    ignore it, and so does Linux if its administrator has turned them off."""
    return {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1", **os.environ}


def _shipped(name: str) -> Path | None:
    """Where Spark put a file that came with the job, if it did."""
    from pyspark import SparkFiles

    try:
        path = Path(SparkFiles.get(name))
    except Exception:  # no job of Spark here
        return None
    return path if path.exists() else None


def _resolve(option: str) -> str:
    """`--format=@device.yaml` with the place of the file on this machine."""
    before, at, file = option.rpartition("@")
    path = _shipped(file) if at else None
    return f"{before}{path}" if path else option


def _problems(lines: list[str], files: list[str]) -> Iterator[Problem]:
    """Which file a line is about: the one whose name it has."""
    for line in lines:
        message = line.removeprefix("frametap: ")
        file = max((file for file in files if file in message), key=len, default="")
        yield Problem(file, message.removeprefix(f"{file}: "), again=message.startswith("cannot open"))


def connection_names(pairs: list[str]) -> Iterator[list[str]]:
    """As many names as fit into a command line, at a time."""
    for first in range(0, len(pairs), NAMED):
        yield pairs[first : first + NAMED]
