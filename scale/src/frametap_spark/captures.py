"""The little of pcapng that is needed here: until when a capture lasted."""

from __future__ import annotations

import struct
from os import SEEK_CUR, SEEK_END
from pathlib import Path
from typing import BinaryIO

SECTION, INTERFACE, STATISTICS = 0x0A0D0D0A, 1, 5
IF_TSRESOL, ISB_ENDTIME = 9, 3


def end_of(piece: Path) -> int | None:
    """The end that the statistics of a shard state, in nanoseconds; None if it states none.

    frametap writes shards in little-endian order, one section each, with one block of statistics, the last one: packets are not
    looked at, unless their interface is described behind them.
    """
    with piece.open("rb") as file:
        size = file.seek(0, SEEK_END)
        if size == 0:
            return None
        file.seek(size - 4)
        (length,) = struct.unpack("<I", file.read(4))
        file.seek(size - length)
        kind, content = struct.unpack("<I", file.read(4))[0], file.read(length - 4)[4:-4]
        end = _options(content[12:]).get(ISB_ENDTIME) if kind == STATISTICS else None
        if end is None:
            return None
        high, low = struct.unpack("<II", end)
        # Before 1970, the number is negative.
        units = (high << 32 | low) - (1 << 64 if high >= 1 << 31 else 0)
        return units * 10**9 // _units_of(file, struct.unpack_from("<I", content)[0])


def _units_of(file: BinaryIO, interface: int) -> int:
    """How many units of time a second has on this interface, the first being 0."""
    file.seek(0)
    while len(head := file.read(8)) == 8:
        kind, length = struct.unpack("<II", head)
        if kind == INTERFACE and interface == 0:
            return _units(_options(file.read(length - 8)[8:-4]).get(IF_TSRESOL))
        interface -= kind == INTERFACE
        file.seek(length - 8, SEEK_CUR)
    raise OSError(f"{file.name}: statistics of an interface that is not described")


def write_end(path: Path, end: int) -> None:
    """A capture without packets that lasted until `end`, in nanoseconds."""
    section = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)
    interface = struct.pack("<HHI", 1, 0, 0) + struct.pack("<HHB3x", IF_TSRESOL, 1, 9) + bytes(4)
    time = struct.pack("<II", end >> 32 & 0xFFFFFFFF, end & 0xFFFFFFFF)
    statistics = struct.pack("<I", 0) + time + struct.pack("<HH", ISB_ENDTIME, 8) + time + bytes(4)
    path.write_bytes(_block(SECTION, section) + _block(INTERFACE, interface) + _block(STATISTICS, statistics))


def _block(kind: int, content: bytes) -> bytes:
    length = 12 + len(content)
    return struct.pack("<II", kind, length) + content + struct.pack("<I", length)


def _units(resolution: bytes | None) -> int:
    """How many units of time a second has."""
    if resolution is None:
        return 10**6
    return 1 << (resolution[0] & 0x7F) if resolution[0] & 0x80 else 10 ** resolution[0]


def _options(content: bytes) -> dict[int, bytes]:
    options: dict[int, bytes] = {}
    place = 0
    while place + 4 <= len(content):
        code, length = struct.unpack_from("<HH", content, place)
        if code == 0:
            break
        options[code] = content[place + 4 : place + 4 + length]
        place += 4 + (length + 3) // 4 * 4
    return options
