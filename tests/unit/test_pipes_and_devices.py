"""Pipes and devices in place of files: every command says at once what they are, and opens none."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mklearn.study.cli.command_line import main

SUFFIXES = ("csv", "csv.gz", "tsv", "parquet", "npz", "mat", "h5ad", "h5mu")
TABLES = {f"table.{suffix}": f"{{kind: feature_tables, tables: {{t: pipe.{suffix}}}}}" for suffix in SUFFIXES} | {
    "labels": "{kind: feature_tables, tables: {t: t.csv}, labels: pipe.csv}",
    "target": "{kind: feature_tables, target: f, tables: {t: pipe.csv}}",
    "array": "{kind: feature_tables, tables: {t: {path: pipe.npz, array: x}}}",
    "matrix": "{kind: precomputed, matrices: {k: pipe.npz}, labels: t.csv}",
    "device": "{kind: feature_tables, tables: {t: zero.csv}}",
}
COMMANDS = [
    *(["validate", f"{name}.yaml"] for name in [*TABLES, "given", "pipe", "zero"]),
    *([command, "pipe.yaml"] for command in ("run", "failed")),
    ["show", "pipe.npz"], ["compare", "pipe.yaml", "t.yaml"], ["export", "pipe.yaml", "crate.zip"],
    ["init", "pipe.csv"], ["predict", "pipe.mklearn", "t.csv"], ["predict", "zero.mklearn", "t.csv"],
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    for suffix in (*SUFFIXES, "yaml", "mklearn"):
        os.mkfifo(f"pipe.{suffix}")
    for suffix in ("yaml", "csv", "mklearn"):
        Path(f"zero.{suffix}").symlink_to("/dev/zero")
    Path("t.csv").write_text("id,label,f\n" + "".join(f"s{n},{'ab'[n % 2]},0.{n + 1}\n" for n in range(8)))
    for name, entry in TABLES.items():
        Path(f"{name}.yaml").write_text(f"study: s\ndatasets: {{d: {entry}}}\n")
    Path("given.yaml").write_text(
        "study: s\ndatasets: {d: {kind: feature_tables, tables: {t: t.csv}}}\n"
        "protocols: {p: {kind: given, path: pipe.csv}}\n"
    )

    def too_late(*_: Any) -> None:
        raise AssertionError("a pipe or a device was opened, and read until now")

    signal.signal(signal.SIGALRM, too_late)
    signal.alarm(20)
    yield tmp_path
    signal.alarm(0)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_pipe_or_a_device_is_a_sentence(folder: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 1
    output = capsys.readouterr().err
    assert "is a pipe or a device, not a file" in output
    assert output.startswith("mklearn: ")
    assert "Did you mean" not in output
