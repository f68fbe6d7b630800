"""A standalone cluster of two workers: with spark-submit, and with a worker that is killed in the middle."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster import HOME, Cluster
from comparing import expect_equal
from conftest import FORMAT, FRAMETAP

ENVIRONMENT = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, "SPARK_HOME": str(HOME)}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


def arguments(captures: Path, output: Path, program: str) -> list[str]:
    options = ["--input", str(captures), "--output", str(output), "--format", str(FORMAT), "--shards", "6"]
    return [*options, "--frametap", program, "--group-size", "60000"]


def test_spark_submit_ships_frametap(cluster: Cluster, small_day: Path, small_tables: Path, tmp_path: Path) -> None:
    """The workers find the program among the files of the job."""
    script = Path(__file__).parents[1] / "src/frametap_spark/submit.py"
    submit = [HOME / "bin/spark-submit", "--master", cluster.address, "--files", FRAMETAP, script]
    command = [*submit, *arguments(small_day, tmp_path / "tables", Path(FRAMETAP).name)]
    result = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "150 connections" in result.stdout + result.stderr
    expect_equal(tmp_path / "tables", small_tables)


def test_a_killed_worker_changes_nothing(cluster: Cluster, small_day: Path, small_tables: Path, tmp_path: Path) -> None:
    """The first worker dies, with its executor, while it decodes."""
    started = tmp_path / "started"
    script = tmp_path / "slow-frametap"
    script.write_text(f'#!/bin/sh\n[ "$1" = tables ] && touch {started} && sleep 1\nexec {FRAMETAP} "$@"\n')
    script.chmod(0o755)
    command = [sys.executable, "-m", "frametap_spark.cli", "--master", cluster.address]
    with (tmp_path / "log").open("w+") as log:
        run = subprocess.Popen([*command, *arguments(small_day, tmp_path / "tables", str(script))], env=ENVIRONMENT, stdout=log, stderr=log)
        while not started.exists() and run.poll() is None:
            time.sleep(0.05)
        cluster.kill_worker()
        assert run.poll() is None, "it was over before the worker died"
        assert run.wait() == 0, (tmp_path / "log").read_text()
    expect_equal(tmp_path / "tables", small_tables)
    assert not (tmp_path / "tables/_frametap/unfinished").exists()
