"""A trace is looked at part by part: of whole lines, none lost, whatever the sizes."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from frametap_spark import tables


@pytest.mark.parametrize("lines", [[], [b"{}"], [b"x" * length for length in (1, 40, 3, 0, 100, 7, 7, 7, 250, 2)]])
@pytest.mark.parametrize(("piece", "part"), [(7, 20), (16, 16), (64, 16), (1_000, 100), (5, 10_000)])
def test_parts_are_whole_lines(tmp_path: Path, monkeypatch, lines: list[bytes], piece: int, part: int) -> None:
    monkeypatch.setattr(tables, "PIECE", piece)
    monkeypatch.setattr(tables, "PART", part)
    trace = b"".join(line + b"\n" for line in lines)
    path = tmp_path / "part"
    parts = [path.read_bytes() for _ in tables._parts(io.BytesIO(trace), path)]
    assert parts and b"".join(parts) == trace
    assert all(not read or read.endswith(b"\n") for read in parts)
