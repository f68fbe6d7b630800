"""A trace is looked at part by part: of whole lines, none lost, whatever the sizes."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from frametap_spark import tables


@pytest.mark.parametrize("lines", [[], [b"{}"], [b"x" * length for length in (1, 40, 3, 0, 100, 7, 7, 7, 250, 2)]])
@pytest.mark.parametrize(("piece", "part"), [(7, 20), (16, 16), (64, 16), (1_000, 100), (5, 10_000)])
def test_parts_are_whole_lines(tmp_path: Path, monkeypatch, lines: list[bytes], piece: int, part: int) -> None:
    monkeypatch.setattr(tables, "PIECE", piece)
    monkeypatch.setattr(tables, "PART", part)
    monkeypatch.setattr(tables, "PART_OF_LONG_LINES", part // 2)
    trace = b"".join(line + b"\n" for line in lines)
    path = tmp_path / "part"
    parts = [path.read_bytes() for _ in tables._parts(io.BytesIO(trace), path)]
    assert parts and b"".join(parts) == trace
    assert all(not read or read.endswith(b"\n") for read in parts)


@pytest.mark.parametrize(("length", "apart"), [(5_000, 0), (60_000, 0), (2**20, 0), (7 * 2**20, 200)])
def test_long_bodies_need_no_more_memory(tmp_path: Path, length: int, apart: int) -> None:
    """DuckDB would say so: it may not hold these 64 MiB twice. Between two long bodies are so many short ones."""
    frame = {"event": "frame", "connection": 1, "from": "client", "time": "2026-11-21T08:00:00.000012345Z"}
    long, short = (json.dumps(frame | {"body": {"text": "x" * size}}).encode() + b"\n" for size in (length, 300))
    count = 2**26 // length
    with tables.database(tmp_path) as connection:
        tables.read_trace(connection, io.BytesIO((long + short * apart) * count), tmp_path)
        found = connection.execute("select count(*), max(length(body->>'$.text')), count(distinct place) from lines").fetchone()
    assert found == (count * (1 + apart), length, count * (1 + apart))
