"""The second stage: findings across connections, by Spark, of the tables of all shards."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from . import across
from .tables import copy, database, timestamp
from .tasks import Job, scratch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: How data's values are read in Spark's SQL.
SPARK = {name: f"get_json_object(f.data, '$.{key}')" for name, key in (("data", "silentFor"), ("blame", "blame"), ("reason", "reason"))}

Finder = Callable[[Iterable], Iterator[across.Finding]]


def queries(heartbeats: list[str], values: dict[str, str]) -> list[tuple[str, tuple[str, ...], Finder]]:
    """The rows that each finder takes, what they are grouped by, and the finder."""
    return [
        (across.events_sql(heartbeats), ("client", "server"), across.storms),
        (across.GAPS.format(**values), ("server",), across.outages),
        (across.MALFORMED_CONNECTIONS.format(**values), ("client", "server"), across.malformed),
    ]


def find(
    spark: SparkSession, job: Job, connections: list[str], findings: list[str], heartbeats: list[str], partitions: int
) -> list[tuple[str, str]]:
    """Writes the findings of these files' rows; gives the new files: where each is, and its name in the output."""
    if not connections:
        return []
    spark.read.parquet(*connections).createOrReplaceTempView("connections")
    columns = "connection string, leg string, sender string, time_ns long, kind string, data string"
    rows = spark.read.parquet(*findings).selectExpr(*(part.split()[0] for part in columns.split(", "))) if findings else None
    (rows if rows is not None else spark.createDataFrame([], columns)).createOrReplaceTempView("findings")
    found = None
    for query, keys, finder in queries(heartbeats, SPARK):
        part = _in_order(spark.sql(query), keys, partitions).rdd.mapPartitions(lambda rows, finder=finder: map(tuple, finder(rows)))
        found = part if found is None else found.union(part)
    files = found.coalesce(partitions).mapPartitionsWithIndex(lambda index, rows: _store(job, index, rows)).collect()
    return [(f"{place}/{name}", name) for place, names in files for name in names]


def _in_order(rows: DataFrame, keys: tuple[str, ...], partitions: int) -> DataFrame:
    return rows.repartition(partitions, *keys).sortWithinPartitions(*rows.columns)


def _store(job: Job, index: int, rows: Iterable[tuple]) -> Iterator[tuple[str, list[str]]]:
    with scratch() as folder:
        connection = database(folder)
        result = folder / "result"
        write_found(connection, rows, f"run-{job.run:05}-across-{index:05}", result)
        connection.close()
        names = sorted(str(path.relative_to(result)) for path in result.rglob("*.parquet"))
        if names:
            yield job.transfer.store(result, job.table_area), names


def write_found(connection: duckdb.DuckDBPyConnection, rows: Iterable[tuple], name: str, folder: Path) -> None:
    """Adds findings across connections to the table `findings` below `folder`."""
    folder.mkdir(exist_ok=True)
    lines = folder.parent / f"{name}.ndjson"
    with lines.open("w") as file:
        for row in rows:
            file.write(json.dumps(dict(zip(across.Finding._fields, row, strict=True))) + "\n")
    if lines.stat().st_size:
        kinds = (f"{field}: '{'BIGINT' if field == 'time_ns' else 'VARCHAR'}'" for field in across.Finding._fields)
        columns = f"columns = {{{', '.join(kinds)}}}"
        copy(
            connection,
            f"select connection, null::varchar as leg, sender, {timestamp('time_ns')} as time, time_ns, kind, "
            f"'warning' as severity, message, data "
            f"from read_json('{lines}', format = 'newline_delimited', auto_detect = false, {columns})",
            name,
            folder / "findings",
        )
    lines.unlink()
