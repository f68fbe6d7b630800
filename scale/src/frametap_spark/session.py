"""Spark's session."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import Refusal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What a job of frametap needs otherwise than Spark does it.
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    # A worker decodes in frametap and DuckDB, which are processes and libraries outside of the JVM.
    "spark.executor.memory": "512m",
    # Small tables of findings: the second stage is no reason for 200 tasks.
    "spark.sql.shuffle.partitions": "8",
}


def session(master: str | None, settings: list[str]) -> SparkSession:
    """A session with these settings, NAME=VALUE. In local mode, tasks are tried again, as they are on a cluster."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("frametap-spark")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise Refusal(f"--conf {setting}: expected NAME=VALUE")
        builder = builder.config(name, value)
    if master and master.startswith("local"):
        # Workers of this machine have what this program has, whatever python3 the PATH names.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master:
        retried = f"{master[:-1]},4]" if master.startswith("local[") and "," not in master else master
        builder = builder.master(retried)
    spark = builder.getOrCreate()
    # What fails in the end is said by this program, in a line.
    spark.sparkContext.setLogLevel("FATAL")
    _ship_package(spark)
    return spark


def _ship_package(spark: SparkSession) -> None:
    """Gives this package to the workers, which need not have it installed."""
    # Workers fetch it from this folder when they start.
    folder = tempfile.mkdtemp(prefix="frametap-spark-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    source = Path(__file__).parent
    shutil.copytree(source, f"{folder}/package/{source.name}", ignore=shutil.ignore_patterns("__pycache__"))
    spark.sparkContext.addPyFile(shutil.make_archive(f"{folder}/{source.name}", "zip", f"{folder}/package"))
