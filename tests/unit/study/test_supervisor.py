"""Scripts of jobs, run by values or a command, and their worker processes: every way to end is a status or sentence."""

import faulthandler
import itertools
import os
import runpy
import signal
import subprocess
import sys
import textwrap
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from mklearn.atomic import read_npz, read_parquet
from mklearn.errors import ConfigError, SolverFailed
from mklearn.study import log, supervisor
from mklearn.study.datasets import dataset_spec
from mklearn.study.engine.workflow_files import load_script
from mklearn.study.provenance import SCRIPTS
from mklearn.study.script import call
from mklearn.study.supervisor import SplitAborted, supervised

forks = pytest.mark.skipif(sys.platform != "linux", reason="there is no worker process on this system")


@pytest.fixture(autouse=True)
def no_process_is_left() -> Iterator[None]:
    before = set(psutil.Process().children())
    yield
    assert set(psutil.Process().children()) == before


def collected(items: Iterator[Any], minutes: float | None = None) -> tuple[list[Any], Exception | None]:
    got = []
    try:
        for item in supervised(items, minutes=minutes):
            got.append(item)  # those before an error count
    except Exception as error:
        return got, error
    return got, None


def ending(act: Callable[[], Any]) -> Iterator[Any]:
    yield np.arange(300_000.0)
    act()
    yield "not reached"


def die_of(number: int) -> None:
    faulthandler.disable()  # pytest's own would write where the worker was
    os.kill(os.getpid(), number)


def fail(error: Exception) -> None:
    raise error


@pytest.mark.parametrize("platform", [pytest.param("linux", marks=forks), "darwin"])
def test_items_come_as_they_are_made(monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    monkeypatch.setattr(supervisor.sys, "platform", platform)

    def items() -> Iterator[Any]:
        yield os.getpid()
        yield RuntimeError("an item like others")

    got, error = collected(items(), minutes=5)
    assert error is None
    assert (got[0] == os.getpid()) == (platform == "darwin")
    assert str(got[1]) == "an item like others"


@forks
@pytest.mark.parametrize(
    ("act", "status", "words"),
    [
        (lambda: fail(MemoryError("12.0 GiB")), "out_of_memory", "memory ran out: 12.0 GiB"),
        (lambda: die_of(signal.SIGKILL), "lost", "for want of memory, or from outside"),
        (lambda: die_of(signal.SIGSEGV), "lost", "Segmentation fault"),
        (lambda: os._exit(3), "lost", "exit code 3"),
        (lambda: deque(itertools.repeat(0), maxlen=0), "time_limit", "time limit of 0.05 minutes"),
    ],
    ids=["memory", "killed", "crash", "exit", "endless loop of compiled code"],
)
def test_an_end_is_a_status_and_items_before_it_stay(act: Callable[[], Any], status: str, words: str) -> None:
    got, error = collected(ending(act), minutes=0.05)
    assert len(got) == 1
    assert isinstance(error, SplitAborted)
    assert error.status == status
    assert words in str(error)


@forks
def test_an_error_keeps_its_type_and_time_is_checked_without_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    got, error = collected(ending(lambda: fail(SolverFailed("no solution"))))
    assert len(got) == 1
    assert isinstance(error, SolverFailed)
    assert "in fail" in str(error.__cause__), "where it came from"
    monkeypatch.setattr(supervisor.sys, "platform", "darwin")
    got, error = collected(ending(lambda: None), minutes=1e-9)
    assert (len(got), error.status if isinstance(error, SplitAborted) else error) == (1, "time_limit")


SCRIPT = """
    import os, time
    from mklearn.study.supervisor import supervised

    def items():
        yield os.getpid()
        time.sleep(600)

    for item in supervised(items(), minutes=None):
        print(item, flush=True)
"""


@pytest.mark.full
@pytest.mark.parametrize(("sent", "to_group"), [(signal.SIGINT, True), (signal.SIGTERM, True), (signal.SIGKILL, False)])
@forks
def test_a_worker_ends_silently_with_its_parent(tmp_path: Path, sent: signal.Signals, to_group: bool) -> None:
    """Ctrl-C and SIGTERM reach both: the interruption must not be taken for a death of the worker."""
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT), encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert process.stdout is not None
    worker = psutil.Process(int(process.stdout.readline()))
    began = time.monotonic()
    (os.killpg if to_group else os.kill)(process.pid, sent)
    output, _ = process.communicate()
    assert output == ""
    assert process.returncode not in (0, None)
    psutil.wait_procs([worker], timeout=60)
    assert not worker.is_running() or worker.status() == psutil.STATUS_ZOMBIE
    assert time.monotonic() - began < 30


# --- scripts

SPLIT = {"kind": "k_fold", "implementation": "m:f", "parameters": {}, "seed": 0}


@pytest.mark.parametrize("path", sorted(SCRIPTS.glob("*.py")), ids=lambda path: path.stem)
def test_scripts_are_short(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 80
    assert "from __future__" not in text, "Snakemake writes its own lines before it"
    monkeypatch.setattr(log, "start", lambda: None)
    monkeypatch.setattr(sys, "argv", [str(path), "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(path), run_name="__main__")
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: {path.stem} [-h]")


def test_one_file_may_stand_for_a_list_and_empty_lists_for_nothing(tmp_path: Path) -> None:
    outputs = {"samples": str(tmp_path / "s.npz"), "labels": [str(tmp_path / "l.parquet")]}
    spec = dataset_spec({"name": "digits", "per_class": 3}) | {"dataset": "digits"}
    call(load_script("read"), files=[], **outputs, spec=spec)
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
