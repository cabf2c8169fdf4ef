"""After a run in which jobs failed: tables and report of the fits that exist, with a row and a reason for each other.

Snakemake's rules for the tables need every fit, so one job that was killed would leave no table at all. The end of a
failed run (``onerror`` in the Snakefile) therefore calls the same steps with the fits that exist, and marks the tables
as incomplete: the next run makes what is missing and writes them again.
"""

from __future__ import annotations

import functools
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from mklearn.errors import UserError
from mklearn.study.artefacts import read_table
from mklearn.study.data.pairs import load_splits
from mklearn.study.data.splits import numbered_test_parts
from mklearn.study.engine.causes import Cause, cause_of, shortened
from mklearn.study.engine.failures import Failure, empty_fits, how_to_list, name_of
from mklearn.study.engine.session import answer_of, end_display, failures, silence_the_engine
from mklearn.study.specs.table_specs import LostFit
from mklearn.study.stages.targets import Targets
from mklearn.study.steps.log import output_in
from mklearn.study.steps.rows import fit_of
from mklearn.study.steps.runner import call
from mklearn.study.supervisor import supervised

REASONS_SHOWN = 8
"""Reasons that the terminal lists; the report has all of them."""


# --- the end of a failed run


def report_lost_fits(targets: Targets, workflow: Any) -> None:
    """Print which jobs of a failed run failed and why, the answer of the fits that have a result, and what to do next.

    A run that was interrupted (Ctrl-C, SIGTERM) has lost nothing: what it did not do is not reported as failed. No
    tables are written where the run was not asked for them, or no fit has a result.
    """
    end_display(workflow)
    if failures.interrupted:
        _print("the run ended early: the tables were not written. The same command goes on where this run stopped.")
        return
    silence_the_engine()
    lost = _lost_fits(targets, workflow)
    _remove_unfinished(workflow.scheduler.failed)
    n_fits, jobs = len(targets.plan.fits), _jobs_by_output(workflow)
    written = (lost or _page_waits(targets, workflow)) and len(lost) < n_fits and targets.path("scores") in jobs
    answer = _write_tables(targets, workflow, lost) if written else ""
    empty = [failure for failure in empty_fits(targets) if failure.scores in jobs] if len(lost) < n_fits else []
    reasons = [*_reasons(targets, lost), *_other_failures(workflow, lost), *map(_sentence, empty)]
    _print("\n  ".join([_heading(len(lost) + len(empty), n_fits), *_shown(reasons)]) + f"\n\n{answer}{_next(targets)}")


def _page_waits(targets: Targets, workflow: Any) -> bool:
    """Tell whether the page was not written since the final model failed, whose importances it shows."""
    failed = {job.rule.name for job in workflow.scheduler.failed}
    return bool(targets.job("report").input("importances")) and "final_model" in failed


def _heading(n: int, n_fits: int) -> str:
    return f"{n} of {n_fits} fits {'has' if n == 1 else 'have'} no result:" if n else "the run failed:"


def _next(targets: Targets) -> str:
    listed = how_to_list(targets.source)
    return (
        f"Next: {listed} lists what failed. After correcting the cause, the same command or {listed[:-1]} --run` "
        "runs what is missing."
    )


def _print(text: str) -> None:
    print(f"\nmklearn: {text}\n", file=sys.stderr, flush=True)


def _jobs_by_output(workflow: Any) -> dict[str, Any]:
    return {str(path): job for job in workflow.dag.jobs for path in job.output}


def _lost_fits(targets: Targets, workflow: Any) -> list[LostFit]:
    """Return the fits that this run was to make and that have no result, or one of an earlier state of the study."""
    dag, jobs = workflow.dag, _jobs_by_output(workflow)
    lost: list[LostFit] = []

    @functools.cache
    def failed_job(job: Any) -> Any:
        """Return the job if it failed, else the first failed one among those that it needs; or None."""
        if job in workflow.scheduler.failed:
            return job
        return next(filter(None, map(failed_job, dag.dependencies[job])), None)

    def cause(fit: Any) -> Cause:
        job = failed_job(fit)
        if job is None:
            if any(Path(f"{path}.damaged").is_file() and not Path(path).exists() for path in fit.output):
                return Cause("lost", "its result was damaged and is set aside; the next run makes it again")
            return Cause("lost", "it was not run: the run ended before its turn")
        own = _cause(job)
        return own if job is fit else Cause("lost", f"{_step(job)} before it failed: {own.text}", own.log)

    planned = zip(
        targets.plan.fits.items(), targets.all_of("fit_scores"), targets.all_of("fit_model"), strict=True
    )  # fmt: skip
    for position, ((key, fit), scores, model) in enumerate(planned):
        job, whole = jobs.get(scores), Path(scores).exists() and Path(model).exists()
        if job is None or (whole and (not dag.needrun(job) or dag.finished(job))):
            continue
        why = cause(job)
        lost.append(
            LostFit(
                position=position,
                key=key,
                fits=[fit_of(fit.spec, setting) for setting in fit.settings],
                splits=[],  # read in the process that writes the tables
                status=why.status,
                message=why.text + (f"; log: {why.log}" if why.log else ""),
                reason=why.text,
                log=why.log,
                outdated=os.stat(scores).st_mtime if whole else None,
            )
        )
    return lost


def _cause(job: Any) -> Cause:
    """Return why a job of this run failed."""
    log = str(next(iter(job.log), ""))
    message, logs = failures.reports.get(job.jobid, ("", []))
    return cause_of(log, message, [path for path in logs if path != log], failures.began)


