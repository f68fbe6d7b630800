"""Runs frametap as an external process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from .errors import Problem, Refusal

#: How `decode` is always called: a default of frametap's that depends on the size of files is fixed, so that shards are
#: decoded as the whole is. Spark runs as many tasks as there are cores: each decodes on one thread.
FIXED = ("--conflict-history", "64KiB", "--as", "ndjson", "--threads", "1")

#: How many connections are named in one command line.
NAMED = 5_000


@dataclass(frozen=True)
class Program:
    """frametap, and how it decodes."""

    #: A path, or a name that is looked up among the files that Spark shipped, then in PATH.
    name: str = "frametap"
    #: Options of `frametap decode`; `@FILE` in them is a file that Spark shipped.
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
            [self.path(), "shard", "--shards", str(shards), "--output", str(folder), "--force", "--", *files],
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

    @contextmanager
    def decode(self, files: list[str], only: list[str]) -> Iterator[BinaryIO]:
        """The trace of these captures, as it is printed; of the named connections, if there are any."""
        names = [part for pair in only for part in ("--connection-of", pair)]
        command = [self.path(), "decode", "--no-index", *FIXED, *self._resolved(), *names, "--", *files]
        with tempfile.TemporaryFile("w+", errors="replace") as errors:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors)
            try:
                yield process.stdout
                status = process.wait()
            finally:
                process.kill()
                process.wait()
            errors.seek(0)
            if status != 0:
                raise OSError(f"frametap decode ended with {status}: {errors.read(4_000).strip()}")

    def shown_format(self, name: str) -> str | None:
        """A format's file, by the name that it has in traces."""
        for known in (name, f"example:{name}"):
            shown = subprocess.run([self.path(), "formats", "show", known], capture_output=True, text=True)
            if shown.returncode == 0:
                return shown.stdout
        return None

    def _resolved(self) -> list[str]:
        return [_resolve(option) for option in self.options]


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


def json_lines(text: str) -> list[dict]:
    """The objects of an NDJSON file."""
    return [json.loads(line) for line in text.splitlines()]
