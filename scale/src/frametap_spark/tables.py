"""The tables, as DuckDB writes what is found across connections; all else in them is written by frametap (docs/tables.md)."""

from __future__ import annotations

import datetime
from pathlib import Path

import duckdb

TABLES = ("connections", "frames", "findings", "round_trips")

#: What DuckDB may hold: Python needs the rest of a worker's 256 MiB.
MEMORY = "104MB"

#: How many rows, and how many bytes, a row group of the tables has at most, approximately.
ROWS, ROW_GROUP = 20_480, 8 * 2**20

#: A day, in nanoseconds.
DAY = 86_400 * 10**9


def database(folder: Path) -> duckdb.DuckDBPyConnection:
    """A database with one thread, in memory; what is too much for it goes to a folder in `folder`."""
    connection = duckdb.connect()
    connection.execute(f"set threads = 1; set memory_limit = '{MEMORY}'; set temp_directory = '{folder}/spill'")
    # Row groups of Parquet are limited in bytes only if their order may change.
    connection.execute("set timezone = 'UTC'; set preserve_insertion_order = false")
    return connection


def timestamp(column: str) -> str:
    """A timestamp that every reader of Parquet knows, in microseconds, of nanoseconds since 1970."""
    return f"make_timestamptz({column} // 1000)"


def copy(connection: duckdb.DuckDBPyConnection, query: str, name: str, folder: Path) -> None:
    """Writes a query's rows to folder/day=DAY/NAME.parquet, by the day of their `time_ns`: one file after the other."""
    for (day,) in connection.execute(f"select distinct time_ns // {DAY} from ({query}) order by all").fetchall():
        place = folder / f"day={datetime.date(1970, 1, 1) + datetime.timedelta(day)}"
        place.mkdir(parents=True, exist_ok=True)
        connection.execute(
            f"copy (from ({query}) where time_ns between {day * DAY} and {(day + 1) * DAY - 1}) to '{place}/{name}.parquet' "
            f"(format parquet, compression zstd, row_group_size {ROWS}, row_group_size_bytes {ROW_GROUP})"
        )
