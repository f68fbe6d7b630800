"""The command `frametap-spark`."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import NoReturn

import yaml

from . import __version__
from .errors import Refusal, one_line, say
from .program import Program

#: Options of `frametap tables` that shards can be decoded with: those that select, and those that look at several connections at
#: once, would not give what one process gives.
ALLOWED = (
    "--examples",
    "--heartbeat",
    "--learn-heartbeats",
    "--key",
    "--key-log",
    "--no-decrypt",
    "--descriptor-set",
    "--show-secrets",
    "--body-limit",
    "--overlap",
    "--reorder-limit",
    "--idle-timeout",
    "--check-checksums",
)

DONE, INCOMPLETE, USAGE = 0, 2, 64


class _Parser(argparse.ArgumentParser):
    """Ends with the exit status that frametap has for wrong usage; argparse's own, 2, means incomplete results here."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(USAGE, f"{self.prog}: {message}\n")


def _setting(text: str) -> str:
    """A value of --conf."""
    if "=" not in text:
        raise argparse.ArgumentTypeError(f"{text}: expected NAME=VALUE")
    return text


def parser() -> argparse.ArgumentParser:
    """What the command understands."""
    result = _Parser(
        prog="frametap-spark",
        description="Decodes captures with frametap on the workers of Apache Spark, and writes Parquet tables: connections, frames, "
        "findings, round_trips. A second run reads what is new. docs/scale.md has the tables.",
    )
    add = result.add_argument
    add(
        "--input",
        action="append",
        required=True,
        metavar="URL",
        help="a folder or file of captures; may be repeated. All of Spark's file systems: file, hdfs, s3a",
    )
    add("--output", required=True, metavar="URL", help="the folder of the tables: an empty one, or that of earlier runs")
    add("--shards", type=int, default=64, metavar="N", help="how many parts the connections are split into (default: 64)")
    add(
        "--format",
        action="append",
        default=[],
        metavar="FORMAT",
        help="as for frametap decode; a file is shipped to the workers; may be repeated",
    )
    add(
        "--option",
        action="append",
        default=[],
        metavar="OPTION",
        help="an option of frametap tables, such as --option=--body-limit=64; @FILE in it is shipped: --option=--key-log=@keys.log",
    )
    add(
        "--frametap",
        default="frametap",
        metavar="PROGRAM",
        help="the program on the workers (default: frametap, from --files of spark-submit or PATH)",
    )
    add(
        "--keep",
        type=int,
        default=3_600,
        metavar="SECONDS",
        help="how long after a connection's end files with packets of it may still come, in a later run (default: 3600)",
    )
    add(
        "--group-size",
        type=int,
        default=2**30,
        metavar="BYTES",
        help="how much of the input a task splits at most (default: 1 GiB)",
    )
    add("--master", metavar="MASTER", help="local[*], spark://HOST:PORT, …; not with spark-submit, which has its own")
    add("--conf", action="append", default=[], type=_setting, metavar="NAME=VALUE", help="a setting of Spark; may be repeated")
    add("--break-lock", action="store_true", help="write although another run seems to: it was killed")
    add("--version", action="version", version=f"frametap-spark {__version__}")
    return result


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; gives its exit status."""
    options = parser().parse_args(arguments)
    try:
        return _run(options)
    except Exception as error:
        # As for everything else that goes wrong: a line, and not a traceback.
        say(one_line(error))
        return INCOMPLETE


def _run(options: argparse.Namespace) -> int:
    if not 1 <= options.shards <= 4_096:
        say(f"--shards {options.shards}: expected 1 to 4096")
        return USAGE
    try:
        decoding, shipped, formats = _decoding(options.format, options.option)
    except Refusal as refusal:
        say(str(refusal))
        return USAGE
    from .run import Request, run
    from .session import session

    try:
        spark = session(options.master, options.conf)
        for file in shipped:
            spark.sparkContext.addFile(str(file))
        request = Request(
            options.input,
            options.output,
            options.shards,
            Program(options.frametap, tuple(decoding)),
            formats,
            options.keep,
            options.group_size,
            options.break_lock,
        )
        outcome = run(spark, request)
    except Refusal as refusal:
        say(str(refusal))
        return INCOMPLETE
    for problem in outcome.problems:
        say(f"{problem.file}: {problem.message}")
    say(f"{outcome.files} files, {outcome.connections} connections, {outcome.frames} frames decoded; {len(outcome.problems)} problems")
    return INCOMPLETE if outcome.problems else DONE


def _decoding(named: list[str], options: list[str]) -> tuple[list[str], list[Path], dict[str, str]]:
    """The options of `frametap tables`, the files that they need, and the texts of format files by their names."""
    decoding: list[str] = []
    shipped: list[Path] = []
    formats: dict[str, str] = {}
    for name in named:
        port, text = match.groups() if (match := re.match(r"(\d+=)?(.*)", name)) else ("", name)
        if (file := Path(text)).is_file():
            shipped.append(file.resolve())
            formats[name_of(file.read_text())] = file.read_text()
            text = f"@{file.name}"
        decoding.append(f"--format={port or ''}{text}")
    for option in options:
        name, _, value = option.partition("=")
        if name not in ALLOWED:
            raise Refusal(f"--option={option}: expected one of {', '.join(ALLOWED)}")
        before, at, file = value.rpartition("@")
        if at and Path(file).is_file():
            shipped.append(Path(file).resolve())
            option = f"{name}={before}@{Path(file).name}"
        decoding.append(option)
    if len({file.name for file in shipped}) < len(set(shipped)):
        raise Refusal("files that are shipped need different names")
    return decoding, shipped, formats


def name_of(text: str) -> str:
    """The name in a format file."""
    return str(next(iter(yaml.safe_load_all(text)))["format"])


if __name__ == "__main__":
    sys.exit(main())
