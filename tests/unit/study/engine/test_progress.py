"""The display of progress: what runs, by the names of a study, and how long the rest will take."""

from __future__ import annotations

import io
import logging
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from mklearn.study.engine.progress import LogHandler, time_left


def said(event: str = "", message: str = "", level: int = logging.INFO, **fields: Any) -> logging.LogRecord:
    record = logging.makeLogRecord({"msg": message, "levelno": level, **fields})
    record.event = SimpleNamespace(name=event) if event else None
    return record


def test_the_time_left_is_that_of_the_jobs_left() -> None:
    counts = {"read": 1, "fit": 6, "report": 1}
    assert time_left(counts, {}, [], 2) is None
    ended = {"read": [1.0], "fit": [4.0, 6.0]}
    rest = 4 * 5.0 + 11 / 3  # a report takes the mean of all
    assert time_left(counts, ended, [], 2) == pytest.approx(rest / 2)
    assert time_left(counts, ended, [("fit", 3.0), ("fit", 9.0)], 2) == pytest.approx((rest - 3 - 5) / 2)


def test_jobs_are_shown_by_name_and_the_engine_says_nothing() -> None:
    settings: Any = SimpleNamespace(stdout=False)
    handler, written = LogHandler(settings, None), io.StringIO()
    handler.live.console = Console(file=written, width=80)
    handler.emit(said(message="Singularity containers: ignored"))
    handler.emit(said("RUN_INFO", stats={"fit": 3, "all": 1, "total": 4}))
    for number, name in enumerate(("average-0123456789abcdef", "kfd-0123456789abcdef")):
        message = f"Fitting {name} on digits-0123456789abcdef, random"
        handler.emit(said("JOB_INFO", jobid=number, rule_name="fit", rule_msg=message))
    handler.emit(said("JOB_FINISHED", job_id=0))
    handler.emit(said(message="CalledProcessError in file x", level=logging.ERROR))
    handler.live.console.print(handler._display())
    handler.emit(said("JOB_ERROR", jobid=1))
    handler.emit(said(message="the disk is slow", level=logging.WARNING))
    handler.close()
    text = written.getvalue()
    assert "1 of 3 jobs" in text
    assert "about 0:00:00 left" in text
    assert "  Fitting kfd on digits, random\n" in text
    assert "average" not in text
    assert "failed: Fitting kfd on digits, random\n" in text
    assert "the disk is slow" in text
    assert "ingularity" not in text
    assert "CalledProcessError" not in text
