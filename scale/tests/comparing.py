"""Compares tables row by row, as multisets."""

from __future__ import annotations

from pathlib import Path

import duckdb

from frametap_spark.tables import TABLES


def rows(folder: Path, table: str) -> str:
    """A table in SQL."""
    return f"read_parquet('{folder}/{table}/*/*.parquet', hive_partitioning = true)"


def exists(folder: Path, table: str) -> bool:
    """Whether a table has any rows."""
    return any((folder / table).glob("*/*.parquet"))


def expect_equal(actual: Path, expected: Path, tables: tuple[str, ...] = TABLES) -> dict[str, int]:
    """Fails if a row is only in one of them; gives how many rows each table has."""
    counts: dict[str, int] = {}
    for table in tables:
        assert exists(actual, table) == exists(expected, table), table
        if not exists(expected, table):
            continue
        columns = ", ".join(f'"{row[0]}"' for row in duckdb.sql(f"describe from {rows(expected, table)}").fetchall())
        left, right = (f"select {columns} from {rows(folder, table)}" for folder in (actual, expected))
        for one, other, name in ((left, right, "only here"), (right, left, "missing")):
            differing = duckdb.sql(f"select columns(*)::varchar from (({one}) except all ({other})) limit 3").fetchall()
            assert not differing, f"{table}, {name}: {differing}"
        counts[table] = duckdb.sql(f"select count(*) from ({right})").fetchall()[0][0]
    return counts
