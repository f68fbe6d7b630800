"""Round trips are those that `frametap report` counts."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import duckdb

from comparing import exists, rows
from conftest import FRAMETAP, PROGRAM
from frametap_spark.program import Program
from one_process import write_tables

FIXTURES = Path(__file__).parents[2] / "fixtures"


def reported(files: list[Path], options: tuple[str, ...]) -> dict:
    """The report's counts, shortest and longest times."""
    command = [FRAMETAP, "report", "--as", "json", *options, *map(str, files)]
    report = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    trips = report["roundTrips"]
    return {(t["format"], t["request"], t["answer"], t["from"]): (t["count"], t["min"], t["max"]) for t in trips}


def in_table(folder: Path) -> dict:
    """The same of the table."""
    if not exists(folder, "round_trips"):
        return {}
    found = duckdb.sql(
        "select format, request, answer, asked_by, count(*), min(took_ns) / 1e9, max(took_ns) / 1e9 "
        f"from {rows(folder, 'round_trips')} group by 1, 2, 3, 4"
    ).fetchall()
    return {row[:4]: row[4:] for row in found}


def test_of_the_day(day: Path, day_tables: Path) -> None:
    expected = reported(sorted(day.iterdir()), PROGRAM.options)
    assert len(expected) == 2
    assert in_table(day_tables) == expected


def test_of_built_in_formats(tmp_path: Path) -> None:
    seen = 0
    for folder in sorted(FIXTURES.iterdir()):
        for capture in sorted(folder.glob("conversation.pcap*")):
            tables = write_tables(Program(FRAMETAP), [capture], tmp_path / folder.name)
            expected = reported([capture], ())
            assert in_table(tables) == expected, capture
            seen += len(expected)
    assert seen >= 3
