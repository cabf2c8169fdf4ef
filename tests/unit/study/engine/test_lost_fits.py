"""Why a job left no result, as far as its log and a cluster's scheduler say; and which runs lose nothing."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from mklearn.study.engine import lost_fits
from mklearn.study.engine.causes import cause_of
from mklearn.study.engine.lost_fits import _lost_fits, _page_waits, report_lost_fits
from mklearn.study.engine.session import failures

COMMAND = "python -m mklearn step fit --spec '{}'\n"
SLURM = "SLURM-job '815' failed, SLURM status is: '{}'. Reason: Unknown."


@pytest.mark.parametrize(
    ("log", "message", "status", "text"),
    [
        (f"{COMMAND}[    1.0 s] split 2 of 5\n[    9.1 s] error: its process was killed by signal 11 (SIGSEGV)\n",
         "", "lost", "its process was killed by signal 11 (SIGSEGV)"),
        (f"{COMMAND}Traceback\n  ...\nE: a bug\nof two lines\n[    1.0 s] error: E: a bug of two lines\n", "", "lost",
         "E: a bug of two lines"),
        (f"{COMMAND}[    1.0 s] error: memory ran out: 12.0 GiB\n", "", "out_of_memory", "memory ran out: 12.0 GiB"),
        (f"{COMMAND}[    1.0 s] m: split 2 of 5\n", "", "lost",
         "its job was killed; the last line of its log: m: split 2 of 5"),
        (COMMAND, "", "lost", "its job was killed"),
        (None, "", "lost", "its job ended before it wrote a log"),
        (None, SLURM.format("CANCELLED"), "lost", "SLURM job 815 ended as CANCELLED"),
        (COMMAND, SLURM.format("OUT_OF_MEMORY"), "out_of_memory", "SLURM job 815 ended as OUT_OF_MEMORY"),
        (f"{COMMAND}[    1.0 s] m: split 2 of 5\n", SLURM.format("TIMEOUT"), "time_limit",
         "SLURM job 815 ended as TIMEOUT; the last line of its log: m: split 2 of 5"),
    ],
)  # fmt: skip
def test_why(log: str | None, message: str, status: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    if log is not None:
        path.write_text(log, encoding="utf-8")
    cause = cause_of(str(path), message, [], time.time())
    assert (cause.status, cause.text, cause.log) == (status, text, str(path) if log else "")


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
    (tmp_path / "815.log").write_text(f"Building DAG of jobs...\n{text}\n", encoding="utf-8")
    killed = "its process was killed by signal 9 (SIGKILL)"
    for line, words in (
        ("", ""),
        (f"[ 1.0 s] error: {killed}\n", f"; {killed}"),
        ("[ 1.0 s] error: a bug\n", "; a bug"),
    ):
        (tmp_path / "job.log").write_text(COMMAND + line, encoding="utf-8")
        cause = cause_of(str(tmp_path / "job.log"), SLURM.format("FAILED"), [str(tmp_path / "815.log")], time.time())
        assert cause.text == f"SLURM job 815 ended as FAILED{words}"
        assert cause.status == ("lost" if "bug" in line else status)


def test_a_log_of_an_earlier_run_says_nothing_of_this(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_text(f"{COMMAND}[ 1.0 s] error: long ago\n", encoding="utf-8")
    os.utime(path, (1.6e9, 1.6e9))
    cause = cause_of(str(path), SLURM.format("CANCELLED"), [], time.time())
    assert (cause.text, cause.log) == ("SLURM job 815 ended as CANCELLED", "")


def test_an_interrupted_run_reports_nothing_as_lost(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing: Any = None
    workflow: Any = SimpleNamespace(logger_manager=SimpleNamespace(get_log_handlers=list))
    monkeypatch.setattr(failures, "interrupted", True)
    report_lost_fits(nothing, workflow)
    assert capsys.readouterr().err.strip().startswith("mklearn: the run ended early: the tables were not written.")


class Job(NamedTuple):
    """What is asked of a job of Snakemake."""

    jobid: int
    name: str
    wildcards: tuple[str, ...]
    log: tuple[str, ...]
    output: tuple[str, ...]

    @property
    def rule(self) -> Any:
        return self


@pytest.mark.parametrize(
    ("step", "asked", "waits"),
    [("final_model", True, True), ("final_model", False, False), ("report", True, False)],
)
def test_a_model_that_fails_does_not_take_the_page_with_it(step: str, asked: bool, waits: bool) -> None:
    report = SimpleNamespace(input=lambda name: [f"{name}.csv"] if asked else [])
    targets: Any = SimpleNamespace(job=lambda stage: report)
    workflow = SimpleNamespace(scheduler=SimpleNamespace(failed={Job(1, step, (), (), ())}))
    assert _page_waits(targets, workflow) == waits


@pytest.mark.parametrize("waits", [True, False])
def test_the_page_that_waited_is_written_though_every_fit_has_a_result(
    waits: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, found in {"end_display": None, "silence_the_engine": None, "_lost_fits": [], "_page_waits": waits,
                        "empty_fits": [], "_write_tables": "the answer\n\n"}.items():  # fmt: skip
        monkeypatch.setattr(lost_fits, name, lambda *_, found=found: found)
    targets: Any = SimpleNamespace(plan=SimpleNamespace(fits=["one"]), path=str, source="study.yaml")
    made, failed = Job(1, "scores", (), (), ("scores",)), Job(2, "final_model", (), (), ())
    workflow = SimpleNamespace(dag=SimpleNamespace(jobs=[made, failed]), scheduler=SimpleNamespace(failed={failed}))
    report_lost_fits(targets, workflow)
    said = capsys.readouterr().err
    assert "mklearn: the run failed:" in said
    assert ("the answer" in said) == waits


def test_a_step_before_a_fit_that_failed_is_named(tmp_path: Path) -> None:
    log = tmp_path / "learn.log"
    log.write_text(f"{COMMAND}[ 1.0 s] error: too small\n", encoding="utf-8")
    learn = Job(1, "learn", ("digits-01", "words-02"), (str(log),), ("x.npz",))
    fit = Job(2, "fit", (), (), ("s", "m"))
    dag = SimpleNamespace(jobs=[learn, fit], dependencies={fit: [learn], learn: []})
    workflow = SimpleNamespace(dag=dag, scheduler=SimpleNamespace(failed={learn}))
    plan = SimpleNamespace(fits={("digits", "p", "m"): SimpleNamespace(settings=[], spec=None)})
    targets: Any = SimpleNamespace(plan=plan, all_of=lambda artefact: ["s" if artefact == "fit_scores" else "m"])
    (lost,) = _lost_fits(targets, workflow)
    assert lost.reason == "step learn (digits-01 words-02) before it failed: too small"
    assert lost.log == str(log)
