"""A run that dies or fails while it changes the tables is ended by the next one."""

from __future__ import annotations

from pathlib import Path

import pytest

from comparing import expect_equal
from disk import Disk
from frametap_spark.errors import Refusal
from frametap_spark.state import Commit, Manifest, Output
from frametap_spark.storage import Storage


@pytest.mark.parametrize("moves", [0, 5])
def test_a_driver_that_dies(scale, small_day: Path, small_tables: Path, tmp_path: Path, monkeypatch, moves: int) -> None:
    done = 0

    class Killed(BaseException):
        pass

    move = Storage.move

    def dying(self: Storage, source: str, name: str) -> None:
        nonlocal done
        if done == moves:
            raise Killed
        done += 1
        move(self, source, name)

    monkeypatch.setattr(Storage, "move", dying)
    # What a killed driver leaves: no `finally` runs.
    monkeypatch.setattr("frametap_spark.state.Output.close", lambda self: None)
    with pytest.raises(Killed):
        scale(small_day)
    monkeypatch.undo()
    assert scale(small_day, break_lock=True).files == 0
    expect_equal(tmp_path / "tables", small_tables)


@pytest.mark.parametrize("error", [Refusal("cannot rename"), KeyboardInterrupt()])
def test_a_commit_that_fails(scale, small_day: Path, small_tables: Path, tmp_path: Path, monkeypatch, error: BaseException) -> None:
    """Unlike a killed driver, it closes the output."""
    done = 0
    move = Storage.move

    def failing(self: Storage, source: str, name: str) -> None:
        nonlocal done
        if done == 5:
            raise error
        done += 1
        move(self, source, name)

    monkeypatch.setattr(Storage, "move", failing)
    with pytest.raises(type(error)):
        scale(small_day)
    monkeypatch.undo()
    assert scale(small_day).files == 0
    expect_equal(tmp_path / "tables", small_tables)


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return Disk(tmp_path)


def tables_of(disk: Disk) -> Commit:
    """A commit of two files that tasks have left."""
    moves = []
    for name in ("a.parquet", "b.parquet"):
        disk.write(f"_frametap/unfinished/attempt/{name}", name)
        moves.append((f"{disk.root}/_frametap/unfinished/attempt/{name}", f"frames/day=2026-11-21/{name}"))
    return Commit(Manifest(run=1, shards=3), moves)


@pytest.mark.parametrize("error", [Refusal("cannot rename"), KeyboardInterrupt()])
@pytest.mark.parametrize("moves", [0, 1])
def test_half_a_commit_keeps_the_other_half(disk: Disk, error: BaseException, moves: int) -> None:
    output = Output(disk)
    output.open()
    commit = tables_of(disk)
    disk.failure = (moves, error)
    with pytest.raises(type(error)):
        output.commit(commit)
    output.close()
    disk.failure = None
    assert Output(disk).open() == commit.manifest
    assert disk.names("frames/day=2026-11-21") == ["a.parquet", "b.parquet"]
    assert not disk.exists("_frametap/unfinished") and not disk.exists("_frametap/commit.json")


def test_what_tasks_left_without_a_commit_is_deleted(disk: Disk) -> None:
    output = Output(disk)
    output.open()
    tables_of(disk)
    output.close()
    assert not disk.exists("_frametap/unfinished") and not disk.exists("_frametap/lock")


def test_an_output_that_cannot_be_opened_is_not_locked(disk: Disk) -> None:
    """The rest of a commit fails once more: the run after that needs no --break-lock."""
    output = Output(disk)
    output.open()
    commit = tables_of(disk)
    disk.failure = (1, Refusal("cannot rename"))
    with pytest.raises(Refusal):
        output.commit(commit)
    output.close()
    with pytest.raises(Refusal, match="cannot rename"):
        Output(disk).open()
    assert not disk.exists("_frametap/lock")
    disk.failure = None
    assert Output(disk).open() == commit.manifest


def test_the_lock_of_another_run_stays(disk: Disk) -> None:
    Output(disk).open()
    with pytest.raises(Refusal, match="another run writes here"):
        Output(disk).open()
    assert disk.exists("_frametap/lock")
