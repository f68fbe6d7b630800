"""A file that could not be fetched is tried again in the next run, and only such a file."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from disk import Disk
from frametap_spark import run as running
from frametap_spark.errors import Problem
from frametap_spark.listing import InputFile
from frametap_spark.program import Program, _problems
from frametap_spark.state import Output
from frametap_spark.tasks import Job, split
from frametap_spark.transfer import Transfer

#: What Hadoop's shell says, without its own name before it.
GONE = "`s3a://captures/a.pcap': No such file or directory"


@pytest.fixture
def unreachable(monkeypatch) -> None:
    monkeypatch.setattr(Transfer, "_shell", lambda self, *arguments: GONE)


def test_what_cannot_be_fetched_is_noted(unreachable, tmp_path: Path) -> None:
    job = Job(Program("no such program"), Transfer(), 3, 1, f"file:{tmp_path}/shards", f"file:{tmp_path}/tables")
    assert split(job, ["s3a://captures/a.pcap"]) == (None, [Problem("s3a://captures/a.pcap", GONE, again=True)])


def test_what_frametap_cannot_open_is_noted() -> None:
    lines = ["frametap: cannot open /a.pcap: Permission denied", "frametap: /a.pcap: byte 0: expected a pcap"]
    assert [problem.again for problem in _problems(lines, ["/a.pcap"])] == [True, False]


def test_the_next_run_tries_it_again(unreachable, tmp_path: Path, monkeypatch) -> None:
    """Without Spark: stages run here, and there is nothing to decode."""
    disk = Disk(tmp_path)
    file = InputFile("s3a://captures/a.pcap", 24, 0)
    context = SimpleNamespace(defaultParallelism=1, getConf=lambda: SimpleNamespace(getAll=list))
    monkeypatch.setattr(running, "Storage", lambda spark, root: disk)
    monkeypatch.setattr(running.listing, "list_files", lambda spark, urls: ([file], []))
    monkeypatch.setattr(running, "run_stage", lambda spark, name, task, items: [task(item) for item in items])
    monkeypatch.setattr(running.second_stage, "find", lambda *_: [])
    request = running.Request(["s3a://captures"], disk.root, 2, Program("no such program"))
    perform = partial(running.run, SimpleNamespace(sparkContext=context), request)
    for number in (1, 2):
        outcome = perform()
        assert (outcome.files, outcome.problems) == (1, [Problem(file.path, GONE, again=True)])
        assert Output(disk).files() == {}
        assert disk.read(f"problems/run-{number:05}.ndjson").count("\n") == 1
    assert disk.read("problems/run-00001.ndjson") == '{"file": "s3a://captures/a.pcap", "message": "' + GONE + '"}\n'
