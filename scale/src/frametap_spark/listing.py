"""Which files there are to read, and who reads them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING
from urllib.parse import unquote

from .errors import Problem, Refusal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: How many files a task splits at most: their names have to fit into a command line.
MOST_FILES = 2_000

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

#: How far time zones are from UTC at most, and what the distance is a multiple of.
FURTHEST_ZONE, ZONE_STEP = timedelta(hours=14), timedelta(minutes=15)


@dataclass(frozen=True)
class InputFile:
    """A file below the input."""

    path: str
    size: int
    #: In microseconds since 1970, whatever the time zone of this machine.
    modified: int


def list_files(spark: SparkSession, urls: list[str]) -> tuple[list[InputFile], list[Problem]]:
    """All files below these URLs, in order of their paths, and those that are empty.

    Names that begin with `.` or `_` are left out, as Spark does.
    """
    try:
        listed = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(urls)
        # Columns of the listing alone: no file is opened. Spark leaves empty files out of them.
        rows = listed.selectExpr("path", "length", "unix_micros(modificationTime)").collect()
        names = {re.sub("^file:/+", "file:/", unquote(name)) for name in listed.inputFiles()}
    except Exception as error:
        raise Refusal(f"cannot list {' '.join(urls)}: {_reason(error)}") from error
    files = {InputFile(row[0], row[1], row[2]) for row in rows}
    empty = names - {file.path for file in files}
    problems = [Problem(path, "byte 0: expected a capture file's header, found the end of the file") for path in sorted(empty)]
    return sorted(files, key=lambda file: file.path), problems


def _reason(error: Exception) -> str:
    text = str(getattr(error, "java_exception", None) or getattr(error, "desc", None) or error)
    return text.splitlines()[0]


def news(files: list[InputFile], known: dict[str, tuple[int, int | str]]) -> tuple[list[InputFile], list[Problem]]:
    """The files that no run has read; and those that one has read and that are other ones now."""
    fresh: list[InputFile] = []
    changed: list[Problem] = []
    for file in files:
        if file.path not in known:
            fresh.append(file)
            continue
        size, modified = known[file.path]
        if size != file.size or not is_same_time(modified, file.modified):
            changed.append(
                Problem(
                    file.path,
                    f"changed since it was read: expected {size} bytes, modified {_shown(modified)}, found "
                    f"{file.size}, {_shown(file.modified)}; it is not read again. Give what was added as a file of its own",
                )
            )
    return fresh, changed


def is_same_time(known: int | str, modified: int) -> bool:
    """Whether a file was modified at the time that was written down.

    Outputs of earlier versions have text, in the local time of the machine that read the file, without its zone. Such a time is the
    same one if it is so here, or if a difference between time zones explains the rest.
    """
    if isinstance(known, int):
        return known == modified
    if _local(modified) == known:
        return True
    try:
        then = datetime.fromisoformat(known)
    except ValueError:
        return False
    zone = then.tzinfo
    difference = abs((then if zone else then.replace(tzinfo=timezone.utc)) - _utc(modified))
    return difference == timedelta() or (zone is None and difference <= FURTHEST_ZONE and not difference % ZONE_STEP)


def _utc(microseconds: int) -> datetime:
    return EPOCH + timedelta(microseconds=microseconds)


def _local(microseconds: int) -> str:
    """As earlier versions wrote it."""
    seconds, rest = divmod(microseconds, 10**6)
    return datetime.fromtimestamp(seconds).replace(microsecond=rest).isoformat()


def _shown(time: int | str) -> str:
    return _utc(time).isoformat().replace("+00:00", "Z") if isinstance(time, int) else time


def groups(files: list[InputFile], size: int, workers: int) -> list[list[str]]:
    """Neighbouring files of together at most `size` bytes, and more groups than workers, where there are enough files.

    Neighbours, so that of packets with the same time the first file's stays the first, as it is for one process.
    """
    size = max(1, min(size, sum(file.size for file in files) // (2 * workers) + 1))
    result: list[list[str]] = []
    held = 0
    for file in files:
        if not result or held + file.size > size or len(result[-1]) == MOST_FILES:
            result.append([])
            held = 0
        result[-1].append(file.path)
        held += file.size
    return result
