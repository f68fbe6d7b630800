"""Round trips are those that `frametap report` counts."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from comparing import exists, rows
from conftest import FRAMETAP, PROGRAM, SEED, decode_once
from frametap_spark import pairs
from frametap_spark.pairs import MOST_REQUESTS, Pairing, find_round_trips
from frametap_spark.program import Program
from frametap_spark.tables import database

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
            tables = decode_once(Program(FRAMETAP), {}, [capture], tmp_path / folder.name)
            expected = reported([capture], ())
            assert in_table(tables) == expected, capture
            seen += len(expected)
    assert seen >= 3


LINE = {
    "connection": "BIGINT",
    "event": "VARCHAR",
    "from": "VARCHAR",
    "index": "BIGINT",
    "type": "VARCHAR",
    "body": "VARCHAR",
    "ns": "BIGINT",
    "handshake": "BOOLEAN",
}
RULES = {
    "order": Pairing("type = 'ask'", "type = 'answer'", "client", "''", 50, False, False, True),
    "order, for ever": Pairing("type = 'ask'", "type = 'answer'", "client", "''", None, True, False, True),
    "id": Pairing("type = 'ask'", "type = 'answer'", "client", "body", 50, False, True, False),
    "id, for ever": Pairing("type = 'ask'", "type = 'answer'", "client", "body", None, True, True, False),
    "type": Pairing("type = 'ask'", "type = 'answer'", "client", "body", 50, False, False, False),
}


def conversation(random_: random.Random, number: int) -> Iterator[tuple]:
    """A connection's lines: mostly orderly, with now and then whatever may go wrong."""
    trouble = random_.choice([0, 0, 0, 0.02, 0.3])
    busy = number % 40 == 0
    yield number, "opened", None, None, None, None, 0, random_.random() > trouble
    yield number, "format", None, None, None, None, 0, None
    time, waiting = 0, []
    for index in range(4 * MOST_REQUESTS if busy else random_.choice([3, 5, 10, 40])):
        time += random_.randrange(-1_000, 1_000) if random_.random() < trouble else random_.randrange(20)
        if random_.random() < trouble / 5:
            yield number, random_.choice(["missing", "unframed"]), None, None, None, None, time, None
        if waiting and random_.random() < (0.1 if busy else 0.5):
            key = waiting.pop(random_.randrange(len(waiting)) if random_.random() < trouble else 0)
            yield number, "frame", "server", index, "answer", key, time, None
        elif busy or len(waiting) < 2 or random_.random() < trouble:
            key = str(random_.randrange(4) if random_.random() < trouble else index)
            if random_.random() >= trouble:
                waiting.append(key)
            yield number, "frame", "client", index, "ask", key, time, None
    yield number, "closed", None, None, None, None, time, None


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_what_sql_finds_is_what_python_finds(tmp_path: Path, monkeypatch, rule: Pairing) -> None:
    """Python alone follows the rules of `frametap report` frame by frame; SQL only does what is easy."""
    random_ = random.Random(SEED)
    connection = database(tmp_path)
    lines = sorted((line for number in range(400) for line in conversation(random_, number)), key=lambda line: line[0] % 50)
    (tmp_path / "lines.json").write_text("".join(json.dumps(dict(zip(LINE, line, strict=True))) + "\n" for line in lines))
    connection.execute(
        f"create table lines as select *, row_number() over () as place, null::varchar as leg, 'f' as format "
        f"from read_json('{tmp_path}/lines.json', columns = {LINE})"
    )
    find_round_trips(connection, {"f": [rule]}, tmp_path / "trips")
    connection.execute("alter table trips rename to found")
    monkeypatch.setattr(pairs, "HARD", "select distinct connection from steps")
    find_round_trips(connection, {"f": [rule]}, tmp_path / "trips")
    assert connection.execute("select count(*) from trips").fetchone()[0] > 1_000
    for one, other in (("found", "trips"), ("trips", "found")):
        assert not connection.execute(f"from {one} except all from {other} limit 3").fetchall()
