"""What the tests share: frametap, a session of Spark, the synthetic day, and its tables from one process."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from frametap_spark.program import Program
from frametap_spark.run import Outcome, Request, run
from frametap_spark.session import session
from one_process import write_tables
from synthetic import write_day

SEED = int(os.environ.get("SEED", "7"))
FORMAT = Path(__file__).parent / "device.yaml"
FORMATS = {"device": FORMAT.read_text()}
FRAMETAP = os.environ.get("FRAMETAP") or shutil.which("frametap") or "frametap"
# Jobs of seconds end before what the JVM compiles well pays for itself: a third less time.
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
PROGRAM = Program(FRAMETAP, (f"--format={FORMAT}",))


@pytest.fixture(scope="session")
def spark() -> Iterator:
    """Spark on two threads of this machine."""
    started = session("local[2]", ["spark.sql.shuffle.partitions=2", "spark.ui.enabled=false"])
    yield started
    started.stop()


@pytest.fixture(scope="session")
def day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """2,000 connections in 200 files from two taps."""
    print(f"SEED={SEED}")
    folder = tmp_path_factory.mktemp("day") / "captures"
    assert len(list(write_day(folder, SEED, connections=2_000, files=200))) == 200
    return folder


@pytest.fixture(scope="session")
def small_day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """150 connections in 20 files from two taps."""
    folder = tmp_path_factory.mktemp("small") / "captures"
    assert len(list(write_day(folder, SEED, connections=150, files=20))) == 20
    return folder


@pytest.fixture(scope="session")
def day_tables(day: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The day's tables, by one process."""
    return write_tables(PROGRAM, sorted(day.iterdir()), tmp_path_factory.mktemp("day-tables"))


@pytest.fixture(scope="session")
def small_tables(small_day: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same of the small day."""
    return write_tables(PROGRAM, sorted(small_day.iterdir()), tmp_path_factory.mktemp("small-tables"))


@pytest.fixture
def scale(spark, tmp_path: Path) -> Callable[..., Outcome]:
    """Runs a job of the day's format, with what differs."""
    request = Request([], f"file:{tmp_path}/tables", 3, PROGRAM, FORMATS)
    return lambda *inputs, **other: run(spark, replace(request, input=[str(path) for path in inputs], **other))
