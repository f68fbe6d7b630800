"""A run that dies while it changes the tables is ended by the next one."""

from __future__ import annotations

from pathlib import Path

import pytest

from comparing import expect_equal
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
