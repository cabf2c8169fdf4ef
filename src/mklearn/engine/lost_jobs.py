"""After a run in which jobs died: the table of the fits that there are, with a row and a reason for each that is lost.

Snakemake's own rules for the table need every fit, so one job that was killed would leave no table at all. The run's
end (``onerror`` in the Snakefile) therefore calls the same steps with the fits that there are. Snakemake is told
nothing of it: to the next run the table is out of date, which makes what is missing and writes the table again.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from mklearn.engine.lost_causes import Cause, cause_of, one_line, said_of

if TYPE_CHECKING:
    from mklearn.workflow import Targets

SHOWN = 4
"""Reasons that the terminal lists; the report has all of them."""


@dataclass(frozen=True)
class Lost:
    """A fit without a result, by its place in the plan and its key."""

    position: int
    key: tuple[str, str, str]
    cause: Cause
    outdated: float | None = field(default=None)
    """Modification time of a result that is there, but of something else than the study is now."""


def after_failure(targets: Targets, workflow: Any) -> None:
    """Say which fits a failed run has lost and why, and write the study's tables and report without them.

    Nothing is written where the run did not want the table, no fit is lost or none is there, or another run is active.
    A run that was interrupted (Ctrl-C, SIGTERM) lost nothing: what it did not do is not reported as failed. In the jobs
    of a cluster, which are runs of their own, nothing is done at all.
    """
    if not workflow.is_main_process:
        return
    if _interrupted(workflow.scheduler):
        _say("interrupted: the tables were not written. The same command goes on where this run stopped.")
        return
    lost = _lost_fits(targets, workflow)
    if not lost:
        return
    _remove_unfinished(workflow.scheduler.failed)
    n_fits = len(targets.plan.fits)
    there = n_fits - len(lost)
    lines = [f"{len(lost)} of {n_fits} fits {'has' if len(lost) == 1 else 'have'} no result:"]
    lines += _reasons(targets, lost)
    wanted = targets.path("{study}/scores.parquet") in _jobs_by_output(workflow)
    if there and wanted:
        lines.append(_written(targets, workflow, lost))
    again = "Mend the cause if it is one of yours; then the same command runs what is missing"
    lines.append(again + (", and so does `make failed`." if there and wanted else "."))
    _say("\n  ".join(lines))


def _written(targets: Targets, workflow: Any, lost: Sequence[Lost]) -> str:
    """Write the tables; a sentence that says where they are, or why there are none."""
    from mklearn.engine.run_lock import others_run

    if not workflow.execution_settings.lock and others_run(Path.cwd()):
        return "Another run is active in this folder: the tables were left as they are."
    log = Path(targets.log("{study}/lost.log"))
    page = targets.path("{study}/report/index.html")
    rest = f"the other {len(targets.plan.fits) - len(lost)}, with a row for each of these"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8", buffering=1) as stream:
        try:
            _write_tables(targets, workflow, lost, stream)
        except Exception as error:
            traceback.print_exc(file=stream)
            return f"The tables of the others could not be written ({type(error).__name__}: {error}); log: {log}"
        if _write_page(targets, lost, page, stream):
            return f"The report of {rest}: {page}"
    return f"The tables of {rest}, are in {targets.path('{study}')}; the page could not be written; log: {log}"


# --- what is lost


def _interrupted(scheduler: Any) -> bool:
    """Whether the run was ended from outside. After Ctrl-C jobs are still counted as running, or ready to run."""
    if getattr(scheduler, "_user_kill", None):
        return True
    if getattr(scheduler, "_executor_error", None):
        return False
    return bool(scheduler.running) or (scheduler.keepgoing and bool(scheduler.open_jobs))


def _jobs_by_output(workflow: Any) -> dict[str, Any]:
    return {str(path): job for job in workflow.dag.jobs for path in job.output}


def _lost_fits(targets: Targets, workflow: Any) -> list[Lost]:
    """Fits that this run wanted and that have no result, or one of an earlier state of the study."""
    dag, jobs, lost = workflow.dag, _jobs_by_output(workflow), []
    causes: dict[Any, Cause] = {}
    for position, (key, scores, model) in enumerate(
        zip(targets.plan.fits, targets.all_scores(), targets.all_models(), strict=True)
    ):
        job = jobs.get(scores)
        if job is None:  # this run was not asked for it
            if not Path(scores).exists() and targets.path("{study}/scores.parquet") in jobs:
                lost.append(Lost(position, key, Cause("lost", "it was not run")))
            continue
        whole = Path(scores).exists() and Path(model).exists()
        if whole and (not dag.needrun(job) or dag.finished(job)):
            continue
        cause = _cause(job, workflow, causes)
        lost.append(Lost(position, key, cause, Path(scores).stat().st_mtime if whole else None))
    return lost


def _cause(job: Any, workflow: Any, known: dict[Any, Cause]) -> Cause:
    """Why a job has no result: its own failure, or that of a job before it."""
    if job in known:
        return known[job]
    failed = workflow.scheduler.failed
    if job in failed:
        known[job] = cause_of(str(job.log[0]) if job.log else "", said_of(job), _began(), job.rule.name)
        return known[job]
    before = next(iter(_failed_before(job, workflow)), None)
    if before is None:
        error = getattr(workflow.scheduler, "_executor_error", None)
        text = f"it was not run: {one_line(error)}" if error else "it was not run: the run ended before its turn"
        known[job] = Cause("lost", text)
    else:
        own = _cause(before, workflow, known)
        named = " ".join(str(value) for value in before.wildcards)
        step = f"{before.rule.name} ({named})" if named else before.rule.name
        known[job] = Cause("lost", f"step {step} before it failed: {own.text}", own.log)
    return known[job]


def _failed_before(job: Any, workflow: Any) -> Iterable[Any]:
    """Jobs that failed among those that a job needs, directly or not, the nearest first."""
    seen, level = {job}, [job]
    while level:
        level = [other for one in level for other in workflow.dag.dependencies[one] if other not in seen]
        level = list(dict.fromkeys(level))
        seen.update(level)
        yield from (other for other in level if other in workflow.scheduler.failed)


def _remove_unfinished(failed: Iterable[Any]) -> None:
    """Temporary files that jobs of this run were writing when they were killed."""
    for job in failed:
        for path in map(Path, job.output):
            for left in path.parent.glob(f".{path.stem}.*.tmp{path.suffix}"):
                with suppress(OSError):
                    left.unlink()


def _began() -> float:
    """When this process started."""
    try:
        import psutil

        return float(psutil.Process().create_time())
    except (ImportError, OSError):
        return time.time() - time.process_time()


# --- the terminal


def _say(text: str) -> None:
    print(f"\nmklearn: {text}\n", file=sys.stderr, flush=True)


def _reasons(targets: Targets, lost: Sequence[Lost]) -> list[str]:
    """A line for each reason, with the fits that it cost."""
    by_reason: dict[Cause, list[str]] = {}
    for entry in lost:
        by_reason.setdefault(entry.cause, []).append(name_of(targets, entry.key))
    lines = []
    for cause, names in list(by_reason.items())[:SHOWN]:
        who = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
        lines.append(f"{who}: {cause.text}" + (f" ({cause.log})" if cause.log else ""))
    if len(by_reason) > SHOWN:
        lines.append(f"... and {len(by_reason) - SHOWN} more reasons")
    return lines


def name_of(targets: Targets, key: tuple[str, str, str], setting: str = "") -> str:
    """A fit as people call it: method, data set, protocol; or the protocol at one of its training sizes."""
    fit = targets.plan.fits[key]
    names = [entry.protocol for entry in fit.settings]
    return f"{fit.method_id} on {fit.dataset.id}, {setting or (names[0] if len(names) == 1 else fit.protocol_id)}"


# --- the table


def _tables(targets: Targets) -> tuple[str, str, str]:
    names = ("scores.parquet", "summary.parquet", "run.json")
    scores, summary, record = (targets.path(f"{{study}}/{name}") for name in names)
    return scores, summary, record


def _without(lost: Sequence[Lost], things: Sequence[Any]) -> list[Any]:
    """Of things in the order of the plan, those whose fits are there."""
    missing = {entry.position for entry in lost}
    return [thing for position, thing in enumerate(things) if position not in missing]


def _write_tables(targets: Targets, workflow: Any, lost: Sequence[Lost], log: TextIO) -> None:
    """Scores, summary and run record, by the steps that make them otherwise."""
    from mklearn.steps.log import start
    from mklearn.steps.runner import call

    scores, summary, record = _tables(targets)
    fits = _without(lost, targets.all_scores())
    start(log)
    try:
        entries = [_entry(targets, entry) for entry in lost]
        call("scores", {"fits": fits}, {"table": scores}, targets.scores_spec() | {"lost": entries})
        _out_of_date(workflow, (scores, summary, record, targets.path("{study}/report/index.html")), fits)
        call("summary", {"scores": scores}, {"table": summary}, targets.summary_spec())
        call("run_record", {"scores": scores}, {"record": record}, targets.run_spec())
    finally:
        for name in ("mklearn", "py.warnings"):
            logging.getLogger(name).handlers.clear()
        logging.captureWarnings(False)


def _write_page(targets: Targets, lost: Sequence[Lost], page: str, log: TextIO) -> bool:
    """The report, in a process of its own: it draws pictures and must not take the run with it. Whether it went well.

    Without what descriptors see of the images: the report draws that with the code that may just have failed.
    """
    scores, summary, record = _tables(targets)
    spec = targets.report_spec()
    samples = [path for path in targets.all_samples() if Path(path).exists()]
    read = zip(spec["datasets"], targets.all_samples(), strict=True)
    spec |= {
        "fits": _without(lost, spec["fits"]),
        "datasets": [entry | {"descriptors": []} for entry, path in read if path in samples],
    }
    models = _without(lost, targets.all_models())
    words = [sys.executable, "-m", "mklearn", "step", "report", "--out", f"page={page}"]
    for key, paths in (("scores", [scores]), ("summary", [summary]), ("record", [record]), ("models", models),
                       ("samples", samples)):  # fmt: skip
        words += [word for path in paths for word in ("--in", f"{key}={path}")]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "spec.json"
        file.write_text(json.dumps(spec), encoding="utf-8")
        log.flush()
        try:
            done = subprocess.run([*words, "--spec", str(file)], stdout=log, stderr=log, check=False)
        except OSError as error:
            print(f"the page could not be made: {error}", file=log)
            return False
    return done.returncode == 0


def _out_of_date(workflow: Any, paths: Sequence[str], fits: Sequence[str]) -> None:
    """Let the next run write the tables again, also where all that it has to do for it is to take back a change.

    The score table gets to be older than its inputs, and the record by which Snakemake would find their content
    unchanged is taken away.
    """
    jobs = _jobs_by_output(workflow)
    for path in paths:
        for output in jobs[path].output if path in jobs else []:
            workflow.persistence.cleanup_metadata(output)
    before = min(os.stat(path).st_mtime for path in fits) - 1
    os.utime(paths[0], (before, before))


def _entry(targets: Targets, lost: Lost) -> dict[str, Any]:
    """A lost fit as the step ``scores`` takes it, and as ``python -m mklearn failed`` reads it."""
    from mklearn.steps.rows import fit_of

    spec = targets.plan.fits[lost.key].spec
    return {
        "position": lost.position,
        "key": list(lost.key),
        "fits": [fit_of(spec, setting) for setting in spec.settings],
        "splits": _splits(targets, lost.key),
        "status": lost.cause.status,
        "message": lost.cause.text + (f"; log: {lost.cause.log}" if lost.cause.log else ""),
        "reason": lost.cause.text,
        "log": lost.cause.log,
        "outdated": lost.outdated,
    }


def _splits(targets: Targets, key: tuple[str, str, str]) -> list[list[list[int]]]:
    """At each training size: repeat, fold and sizes of each split, as far as they were drawn."""
    from mklearn.atomic import read_parquet
    from mklearn.datasets.splits import Splits
    from mklearn.errors import UserError

    dataset, protocol, _ = key
    fit = targets.plan.fits[key]
    sizes = [setting.train_size for setting in fit.settings]
    try:
        labels, _ = read_parquet(targets.path(f"cache/data/{fit.dataset.original}.labels.parquet"))
        drawn = Splits.load(targets.path(f"cache/splits/{dataset}/{protocol}.parquet"), labels["id"].to_numpy(str))
        return [
            [[split.repeat, split.fold, len(split.train), len(split.test)] for split in drawn.of_size(size)]
            for size in sizes
        ]
    except UserError:
        return [[] for _ in sizes]
