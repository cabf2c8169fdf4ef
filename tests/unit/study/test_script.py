"""Scripts: run by explicit values or a command, mistakes as sentences, the log of a job that fails."""

import logging
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mklearn.atomic import read_npz, read_parquet
from mklearn.errors import ConfigError
from mklearn.study.engine.workflow_files import load_script
from mklearn.study.provenance import SCRIPTS
from mklearn.study.script import call

DIGITS = {
    "dataset": "digits",
    "reader": "mklearn.study.data.readers.registered:sklearn_digits",
    "options": {},
    "per_class": 3,
}
SPLIT = {"kind": "k_fold", "implementation": "m:f", "parameters": {}, "seed": 0}


@pytest.fixture(autouse=True)
def quiet_afterwards() -> Iterator[None]:
    """``log.start`` gives the package's loggers a handler of their own; take it away again."""
    yield
    for name in ("mklearn", "py.warnings"):
        logging.getLogger(name).handlers.clear()
        logging.getLogger(name).propagate = True
    logging.captureWarnings(False)


@pytest.mark.parametrize("path", sorted(SCRIPTS.glob("*.py")), ids=lambda path: path.stem)
def test_scripts_are_short(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 80
    assert "from __future__" not in text, "Snakemake writes its own lines before it"
    monkeypatch.setattr(sys, "argv", [str(path), "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(path), run_name="__main__")
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: {path.stem} [-h]")


def test_one_file_may_stand_for_a_list_and_empty_lists_for_nothing(tmp_path: Path) -> None:
    outputs = {"samples": str(tmp_path / "s.npz"), "labels": [str(tmp_path / "l.parquet")]}
    call(load_script("read"), files=[], **outputs, spec=DIGITS)
    assert len(read_npz(tmp_path / "s.npz")["y"]) == 30
    assert list(read_parquet(tmp_path / "l.parquet")[0].columns) == ["id", "y", "label"]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({}, "split: labels: Field required; splits: Field required; spec: Field required. It takes labels, files, "),
        ({"labels": "l", "splits": "s", "spec": SPLIT, "more": 1}, "split: more: Extra inputs are not permitted. It "),
        ({"labels": ["l", "m"], "splits": "s", "spec": SPLIT}, "split: labels: Input is not a valid path"),
        ({"labels": "l", "splits": "s", "spec": SPLIT | {"seed": "x"}}, "split: spec.seed: Input should be a valid in"),
    ],
)
def test_wrong_values_are_named(values: dict[str, object], sentence: str) -> None:
    with pytest.raises(ConfigError) as error:
        call(load_script("split"), **values)
    assert str(error.value).startswith(sentence)


JOB = """
import sys, warnings
from types import SimpleNamespace
from mklearn.study.engine.workflow_files import load_script
from mklearn.study.script import Output, run_script
from pathlib import Path

def distances(source: Path, matrix: Output, *, measure: str):
    warnings.warn("close to the identity")
    print("so far", flush=True)
    {what}

job = SimpleNamespace(input={{"source": "gone.npz"}}, output={{"matrix": "d.npz"}}, threads=1, log=[{log!r}],
                      params={{"spec": {{"measure": "chi2"}}, "code": "0"}})
run_script(distances if {replaced} else load_script("distances"), job)
"""


@pytest.mark.parametrize(
    ("what", "reason", "on_terminal"),
    [
        ("", "gone.npz: there is no such file", True),
        ("raise RuntimeError('a bug\\nof two lines')", "RuntimeError: a bug of two lines", False),
        ("raise MemoryError('12 GiB')", "MemoryError: 12 GiB", False),
    ],
    ids=["a user's mistake", "a bug", "memory"],
)
def test_the_log_of_a_failed_job_ends_with_a_reason(what: str, reason: str, on_terminal: bool, tmp_path: Path) -> None:
    source = JOB.format(what=what or "pass", replaced=bool(what), log="log")
    (tmp_path / "job.py").write_text(source, encoding="utf-8")
    if what:
        (tmp_path / "gone.npz").touch()
    done = subprocess.run([sys.executable, "job.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert (f"mklearn, distances: {reason}" in done.stderr) == on_terminal
    assert "Traceback" not in done.stderr
    lines = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith(f"{sys.executable} ")
    assert lines[0].endswith(".py --source gone.npz --matrix d.npz --measure '\"chi2\"'")
    assert f"s] error: {reason}" in lines[-1]
    assert ("so far" in lines) == bool(what)
    assert any("close to the identity" in line for line in lines) == bool(what)
    assert any("Traceback" in line for line in lines) == (not on_terminal), "a bug's alone"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device on this system")
def test_a_log_on_a_full_disk_is_a_sentence_on_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(JOB.format(what="pass", replaced=True, log="/dev/full"), encoding="utf-8")
    done = subprocess.run([sys.executable, "job.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "mklearn, distances: /dev/full: can't be written: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
