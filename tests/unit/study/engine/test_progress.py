"""The display of progress: what runs, by the names of a study, and how long the rest will take."""

import io
import logging
import time
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from mklearn.study.engine.progress import LogHandler


def test_jobs_are_shown_by_name_with_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    settings: Any = SimpleNamespace(stdout=False)
    handler, written, now = LogHandler(settings, None), io.StringIO(), [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    handler.live = SimpleNamespace(console=Console(file=written, width=80), start=lambda: None, stop=lambda: None)

    def emit(event: str = "", message: str = "", level: int = logging.INFO, **fields: Any) -> None:
        record = logging.makeLogRecord({"msg": message, "levelno": level, **fields})
        record.event = SimpleNamespace(name=event) if event else None
        handler.emit(record)

    emit(message="Singularity containers: ignored")
    emit("RUN_INFO", stats={"fit": 5, "page": 1, "all": 1, "total": 7})
    for number, name in enumerate(("average-0123456789abcdef", "kfd-0123456789abcdef")):
        wildcards = {"dataset": "digits-0123456789abcdef", "protocol": "random", "method": name}
        emit("JOB_INFO", jobid=number, rule_name="fit", wildcards=wildcards)
    now[0] = 4.0
    emit("JOB_FINISHED", job_id=0)
    emit("JOB_FINISHED", job_id=9)  # of the rule `all`
    emit(message="CalledProcessError in file x", level=logging.ERROR)
    now[0] = 3.0
    handler.live.console.print(handler._display())
    emit("JOB_ERROR", jobid=1)
    emit(message="the disk is slow", level=logging.WARNING)
    handler.close()
    text = written.getvalue()
    assert "1 of 6 jobs" in text
    assert "about 0:00:09 left" in text, "4 fits and a page of 4 s each, less 3 s of one, two at a time"
    assert "  fit digits random kfd\n" in text
    assert "average" not in text
    assert "failed: fit digits random kfd\n" in text
    assert "the disk is slow" in text
    assert "ingularity" not in text
    assert "CalledProcessError" not in text
