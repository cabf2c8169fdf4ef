"""What tests of steps share: a small study that has run."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace

import pebble.pool.process
import pytest
from tests.unit.study.steps.small_study import SmallStudy, run_small_study

from mklearn.study import supervisor
from mklearn.study.report import page, rendering


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> SmallStudy:
    """The small study with its tables. Shared: tests that change it make a copy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)  # whether these files reach the disk is of no interest
        return run_small_study(tmp_path_factory.mktemp("small-study"))


def without_content(patch: pytest.MonkeyPatch) -> None:
    """Let figures be files without content: drawing them takes most of a report's time."""
    patch.setattr(rendering.vl_convert, "vegalite_to_svg", lambda *_, **__: '<svg width="2" height="1"/>')
    patch.setattr(rendering.vl_convert, "svg_to_png", lambda *_, **__: b"png")
    patch.setattr(page, "vega_script", lambda: "")


@pytest.fixture
def plain_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures without content: a report is written dozens of times."""
    without_content(monkeypatch)


@pytest.fixture
def time_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that a worker process makes when its time limit is to be over, however slow the machine is."""
    path = tmp_path / "time-over"

    def now() -> float:
        return 1.0 + path.exists() * time.time()  # it stands still before

    monkeypatch.setattr(supervisor, "time", SimpleNamespace(monotonic=now))
    monkeypatch.setattr(pebble.pool.process, "time", SimpleNamespace(time=now, sleep=time.sleep))
    return path
