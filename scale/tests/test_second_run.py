"""A second run reads only new files, and continues open connections."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from comparing import expect_equal
from frametap_spark.errors import Refusal


@pytest.fixture
def growing(small_day: Path, tmp_path: Path) -> Path:
    """The first part of the small day: what both taps saw until the early afternoon."""
    folder = tmp_path / "captures"
    folder.mkdir()
    for path in sorted(small_day.iterdir()):
        if int(path.stem[-5:]) < 6:
            shutil.copy2(path, folder)
    return folder


def test_the_rest_comes_later(scale, growing: Path, small_day: Path, small_tables: Path, tmp_path: Path) -> None:
    assert scale(growing).files == 12
    for path in small_day.iterdir():
        if not (growing / path.name).exists():
            shutil.copy2(path, growing)
    assert scale(growing).files == 8
    expect_equal(tmp_path / "tables", small_tables)
    before = sorted((tmp_path / "tables").rglob("*.parquet"))
    assert scale(growing).files == 0
    assert sorted((tmp_path / "tables").rglob("*.parquet")) == before


def test_one_tap_comes_later(scale, small_day: Path, small_tables: Path, tmp_path: Path) -> None:
    """Every connection gets packets of a time that was read already: they are kept for as long as --keep says.

    The tap that comes first has the last packet, so that the end of all captures is not in the files of the second run."""
    assert scale(*small_day.glob("tap-b-*"), keep=100_000).files == 10
    assert scale(*small_day.glob("tap-a-*"), keep=100_000).files == 10
    expect_equal(tmp_path / "tables", small_tables)


def test_a_file_that_changed_is_reported_and_not_read_again(scale, growing: Path) -> None:
    scale(growing)
    changed = growing / "tap-a-00003.pcap"
    with changed.open("ab") as file:
        file.write(b"more")
    os.utime(changed, (1, 1))
    outcome = scale(growing)
    assert outcome.files == 0
    assert [(problem.file, problem.message[:29]) for problem in outcome.problems] == [(f"file:{changed}", "changed since it was read: ex")]


def test_another_number_of_shards_is_refused(scale, growing: Path) -> None:
    scale(growing)
    with pytest.raises(Refusal, match="made with --shards 3, not 4"):
        scale(growing, shards=4)
