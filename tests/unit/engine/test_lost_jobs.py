"""Why a job left no result, as far as its log, Snakemake and a cluster's scheduler say; and which runs lose nothing."""

from __future__ import annotations

import logging
import os
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mklearn.engine.lost_causes import Listener, Said, cause_of
from mklearn.engine.lost_jobs import _interrupted, after_failure

COMMAND = "python -m mklearn step fit --spec '{}'\n"
KILLED = (
    'RuleException:\nCalledProcessError in file "Snakefile", line 11:\n'
    "Command 'set -euo pipefail;  python tmp.fit.py' died with <Signals.SIGKILL: 9>."
)
SLURM = "SLURM-job '815' failed, SLURM status is: '{}'. Reason: Unknown."


@pytest.mark.parametrize(
    ("log", "said", "status", "words"),
    [
        (f"{COMMAND}[    1.0 s] m: split 2 of 5\n", Said(KILLED), "lost",
         ["killed by signal 9 (SIGKILL)", "memory", "the last line of its log: m: split 2 of 5"]),
        (COMMAND, Said("returned non-zero exit status 139."), "lost", ["killed by signal 11 (SIGSEGV): a crash"]),
        (COMMAND, Said("returned non-zero exit status 1."), "lost", ["ended without a word"]),
        (None, Said(message=SLURM.format("CANCELLED")), "lost", ["SLURM job 815 ended as CANCELLED"]),
        (None, Said(message=SLURM.format("NODE_FAIL")), "lost", ["SLURM job 815 ended as NODE_FAIL"]),
        (COMMAND, Said(message=SLURM.format("OUT_OF_MEMORY")), "out_of_memory", ["ended as OUT_OF_MEMORY"]),
        (COMMAND, Said(message=SLURM.format("TIMEOUT")), "time_limit", ["SLURM job 815 ended as TIMEOUT"]),
        (None, Said(), "lost", ["ended before it wrote a log"]),
        (f"{COMMAND}[    1.0 s] error: f.npz: no such file.\n", Said("returned non-zero exit status 1."), "lost",
         ["f.npz: no such file"]),
        (f"{COMMAND}Traceback (most recent call last):\n  File \"x.py\", line 1\n    f()\nKeyError: 'a'\n\nDuring\n\n"
         'Traceback (most recent call last):\n  File "x.py", line 2\n    raise\nmodule.OwnError: a bug\nof two lines\n',
         Said("returned non-zero exit status 1."), "lost", ["an error in the program: module.OwnError: a bug"]),
        (f"{COMMAND}Traceback (most recent call last):\n  File \"x.py\"\nnumpy._core._exceptions._ArrayMemoryError: "
         "Unable to allocate\n", Said(), "out_of_memory", ["_ArrayMemoryError: Unable to allocate"]),
        (f"{COMMAND}Traceback (most recent call last):\n  File \"x.py\"\nMemoryError\n", Said(), "out_of_memory",
         ["MemoryError"]),
    ],
)  # fmt: skip
def test_why(log: str | None, said: Said, status: str, words: list[str], tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    if log is not None:
        path.write_text(log, encoding="utf-8")
    cause = cause_of(str(path), said, time.time())
    assert (cause.status, cause.log) == (status, str(path) if log else "")
    for word in words:
        assert word in cause.text
    assert "of two lines" not in cause.text


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("slurmstepd: error: Detected 1 oom_kill event in StepId=815.0. Some step tasks have been OOM Killed.",
         "out_of_memory"),
        ("slurmstepd: error: *** JOB 815 ON n1 CANCELLED AT 2026-11-21T09:14:08 DUE TO TIME LIMIT ***", "time_limit"),
        ("slurmstepd: error: *** JOB 815 ON n1 CANCELLED AT 2026-11-21T09:14:08 ***", "lost"),
    ],
)  # fmt: skip
def test_the_logs_of_a_cluster_are_read_where_accounting_says_nothing(text: str, status: str, tmp_path: Path) -> None:
    for name, content in (("job.log", COMMAND), ("815.log", f"Building DAG of jobs...\n{KILLED}\n{text}\n")):
        (tmp_path / name).write_text(content, encoding="utf-8")
    said = Said(message=SLURM.format("FAILED"), logs=(str(tmp_path / "job.log"), str(tmp_path / "815.log")))
    cause = cause_of(str(tmp_path / "job.log"), said, time.time())
    assert cause.status == status
    assert "killed by signal 9" in cause.text


def test_a_log_of_an_earlier_run_says_nothing_of_this(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_text(f"{COMMAND}[ 1.0 s] error: long ago\n", encoding="utf-8")
    os.utime(path, (1.6e9, 1.6e9))
    cause = cause_of(str(path), Said(message=SLURM.format("CANCELLED")), time.time())
    assert cause.text == "SLURM job 815 ended as CANCELLED"
    assert cause.log == ""


def test_what_is_said_of_two_jobs_at_once_is_not_mixed_up() -> None:
    """Snakemake says why a job ended, and then which: in one thread for each job."""
    logger, listener = logging.Logger("snakemake-like"), Listener()
    logger.addHandler(listener)
    both = threading.Barrier(2, timeout=20)

    def end(jobid: int, why: str) -> None:
        logger.error(why)
        both.wait()
        extra = {"event": SimpleNamespace(name="JOB_ERROR"), "jobid": jobid, "rule_msg": None, "log": ["x.log", None]}
        logger.error("Error in rule fit", extra=extra)

    threads = [threading.Thread(target=end, args=(number, f"cause {number}")) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert listener.jobs == {number: Said(f"cause {number}", "", ("x.log",)) for number in (1, 2)}


def scheduler(**state: Any) -> SimpleNamespace:
    ended: dict[str, Any] = {"_user_kill": None, "_executor_error": None, "running": set(), "keepgoing": True,
                             "open_jobs": [], "failed": set()}  # fmt: skip
    return SimpleNamespace(**ended | state)


@pytest.mark.parametrize(
    ("state", "interrupted"),
    [
        ({}, False),
        ({"_user_kill": "graceful"}, True),
        ({"running": {"fit"}}, True),
        ({"open_jobs": ["fit"]}, True),
        ({"open_jobs": ["fit"], "keepgoing": False}, False),
        ({"running": {"fit"}, "_executor_error": OSError("sbatch")}, False),
    ],
)
def test_interrupted_runs(state: dict[str, Any], interrupted: bool) -> None:
    assert _interrupted(scheduler(**state)) is interrupted


def test_nothing_is_done_in_the_jobs_of_a_cluster_and_little_after_an_interrupt(
    capsys: pytest.CaptureFixture[str],
) -> None:
    nothing: Any = None
    after_failure(nothing, SimpleNamespace(is_main_process=False))
    assert capsys.readouterr().err == ""
    after_failure(nothing, SimpleNamespace(is_main_process=True, scheduler=scheduler(running={"fit"})))
    assert capsys.readouterr().err.strip().startswith("mklearn: interrupted")


def test_snakemake_has_what_is_asked_of_it() -> None:
    """Names that are no part of its documented interface."""
    import inspect

    from snakemake.persistence import PersistenceBase
    from snakemake.scheduling.job_scheduler import JobScheduler
    from snakemake_interface_logger_plugins.common import LogEvent

    source = inspect.getsource(JobScheduler)
    for name in ("self._user_kill", "self._executor_error", "self.running", "self.failed", "self.keepgoing"):
        assert name in source
    assert hasattr(JobScheduler, "open_jobs")
    assert LogEvent.JOB_ERROR.name == "JOB_ERROR"
    assert hasattr(PersistenceBase, "cleanup_metadata")
