"""What is read of frametap's answers, and what is not taken for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from frametap_spark import captures, times
from frametap_spark.program import Program, Selection, Written


def program(folder: Path, script: str) -> Program:
    """A program that is not frametap."""
    path = folder / "frametap"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return Program(str(path))


def test_what_is_incomplete_is_no_result(tmp_path: Path) -> None:
    """A shard that a worker cannot read must not be taken for an empty one."""
    script = "echo '{\"connections\":1,\"frames\":2}'; echo 'cannot open this' >&2; exit 2"
    with pytest.raises(OSError, match=r"frametap tables ended with 2: cannot open this"):
        program(tmp_path, script).tables(["a"], [], Selection(), "n", tmp_path)
    written = program(tmp_path, script).tables(["a"], [], Selection(), "n", tmp_path, tolerant=True)
    assert (written.connections, written.frames) == (1, 2)
    with pytest.raises(OSError, match=r"ended with 2"):
        program(tmp_path, "exit 2").tables(["a"], [], Selection(), "n", tmp_path, tolerant=True)


def test_two_connections_of_the_same_ends_are_named_once() -> None:
    opened = ["2026-11-21T08:00:00.000000002Z", "2026-11-21T08:00:00.000000001Z"]
    lines = [f'{{"live":"a:1-b:2","opened":"{time}"}}\n'.encode() for time in opened]
    written = Written.read([*lines, b'{"format":"f","heartbeat":true}\n', b'{"format":"g","heartbeat":false}\n'])
    assert written.live == {"a:1-b:2"} and written.heartbeats == ["f"]
    assert written.since == times.nanoseconds(opened[1])


@pytest.mark.parametrize("time", [0, 1_795_248_000 * 10**9 + 12_345, -1, -(10**18) - 1, times.FIRST, times.LAST])
def test_times_are_written_as_they_are_read(time: int) -> None:
    assert times.nanoseconds(times.text(time)) == time


def test_times_beyond_frametaps_are_the_last_one() -> None:
    assert times.nanoseconds(times.text(2**64)) == times.LAST


@pytest.mark.parametrize("end", [0, 1_795_248_000 * 10**9, -5])
def test_the_end_of_a_capture(tmp_path: Path, end: int) -> None:
    captures.write_end(tmp_path / "end.pcapng", end)
    assert captures.end_of(tmp_path / "end.pcapng") == end


def test_frametap_takes_large_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless somebody has told the C library otherwise."""
    script = 'echo "$GLIBC_TUNABLES" > "$0.tunables"; echo \'{"connections":0,"frames":0}\''
    for told, expected in [(None, "glibc.malloc.hugetlb=1"), ("glibc.malloc.check=0", "glibc.malloc.check=0")]:
        monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
        if told:
            monkeypatch.setenv("GLIBC_TUNABLES", told)
        program(tmp_path, script).tables(["a"], [], Selection(), "n", tmp_path)
        assert (tmp_path / "frametap.tunables").read_text() == f"{expected}\n"
