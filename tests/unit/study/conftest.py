"""Fixtures of studies: a small study that has run, data sets of a user, figures without content."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pebble.pool.process
import pytest
from tests.unit.study.small_study import STUDY, SmallStudy, run_study, working_in, write_pairs

from mklearn.__main__ import main
from mklearn.study import supervisor
from mklearn.study.report import charts, page


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> SmallStudy:
    """The small study with its tables. Shared: tests that change it make a copy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)  # whether these files reach the disk is of no interest
        folder = tmp_path_factory.mktemp("small-study")
        with working_in(folder):
            write_pairs()
        return run_study(folder, STUDY, last="tables")


@pytest.fixture
def plain_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are files without content: drawing them takes most of a report's time."""
    monkeypatch.setattr(charts.vl_convert, "vegalite_to_svg", lambda *_, **__: '<svg width="2" height="1"/>')
    monkeypatch.setattr(charts.vl_convert, "svg_to_png", lambda *_, **__: b"png")
    monkeypatch.setattr(page, "vega_script", lambda: "")


@pytest.fixture
def time_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that a worker process makes when its time limit is to be over, however slow the machine is."""
    path = tmp_path / "time-over"

    def now() -> float:
        return 1.0 + path.exists() * time.time()  # it stands still before

    monkeypatch.setattr(supervisor, "time", SimpleNamespace(monotonic=now))
    monkeypatch.setattr(pebble.pool.process, "time", SimpleNamespace(time=now, sleep=time.sleep))
    return path


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The test's folder, as the present one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def mklearn(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a command, which has to end with this code, and return what it prints: results, then messages."""

    def run(*words: object, code: int = 0) -> str:
        capsys.readouterr()
        assert main([*map(str, words)]) == code
        results, messages = capsys.readouterr()
        assert "\nmklearn: " not in f"\n{results}", "messages go to standard error"
        return results + messages

    return run


@pytest.fixture
def matrices(here: Path) -> dict[str, Any]:
    for name in "ab":
        np.savez(f"{name}.npz", matrix=np.ones((4, 4)) - np.eye(4), ids=np.array(list("wxyz")))
    pd.DataFrame({"id": list("wxyz"), "label": list("0011")}).to_csv("labels.csv", index=False)
    return {"kind": "precomputed", "matrices": {"a": "a.npz", "b": "b.npz"}, "labels": "labels.csv"}