def _step(job: Any) -> str:
    return f"step {job.rule.name}" + (f" ({' '.join(map(str, job.wildcards))})" if job.wildcards else "")


def _remove_unfinished(failed: Sequence[Any]) -> None:
    """Remove the temporary files that jobs of this run were writing when they were killed."""
    for path in (Path(file) for job in failed for file in job.output):
        for left in path.parent.glob(f".{path.stem}.*.tmp{path.suffix}"):
            with suppress(OSError):
                left.unlink()


def _reasons(targets: Targets, lost: Sequence[LostFit]) -> list[str]:
    """Return a line for each reason, with the fits that it cost."""
    names: dict[str, list[str]] = {}
    for entry in lost:
        reason = entry.reason + (f" ({entry.log})" if entry.log else "")
        names.setdefault(reason, []).append(name_of(targets, entry.key))
    return [
        f"{first}{f' and {len(others)} more' if others else ''}: {reason}" for reason, (first, *others) in names.items()
    ]


def _other_failures(workflow: Any, lost: Sequence[LostFit]) -> list[str]:
    """Return a line for each failed job that cost no fit: a table, the page, the model."""
    logs, found = {entry.log for entry in lost}, []
    for job in workflow.scheduler.failed:
        own = _cause(job)
        if not own.log or own.log not in logs:
            found.append(f"{_step(job)}: {own.text}" + (f" ({own.log})" if own.log else ""))
    return sorted(found)


def _sentence(failure: Failure) -> str:
    return f"{failure.name}: {failure.status.replace('_', ' ')}: {shortened(failure.reason)} ({failure.log})"


def _shown(lines: list[str]) -> list[str]:
    more = len(lines) - REASONS_SHOWN
    return lines[:REASONS_SHOWN] + ([f"... and {more} more reasons"] if more > 0 else [])


# --- the tables


def _write_tables(targets: Targets, workflow: Any, lost: Sequence[LostFit]) -> str:
    """Write scores, summary, run record and page of the other fits; return their answer, or what went wrong."""
    names = ("scores", "predictions", "summary", "run_record", "report")
    scores, predictions, summary, record, page = map(targets.path, names)
    missing = {entry.position for entry in lost}

    def without(values: Sequence[Any]) -> list[Any]:
        return [value for position, value in enumerate(values) if position not in missing]

    spec = targets.job("report").spec
    datasets = dict(zip(targets.samples(), spec["datasets"], strict=True))
    samples = [path for path in datasets if os.path.exists(path)]
    spec |= {"fits": without(spec["fits"]), "datasets": [datasets[path] for path in samples]}
    models = without(targets.all_of("fit_model"))
    shown = {
        "scores": scores,
        "predictions": predictions,
        "summary": summary,
        "record": record,
        "models": models,
        "samples": samples,
    }
    log = Path(targets.job("report").log).with_name("lost.log")
    log.parent.mkdir(parents=True, exist_ok=True)

    def write() -> Iterator[str]:
        with output_in(log):
            entries = [entry.model_copy(update={"splits": _splits(targets, entry.key)}).as_dict() for entry in lost]
            table = targets.job("scores").spec | {"lost": entries}
            made = {
                "fits": without(targets.all_of("fit_scores")),
                "predicted": without(targets.all_of("fit_predictions")),
            }
            call("scores", made, {"table": scores, "predictions": predictions}, table)
            both = {"scores": scores, "predictions": predictions}
            call("summary", both, {"table": summary}, targets.job("summary").spec)
            call("run_record", {"scores": scores}, {"record": record}, targets.job("run_record").spec)
            yield "the tables"
            call("report", shown, {"page": page}, spec)
            yield "the report"

    jobs = _jobs_by_output(workflow)
    for path in (scores, summary, record, page):
        if path in jobs:
            workflow.persistence.started(jobs[path])  # and not finished: the next run makes it again
    made, problem = [], ""
    try:
        for part in supervised(write, minutes=None):  # figures and compiled code must not take the run with them
            made.append(part)
    except Exception as error:
        problem = f" ({type(error).__name__}: {error}; log: {log})"
        with log.open("a", encoding="utf-8") as stream:
            traceback.print_exception(error, file=stream)
    if len(made) == 2:
        return f"{answer_of(page)}\n\n"
    if made:
        return f"The tables are in {os.path.dirname(scores)}; the page could not be written{problem}\n\n"
    return f"The tables could not be written{problem}\n\n"


def _splits(targets: Targets, key: tuple[str, str, str]) -> list[list[tuple[int, ...]]]:
    """Return what each split's row is made from at each training size, as far as they were drawn.

    These are the arguments of :func:`mklearn.study.steps.rows.blank` after the fit.
    """
    dataset, protocol, _ = key
    fit = targets.plan.fits[key]
    sizes = [setting.train_size for setting in fit.settings]
    try:
        labels, _ = read_table(targets.path("labels", dataset=fit.dataset.original))
        drawn = load_splits(targets.path("splits", dataset=dataset, protocol=protocol), labels["id"].to_numpy(str))
    except UserError:
        return [[] for _ in sizes]
    parts = numbered_test_parts(drawn)
    return [
        [
            (split.repeat, split.fold, *split.sizes, parts[size, split.repeat, split.fold])
            for split in drawn.of_size(size)
        ]
        for size in sizes
    ]
