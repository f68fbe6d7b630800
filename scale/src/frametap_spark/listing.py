"""Which files there are to read, and who reads them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from .errors import Problem, Refusal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: How many files a task splits at most: their names have to fit into a command line.
MOST_FILES = 2_000


@dataclass(frozen=True)
class InputFile:
    """A file below the input."""

    path: str
    size: int
    modified: str


def list_files(spark: SparkSession, urls: list[str]) -> tuple[list[InputFile], list[Problem]]:
    """All files below these URLs, in order of their paths, and those that are empty.

    Names that begin with `.` or `_` are left out, as Spark does.
    """
    try:
        listed = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(urls)
        # Columns of the listing alone: no file is opened. Spark leaves empty files out of them.
        rows = listed.select("path", "length", "modificationTime").collect()
        names = {re.sub("^file:/+", "file:/", unquote(name)) for name in listed.inputFiles()}
    except Exception as error:
        raise Refusal(f"cannot list {' '.join(urls)}: {_reason(error)}") from error
    files = {InputFile(row[0], row[1], row[2].isoformat()) for row in rows}
    empty = names - {file.path for file in files}
    problems = [Problem(path, "byte 0: expected a capture file's header, found the end of the file") for path in sorted(empty)]
    return sorted(files, key=lambda file: file.path), problems


def _reason(error: Exception) -> str:
    text = str(getattr(error, "java_exception", None) or getattr(error, "desc", None) or error)
    return text.splitlines()[0]


def news(files: list[InputFile], known: dict[str, tuple[int, str]]) -> tuple[list[InputFile], list[Problem]]:
    """The files that no run has read; and those that one has read and that are other ones now."""
    fresh: list[InputFile] = []
    changed: list[Problem] = []
    for file in files:
        if file.path not in known:
            fresh.append(file)
        elif known[file.path] != (file.size, file.modified):
            size, modified = known[file.path]
            changed.append(
                Problem(
                    file.path,
                    f"changed since it was read: expected {size} bytes, modified {modified}, found "
                    f"{file.size}, {file.modified}; it is not read again. Give what was added as a file of its own",
                )
            )
    return fresh, changed


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
