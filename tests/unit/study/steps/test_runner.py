"""Steps, run by name: files as a list or one, a user's mistakes as sentences, logs whose first line replays the job."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from mklearn.atomic import read_npz, read_parquet
from mklearn.errors import ConfigError
from mklearn.study.steps import log
from mklearn.study.steps.runner import call, load_step

DIGITS = {"dataset": "digits", "reader": "digits", "options": {}, "per_class": 3}


@pytest.fixture(autouse=True)
def quiet_afterwards():
    """``log.start`` gives the package's loggers a handler of their own; take it away again."""
    yield
    for name in ("mklearn", "py.warnings"):
        logging.getLogger(name).handlers.clear()
        logging.getLogger(name).propagate = True
    logging.captureWarnings(False)


def test_an_unknown_step_names_those_that_there_are() -> None:
    with pytest.raises(ConfigError, match=r"no step 'fitt'\. Steps: download, read, .*fit"):
        load_step("fitt")


def test_one_file_may_stand_for_a_list_and_empty_lists_for_nothing(tmp_path: Path) -> None:
    outputs = {"samples": str(tmp_path / "s.npz"), "labels": [str(tmp_path / "l.parquet")]}
    call("read", {"files": []}, outputs, DIGITS)
    assert len(read_npz(tmp_path / "s.npz")["y"]) == 30
    assert list(read_parquet(tmp_path / "l.parquet")[0].columns) == ["id", "y", "label"]


# --- logs


# --- progress and warnings


def test_warnings_go_to_the_log(tmp_path: Path) -> None:
    import warnings

    path = tmp_path / "log"
    with path.open("w") as stream, warnings.catch_warnings():
        warnings.simplefilter("always")
        log.start(stream)
        warnings.warn("kernel 'x' is close to the identity", stacklevel=1)
        log.logger.info("said")
    text = path.read_text()
    assert "close to the identity" in text
    assert "s] said" in text


JOB = """
import sys
from types import SimpleNamespace
from mklearn.contract.specs import DescriptorSpec
from mklearn.study.steps import runner

def describe(samples, features, *, spec: DescriptorSpec):
    print("so far", flush=True)
    {what}

if {replaced}:
    runner.load_step = lambda name: describe
spec = {{"kind": "table", "implementation": "", "parameters": {{"table": "x"}}}}
files = {{"input": {{"samples": "gone.npz"}}, "output": {{"features": "f.npz"}}}}
runner.run("describe", SimpleNamespace(**files, threads=1, log=["log"], params=SimpleNamespace(spec=spec)))
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
def test_the_last_line_of_a_failed_jobs_log_is_its_reason(
    what: str, reason: str, on_terminal: bool, tmp_path: Path
) -> None:
    source = JOB.format(what=what or "pass", replaced=bool(what))
    done = subprocess.run([sys.executable, "-c", source], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert (f"mklearn, step describe: {reason}" in done.stderr) == on_terminal
    assert "Traceback" not in done.stderr
    lines = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("python -m mklearn step describe")
    assert f"s] error: {reason}" in lines[-1]
    assert ("so far" in lines) == bool(what)
    assert any("Traceback" in line for line in lines) == (not on_terminal), "a bug's alone"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device on this system")
def test_a_log_on_a_full_disk_is_a_sentence_on_the_terminal(tmp_path: Path) -> None:
    source = f"""if True:
        from types import SimpleNamespace
        from mklearn.study.steps import runner
        output = {{"samples": "s.npz", "labels": "l.parquet"}}
        job = SimpleNamespace(input={{}}, output=output, threads=1, log=["/dev/full"],
                              params=SimpleNamespace(spec={DIGITS!r}))
        runner.run("read", job)
    """
    done = subprocess.run([sys.executable, "-c", source], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "mklearn, step read: /dev/full: can't be written: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
