"""Whatever is wrong with files or places is reported with its place, and nothing else is lost."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from comparing import expect_equal
from conftest import FRAMETAP, PROGRAM
from frametap_spark.errors import Refusal
from one_process import write_tables


def test_bad_files_among_good_ones(scale, small_day: Path, tmp_path: Path) -> None:
    captures = tmp_path / "captures"
    shutil.copytree(small_day, captures)
    cut = captures / "tap-a-00004.pcap"
    cut.write_bytes(cut.read_bytes()[:5_000])
    (captures / "a picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (captures / "100%.pcap").write_bytes(b"")
    (captures / "a#b?.pcap").write_bytes(b"pcap")
    outcome = scale(captures)
    problems = {Path(problem.file).name: problem.message for problem in outcome.problems}
    assert problems.keys() == {"tap-a-00004.pcap", "a picture.png", "100%.pcap", "a#b?.pcap"}
    assert problems["tap-a-00004.pcap"].startswith("byte ") and "found the end of the file after" in problems[cut.name]
    assert problems["a picture.png"].startswith("byte 0: expected a pcap, pcapng or gzip magic number")
    lines = (tmp_path / "tables/problems/run-00001.ndjson").read_text().splitlines()
    assert len([json.loads(line) for line in lines]) == 4
    expected = write_tables(PROGRAM, sorted(captures.glob("tap-*")), tmp_path / "expected")
    expect_equal(tmp_path / "tables", expected)


def test_a_file_that_cannot_be_opened_is_tried_again(scale, small_day: Path, small_tables: Path, tmp_path: Path) -> None:
    """As without permission: the run says so, and the next one reads it."""
    captures = tmp_path / "captures"
    shutil.copytree(small_day, captures)
    hidden = captures / "tap-b-00003.pcap"
    script = tmp_path / "frametap"
    moved = hidden.with_suffix(".away")
    script.write_text(f'#!/bin/sh\n[ "$1" = shard ] && mv {hidden} {moved} 2>/dev/null\nexec {FRAMETAP} "$@"\n')
    script.chmod(0o755)
    outcome = scale(captures, program=replace(PROGRAM, name=str(script)), keep=100_000, group_size=2**30)
    assert [(problem.file, problem.message) for problem in outcome.problems] == [
        (f"file:{hidden}", f"cannot open {hidden}: No such file or directory")
    ]
    moved.rename(hidden)
    assert scale(captures, keep=100_000).problems == []
    expect_equal(tmp_path / "tables", small_tables)


def test_existing_output_is_refused(scale, small_day: Path, tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables/letter.txt").write_text("not mine")
    with pytest.raises(Refusal, match=r"has other content: expected an empty folder"):
        scale(small_day)
    assert [path.name for path in (tmp_path / "tables").iterdir()] == ["letter.txt"]


def test_a_full_disk_changes_nothing(scale, small_day: Path, small_tables: Path, tmp_path: Path) -> None:
    script = tmp_path / "frametap"
    script.write_text(f"#!/bin/sh\ntrap '' XFSZ\nulimit -f 16\nexec {FRAMETAP} \"$@\"\n")
    script.chmod(0o755)
    with pytest.raises(Refusal, match=r"splitting failed, and no table was changed: .*shard"):
        scale(small_day, program=replace(PROGRAM, name=str(script)))
    assert not list((tmp_path / "tables").rglob("*.parquet"))
    scale(small_day)
    expect_equal(tmp_path / "tables", small_tables)


def test_two_runs_at_once_are_refused(scale, small_day: Path, small_tables: Path, tmp_path: Path) -> None:
    lock = tmp_path / "tables/_frametap/lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    with pytest.raises(Refusal, match="another run writes here"):
        scale(small_day)
    scale(small_day, break_lock=True)
    expect_equal(tmp_path / "tables", small_tables)


def test_a_missing_program_is_named(scale, small_day: Path) -> None:
    with pytest.raises(Refusal, match=r"no program frametapp on this machine: install frametap on every worker"):
        scale(small_day, program=replace(PROGRAM, name="frametapp"))


def test_a_missing_folder_is_named(scale, tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=r"cannot list .*nowhere"):
        scale(tmp_path / "nowhere")
