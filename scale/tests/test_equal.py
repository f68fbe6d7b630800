"""Any number of shards gives what one process gives."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from comparing import expect_equal, rows
from conftest import FRAMETAP, PROGRAM
from one_process import write_tables

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.mark.parametrize("shards", [1, 3, 7])
def test_the_day(scale, day: Path, day_tables: Path, tmp_path: Path, shards: int) -> None:
    outcome = scale(day, shards=shards)
    assert (outcome.files, outcome.connections, outcome.problems) == (200, 2_000, [])
    counts = expect_equal(tmp_path / "tables", day_tables)
    print(shards, counts)
    assert counts["connections"] == 2_000 and min(counts.values()) > 1_000


def test_the_day_has_what_makes_it_hard(day_tables: Path) -> None:
    kinds = dict(duckdb.sql(f"select kind, count(*) from {rows(day_tables, 'findings')} group by kind").fetchall())
    for kind in ("missing", "unframed", "heartbeat-resumed", "unanswered", "reconnect-storm", "shared-outage"):
        assert kinds.get(kind), kind
    assert duckdb.sql(f"select 1 from {rows(day_tables, 'connections')} where reason = 'end-of-input'").fetchall()


def test_any_order_of_files(scale, small_day: Path, small_tables: Path, tmp_path: Path) -> None:
    scale(*sorted(small_day.iterdir(), reverse=True), group_size=20_000)
    expect_equal(tmp_path / "tables", small_tables)


def test_connections_are_numbered_by_opening(small_tables: Path) -> None:
    """The key's order is that of opening: a number is `row_number() over (order by connection)`."""
    opened = duckdb.sql(f"select opened_ns from {rows(small_tables, 'connections')} order by connection").fetchall()
    assert opened == sorted(opened)


def test_the_corpus(scale, tmp_path: Path) -> None:
    """All captures of the fixtures, of all formats, at once; what is no capture is reported."""
    program = replace(PROGRAM, options=())
    captures = sorted(path for path in FIXTURES.rglob("*") if path.suffix in (".pcap", ".pcapng"))
    expected = write_tables(program, captures, tmp_path / "expected")
    outcome = scale(FIXTURES, shards=3, program=program, formats={})
    assert outcome.files > len(captures)
    assert not {problem.file.removeprefix("file:") for problem in outcome.problems} & set(map(str, captures))
    print(expect_equal(tmp_path / "tables", expected))


def test_reconnect_storms_are_those_of_one_decode(day: Path, day_tables: Path) -> None:
    """They are found again, of the tables; here, against what frametap itself found."""
    command = [FRAMETAP, "decode", "--as", "ndjson", *PROGRAM.options, *sorted(map(str, day.iterdir()))]
    lines = map(json.loads, subprocess.run(command, capture_output=True, check=True).stdout.splitlines())
    storms = [line for line in lines if line.get("kind") == "reconnect-storm"]
    expected = sorted((line["time"][:26], line["data"]["client"], line["data"]["within"]) for line in storms)
    found = duckdb.sql(
        "select strftime(make_timestamp(time_ns // 1000), '%Y-%m-%dT%H:%M:%S.%f'), data->>'$.client', cast(data->>'$.within' as double) "
        f"from {rows(day_tables, 'findings')} where kind = 'reconnect-storm' order by all"
    ).fetchall()
    assert found == expected and len(found) > 10
