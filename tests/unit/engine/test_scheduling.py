"""The repair of Snakemake's scheduler: one timer at a time, and the method that it replaces is there to be replaced."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest
from snakemake.scheduling.job_scheduler import JobScheduler

from mklearn.engine.scheduling import coalesce_reevaluations

NAME = "_schedule_reevalutation"


def test_many_calls_wake_the_scheduler_once_and_it_can_be_woken_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert hasattr(JobScheduler, NAME), "Snakemake has renamed it: is the repair still needed?"
    monkeypatch.setattr(JobScheduler, NAME, getattr(JobScheduler, NAME))  # put back after the test
    coalesce_reevaluations()
    schedule = getattr(JobScheduler, NAME)
    scheduler = SimpleNamespace(_open_jobs=threading.Semaphore(0))
    for _ in range(2):
        for _ in range(20):
            schedule(scheduler, 0.05)
        assert scheduler._open_jobs.acquire(timeout=5)
        time.sleep(0.2)
        assert not scheduler._open_jobs.acquire(blocking=False)


def test_a_snakemake_without_the_method_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(JobScheduler, NAME)
    coalesce_reevaluations()
    assert not hasattr(JobScheduler, NAME)
