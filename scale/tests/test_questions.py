"""The questions of docs/scale.md are answered by the SQL that stands there."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

from comparing import rows

PAGE = Path(__file__).parents[2] / "docs/scale.md"


@pytest.fixture
def answer(day_tables: Path):
    """Runs the block of SQL below a heading of the page, with DuckDB, on the day's tables."""
    text = PAGE.read_text()

    def run(heading: str) -> list[tuple]:
        sql = re.search(rf"^### {re.escape(heading)}$.*?```sql\n(.*?)```", text, re.MULTILINE | re.DOTALL)[1]
        assert "'tables/" in sql
        return duckdb.sql(sql.replace("'tables/", f"'{day_tables}/")).fetchall()

    return run


def test_gaps_blamed_on_the_network_by_hour(answer, day_tables: Path) -> None:
    found = answer("Which devices had heartbeat gaps that the network caused, by hour?")
    blamed = duckdb.sql(f'select count(*) from {rows(day_tables, "findings")} where data like \'%"blame":"network"%\'').fetchall()[0][0]
    assert sum(row[2] for row in found) == blamed > 100
    assert len({row[0] for row in found}) > 10


def test_slowest_requests_by_type(answer) -> None:
    found = answer("Which requests took longest, by type?")
    assert {row[1] for row in found} == {"login", "query"}
    assert [row[3] for row in found] == sorted((row[3] for row in found), reverse=True)
    assert 0.8 < max(row[3] for row in found if row[1] == "query") < 1


def test_clients_that_send_malformed_frames(answer) -> None:
    """Every 20th device sends 18 bytes that begin with aa."""
    found = answer("Which clients send malformed frames?")
    assert len(found) > 50
    assert sum("aa" in row[4] for row in found) > 50


def test_one_connections_story(answer, day_tables: Path) -> None:
    found = answer("What happened on one connection?")
    what = [row[2] for row in found]
    assert what[0] == "opened" and what[-1] == "closed"
    assert what.count("heartbeat-resumed") >= 1 and "heartbeat" in what
    assert [row[0] for row in found] == sorted(row[0] for row in found)
