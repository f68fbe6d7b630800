"""The tables say what the trace says."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from conftest import FRAMETAP, PROGRAM
from frametap_spark.program import FIXED
from frametap_spark.tables import TABLES
from trace_tables import views

FIXTURES = Path(__file__).parents[2] / "fixtures"
#: The last column is only in tables: why a connection could not be opened.
ONLY_HERE = {"connections": {"detail"}}


def both(files: list[Path], options: tuple[str, ...], folder: Path) -> tuple[Path, Path]:
    """The trace, and the tables."""
    folder.mkdir()
    trace, tables = folder / "trace.ndjson", folder / "tables"
    with trace.open("w") as lines:
        command = [FRAMETAP, "decode", "--as", "ndjson", *FIXED, *options, *map(str, files)]
        decoded = subprocess.run(command, stdout=lines, stderr=subprocess.DEVNULL)
    written = subprocess.run([FRAMETAP, "tables", *FIXED, *options, "--output", tables, *map(str, files)], capture_output=True)
    assert written.returncode == decoded.returncode, written.stderr
    return trace, tables


def expect_same(trace: Path, tables: Path) -> dict[str, int]:
    """Fails if a row is only in one of them; JSON may be escaped in different ways."""
    counts = {}
    with views(trace) as connection:
        for table in TABLES[:3]:
            expected = connection.sql(f"from {table}")
            names = [name for name in expected.columns if name not in ONLY_HERE.get(table, ())]
            rows = sorted(map(repr, _plain(names, expected.project(", ".join(f'"{name}"' for name in names)).fetchall())))
            files = list((tables / table).glob("*/*.parquet"))
            counts[table] = len(rows)
            # A table without rows has a file, too.
            assert bool(files) == bool(counts["connections"]), table
            if not files:
                continue
            actual = connection.sql(f"from read_parquet('{tables}/{table}/*/*.parquet', hive_partitioning = false)")
            assert [name for name in actual.columns if name not in ONLY_HERE.get(table, ())] == names
            found = sorted(map(repr, _plain(names, actual.project(", ".join(f'"{name}"' for name in names)).fetchall())))
            for row, other in zip(found, rows, strict=True):
                assert row == other, table
    return counts


def _plain(names: list[str], rows: list[tuple]) -> list[list]:
    objects = {names.index(name) for name in ("fields", "body", "data", "tls") if name in names}
    return [[json.loads(value) if place in objects and value else value for place, value in enumerate(row)] for row in rows]


def test_of_the_day(day: Path, tmp_path: Path) -> None:
    counts = expect_same(*both(sorted(day.iterdir()), PROGRAM.options, tmp_path / "day"))
    assert counts["connections"] == 2_000 and counts["frames"] > 10_000


@pytest.mark.parametrize("folder", sorted(path.name for path in FIXTURES.iterdir() if path.is_dir()))
def test_of_the_corpus(folder: str, tmp_path: Path) -> None:
    for number, capture in enumerate(sorted((FIXTURES / folder).rglob("*.pcap*"))):
        expect_same(*both([capture], ("--examples",), tmp_path / str(number)))
