"""The same tables from one trace: what any number of shards must give."""

from __future__ import annotations

from pathlib import Path

from .formats import Formats
from .second_stage import find_in, write_found
from .tables import Selection, database, read_trace, write_tables
from .tasks import scratch


def from_trace(formats: Formats, trace: Path, output: Path) -> None:
    """Writes the tables of a trace that `frametap decode --as ndjson` printed."""
    with scratch() as folder:
        connection = database(folder)
        with trace.open("rb") as lines:
            read_trace(connection, lines, folder)
        seen = [row[0] for row in connection.execute("select distinct format from lines where event = 'format'").fetchall()]
        pairings, _ = formats.pairings(seen)
        (folder / "tables").mkdir()
        write_tables(connection, Selection(), pairings, "trace", output)
        for table in ("connections", "findings"):
            files = f"{output}/{table}/*/*.parquet"
            if list((output / table).glob("*/*.parquet")):
                connection.execute(f"create or replace temp view {table} as select * from read_parquet('{files}')")
            else:
                connection.execute(
                    f"create temp view {table} as select null::varchar as connection, null::varchar as leg, "
                    "null::varchar as sender, 0::bigint as time_ns, null::varchar as kind, null::varchar as data limit 0"
                )
        found = list(find_in(connection, formats.with_heartbeats(seen)))
        write_found(connection, found, "trace-across", output)
        connection.close()
