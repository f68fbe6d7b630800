"""The exit status of the command, and what it says: a line, whatever went wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from frametap_spark.cli import main

NEEDED = ["--input", "a", "--output", "b"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: --input, --output"),
        ([*NEEDED, "--shards", "many"], "argument --shards: invalid int value: 'many'"),
        ([*NEEDED, "--nonsense"], "unrecognized arguments: --nonsense"),
        ([*NEEDED, "--conf", "spark.x"], "argument --conf: spark.x: expected NAME=VALUE"),
    ],
)
def test_wrong_usage(capsys, arguments: list[str], message: str) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 64
    said = capsys.readouterr().err
    assert said.startswith("usage: frametap-spark") and said.endswith(f"frametap-spark: {message}\n")


def test_wrong_values(capsys) -> None:
    assert main([*NEEDED, "--shards", "0"]) == 64
    assert capsys.readouterr().err == "frametap-spark: --shards 0: expected 1 to 4096\n"


def test_what_nobody_expected_is_a_line(capsys, monkeypatch, tmp_path: Path) -> None:
    def failing(*_: object) -> None:
        raise ValueError("this is wrong\nand this its stack")

    monkeypatch.setattr("frametap_spark.cli._decoding", failing)
    assert main(NEEDED) == 2
    said = capsys.readouterr().err
    assert said.startswith("frametap-spark: unexpected ValueError at cli.py:") and said.endswith(": this is wrong\n")
    assert said.count("\n") == 1


def test_a_format_file_that_cannot_be_read(capsys, tmp_path: Path) -> None:
    file = tmp_path / "device.yaml"
    file.write_bytes(b"\xff\xfe")
    assert main([*NEEDED, "--format", str(file)]) == 2
    assert capsys.readouterr().err.startswith("frametap-spark: unexpected UnicodeDecodeError at cli.py:")


def test_an_interrupt_stays_one(monkeypatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("frametap_spark.cli._decoding", interrupted)
    with pytest.raises(KeyboardInterrupt):
        main(NEEDED)
