"""Files that are not `file:` go through Hadoop's classes: here, viewfs, which any store of Hadoop's may stand for."""

from __future__ import annotations

from pathlib import Path

from comparing import expect_equal
from conftest import FORMATS, PROGRAM, SEED
from frametap_spark.run import Request, run
from one_process import write_tables
from synthetic import write_day


def test_viewfs(spark, tmp_path: Path, monkeypatch) -> None:
    # Few files: Hadoop's shell is started for each.
    captures = sorted(write_day(tmp_path / "captures", SEED, connections=40, files=4))
    tables = write_tables(PROGRAM, captures, tmp_path / "expected")
    settings = {
        "fs.viewfs.mounttable.store.link./captures": f"file:{tmp_path / 'captures'}",
        "fs.viewfs.mounttable.store.link./tables": f"file:{tmp_path}",
    }
    configuration = spark.sparkContext._jsc.hadoopConfiguration()
    for name, value in settings.items():
        configuration.set(name, value)
    # As --conf spark.hadoop.… would have set them.
    monkeypatch.setattr("frametap_spark.run._Run._hadoop_settings", lambda self: settings)
    request = Request(["viewfs://store/captures"], "viewfs://store/tables/out", 2, PROGRAM, FORMATS, group_size=2**30)
    assert run(spark, request).problems == []
    expect_equal(tmp_path / "out", tables)
