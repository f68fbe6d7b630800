"""Makes tables of a trace, on disk, in little memory: DuckDB reads the lines as frametap prints them."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import duckdb

from . import schema
from .pairs import Pairing, find_round_trips

#: What DuckDB may hold: while it reads, of which it needs so much only for lines of several MiB, and then, when it uses all of it.
#: frametap and Python need the rest of a worker's 256 MiB.
MEMORY, MEMORY_FOR_TABLES = "128MB", "104MB"

#: How many rows, and how many bytes, a row group of the tables has at most, approximately.
ROWS, ROW_GROUP = 20_480, 8 * 2**20

#: How much of a run of unframed bytes, in hex, the tables keep: as much as of a frame's body, unless that is set.
HEX = 8_192

#: How much of a trace is read at a time.
PIECE = 2**20

#: How much of a trace DuckDB looks at, at most. It takes 2,048 lines at a time, whatever their length: if a piece has fewer
#: lines than MANY, they are long, and the part ends sooner.
PART, PART_OF_LONG_LINES, MANY = 64 * 2**20, 4 * 2**20, 256

#: A day, in nanoseconds.
DAY = 86_400 * 10**9

#: A line of a trace may have this many bytes.
LINE = 8 * 2**20


def database(folder: Path) -> duckdb.DuckDBPyConnection:
    """A database with one thread, in memory; what is too much for it goes to a folder in `folder`."""
    connection = duckdb.connect()
    connection.execute(f"set threads = 1; set memory_limit = '{MEMORY}'; set temp_directory = '{folder}/spill'")
    # Row groups of Parquet are limited in bytes only if their order may change.
    connection.execute("set timezone = 'UTC'; set preserve_insertion_order = false")
    return connection


def read_trace(connection: duckdb.DuckDBPyConnection, trace: BinaryIO, folder: Path) -> None:
    """Keeps a trace's lines as the view `lines`, and what few lines have as the table `rare`. `place` is a line's place in the trace.

    Part by part, each a file of its own: nothing grows with the trace but files.
    """
    (folder / "lines").mkdir()
    columns = ", ".join(f'"{name}" {kind}' for name, kind in schema.RARE.items())
    connection.execute(f"create or replace temp table rare ({columns})")
    part = folder / "part.ndjson"
    for number, _ in enumerate(_parts(trace, part)):
        kept = folder / f"lines/{number:09}.parquet"
        connection.execute(
            f"copy ({_lines(part, number)}) to '{kept}' "
            f"(format parquet, compression lz4_raw, row_group_size {ROWS}, row_group_size_bytes {ROW_GROUP})"
        )
        if connection.execute(f"select 1 from read_parquet('{kept}') where event in {schema.RARELY} limit 1").fetchone():
            connection.execute(f"insert into rare select * from {_json(part, schema.RARE)} where event in {schema.RARELY}")
    part.unlink()
    connection.execute(f"create or replace view lines as select * from read_parquet('{folder}/lines/*.parquet')")


def _parts(trace: BinaryIO, path: Path) -> Iterator[None]:
    """Writes a trace to `path`, so many whole lines at a time; at least once.

    The file is overwritten, never emptied: with its blocks used again, this costs a fifth.
    """
    buffer = bytearray(PIECE)
    rest = b""
    more = True
    with path.open("w+b") as file:
        while more:
            file.seek(0)
            file.write(rest)
            rest, limit = b"", PART
            while more := (read := trace.readinto(buffer)) > 0:
                if buffer.count(b"\n", 0, read) * PIECE < MANY * read:
                    limit = PART_OF_LONG_LINES
                end = buffer.rfind(b"\n", 0, read) + 1 if file.tell() + read >= limit else 0
                file.write(memoryview(buffer)[: end or read])
                if end:
                    rest = bytes(memoryview(buffer)[end:read])
                    break
            file.truncate()
            file.flush()
            yield


def _json(path: Path, keys: dict[str, str]) -> str:
    """A file of a trace's lines, with these keys, in SQL."""
    columns = ", ".join(f"'{name}': '{kind}'" for name, kind in keys.items())
    return f"read_json('{path}', format = 'newline_delimited', auto_detect = false, maximum_object_size = {LINE}, columns = {{{columns}}})"


