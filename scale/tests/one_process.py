"""The same tables by one process: what any number of shards must give."""

from __future__ import annotations

from pathlib import Path

from frametap_spark.program import Program, Selection
from frametap_spark.second_stage import queries, write_found
from frametap_spark.tables import database
from frametap_spark.tasks import scratch

#: How data's values are read in DuckDB's SQL.
DUCKDB = {name: f"f.data->>'$.{key}'" for name, key in (("data", "silentFor"), ("blame", "blame"), ("reason", "reason"))}


def write_tables(program: Program, captures: list[Path], output: Path) -> Path:
    """Writes the tables of all captures; what cannot be read is left out, as always."""
    written = program.tables([str(path) for path in captures], [], Selection(), "all", output, tolerant=True)
    with scratch() as folder, database(folder) as connection:
        for table, nothing in (
            ("connections", None),
            ("findings", "select '' as connection, '' as leg, '' as sender, 0::bigint as time_ns, '' as kind, '' as data"),
        ):
            files = list((output / table).glob("*/*.parquet"))
            source = f"select * from read_parquet('{output}/{table}/*/*.parquet')" if files else f"{nothing} limit 0"
            connection.execute(f"create temp view {table} as {source}")
        found = [
            finding
            for query, _, finder in queries(sorted(set(written.heartbeats)), DUCKDB)
            for finding in finder(connection.execute(f"select * from ({query}) order by all").fetchall())
        ]
        write_found(connection, found, "across", output)
    return output
