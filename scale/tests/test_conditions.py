"""Conditions of format files as SQL."""

from __future__ import annotations

import duckdb
import pytest

from frametap_spark.conditions import Unsupported, as_sql

FRAME = """(select 'query' as type, 'client' as "from", 20 as length, false as heartbeat,
    '{"id":7,"args":["GET","x"],"name":"it''s"}'::json as fields, '{"length":3,"text":"abc"}'::json as body)"""


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ('type == "query"', True),
        ('type != "query"', False),
        ("from == client and length > 10", True),
        ("from == server or fields.id == 7", True),
        ("fields.id in {1, 5..8}", True),
        ('type in {"a", "b"}', False),
        ('type matches "^q.*y$"', True),
        ('fields.args[0] == "GET"', True),
        ("fields.args[2] exists", False),
        ("fields.none == 3", False),
        ("not (fields.none == 3)", True),
        ('fields.name == "it\'s"', True),
        ('body.text startsWith "ab" && !heartbeat', True),
        ("length == 0x14", True),
    ],
)
def test_conditions(condition: str, expected: bool) -> None:
    assert duckdb.sql(f"select {as_sql(condition)} from {FRAME}").fetchall() == [(expected,)]


@pytest.mark.parametrize("condition", ["bits(fields.x, 3) == 1", "type ==", "type == 1 type", "nonsense == 3"])
def test_what_is_not_understood_is_said(condition: str) -> None:
    with pytest.raises(Unsupported):
        as_sql(condition)