def _lines(part: Path, number: int) -> str:
    """A part's lines, in SQL."""
    # Times as numbers, once: whatever is made of the lines has them as numbers. An opening's text is part of a key.
    kept = f"replace (case when event = 'opened' then time end as time, left(hex, {HEX}) as hex)"
    times = f"{schema.nanoseconds('time')} as ns, {schema.nanoseconds('started')} as started_ns"
    place = f"{number} * {PART} + row_number() over () as place"
    return f"select * exclude (started) {kept}, {times}, {place} from {_json(part, schema.LINE)}"


@dataclass
class Selection:
    """Which connections of a trace belong to the tables, and which of them are final.

    A connection is final when it ended before `horizon`: nothing that comes later changes its rows.
    """

    #: Ends of connections whose rows another trace has, and those whose rows only this one may have.
    without: list[str] = field(default_factory=list)
    #: Connections that ended before are in the tables already.
    after: int | None = None
    #: In nanoseconds; None: all connections are final.
    horizon: int | None = None

    def apply(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Makes `kept`, the rows of connections, each with whether it is final."""
        connection.execute("create or replace temp table elsewhere (pair varchar)")
        if self.without:
            connection.execute("insert into elsewhere select unnest(?)", [self.without])
        over = "reason not in ('end-of-input', 'evicted')"
        final = "true" if self.horizon is None else f"{over} and closed_ns < {self.horizon}"
        after = "true" if self.after is None else f"not ({over} and closed_ns < {self.after})"
        connection.execute(
            f"create or replace temp table kept as select *, {PAIR} as pair, bool_and({final}) over (partition by number) as final "
            f"from ({schema.CONNECTIONS}) where {after} and {PAIR} not in (select pair from elsewhere)"
        )


#: A connection's two ends, whoever is the client: what `--connection-of` takes.
PAIR = "least(client, server) || '-' || greatest(client, server)"


def write_tables(
    connection: duckdb.DuckDBPyConnection, selection: Selection, pairings: dict[str, list[Pairing]], name: str, folder: Path
) -> None:
    """Writes the four tables as folder/TABLE/day=DAY/NAME-final….parquet, and NAME-live….parquet for what a later run replaces."""
    connection.execute(f"set memory_limit = '{MEMORY_FOR_TABLES}'")
    selection.apply(connection)
    # A connection with two legs has two rows; its other rows say themselves which leg they are of.
    connection.execute("create or replace temp table known as select distinct number, connection, format, final from kept")
    find_round_trips(connection, pairings, folder.parent / "trips.ndjson")
    connections = "select * exclude (number, pair) from kept"
    queries = (connections, schema.FRAMES, schema.FINDINGS, schema.ROUND_TRIPS)
    for table, query in zip(schema.TABLES, queries, strict=True):
        time = "opened_ns" if table == "connections" else "time_ns"
        copy(connection, query, {True: f"{name}-final", False: f"{name}-live"}, folder / table, time)


def copy(connection: duckdb.DuckDBPyConnection, query: str, names: dict[bool, str], folder: Path, time: str = "time_ns") -> None:
    """Writes a query's rows to folder/day=DAY/NAME.parquet: the name is that of their `final`, the day that of the column `time`.

    One file after the other: what a writer holds is one row group.
    """
    for day, final in connection.execute(f"select distinct day, final from ({query}) order by all").fetchall():
        place = folder / f"day={datetime.date(1970, 1, 1) + datetime.timedelta(day)}"
        place.mkdir(parents=True, exist_ok=True)
        # As a range of times, not as `day`: then other days' lines are not read.
        connection.execute(
            f"copy (select * exclude (day, final) from ({query}) where {time} between {day * DAY} and {(day + 1) * DAY - 1} "
            f"and final = {final}) to '{place}/{names[final]}.parquet' "
            f"(format parquet, compression zstd, row_group_size {ROWS}, row_group_size_bytes {ROW_GROUP})"
        )
