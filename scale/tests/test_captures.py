"""Until when a shard lasts is found at its end, without its packets."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest

from conftest import FRAMETAP
from frametap_spark.captures import _block, _options, _units, end_of, write_end

FIXTURES = Path(__file__).parents[2] / "fixtures"


def every_end(piece: Path) -> int | None:
    """The same, of all blocks."""
    content, place, units, ends = piece.read_bytes(), 0, [], []
    while place < len(content):
        kind, length = struct.unpack_from("<II", content, place)
        body = content[place + 8 : place + length - 4]
        if kind == 1:
            units.append(_units(_options(body[8:]).get(9)))
        elif kind == 5 and (end := _options(body[12:]).get(3)):
            high, low = struct.unpack("<II", end)
            ends.append((high << 32 | low) * 10**9 // units[struct.unpack_from("<I", body)[0]])
        place += length
    return max(ends, default=None)


def test_of_shards(tmp_path: Path) -> None:
    captures = sorted(map(str, FIXTURES.glob("*/conversation.pcap*")))
    command = [FRAMETAP, "shard", "--shards", "3", "--output", str(tmp_path / "shards"), "--", *captures]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    pieces = sorted((tmp_path / "shards").iterdir())
    ends = [end_of(piece) for piece in pieces]
    assert ends == [every_end(piece) for piece in pieces] and None not in ends


@pytest.mark.parametrize("end", [0, 1_795_219_200_123_456_789])
def test_of_an_end_that_was_written(tmp_path: Path, end: int) -> None:
    write_end(tmp_path / "end.pcapng", end)
    assert end_of(tmp_path / "end.pcapng") == end


def test_of_none(tmp_path: Path) -> None:
    piece = tmp_path / "none.pcapng"
    piece.write_bytes(b"")
    assert end_of(piece) is None
    piece.write_bytes(_block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)))
    assert end_of(piece) is None
