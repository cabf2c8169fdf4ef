"""End a run in which jobs failed (``onerror`` in the Snakefile): say why, and write the tables of the fits that exist.

Snakemake's rules for the tables need every fit, so that one failed job would leave no table at all.
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from mklearn.study.engine.failures import how_to_list, reason_in
from mklearn.study.engine.session import answer_of, end_display
from mklearn.study.engine.workflow_files import load_script
from mklearn.study.evaluation.fit_files import write_predictions
from mklearn.study.evaluation.fit_records import SPLIT
from mklearn.study.evaluation.outputs import SplitRecord
from mklearn.study.jobs import OUTPUTS, Jobs
from mklearn.study.log import output_in
from mklearn.study.script import call
from mklearn.study.specs.fit_spec import FitSpec

AFTER_FITS = ("evaluate", "tables", "page")


def report_failed_run(jobs: Jobs, workflow: Any) -> None:
    """Print a line for each failed job, the answer of the fits that exist, and what to do next.

    A run that was interrupted writes no tables, nor does one that was not asked for them.
    """
    end_display(workflow)
    dag, scheduler = workflow.dag, workflow.scheduler
    names = {job: " ".join([job.rule.name, *map(str, job.wildcards)]) for job in scheduler.failed}
    lines = sorted(f"{name} failed: {_reason(job)}" for job, name in names.items())
    if scheduler.running or scheduler.open_jobs:
        _print(*lines, "the run ended early: the tables were not written. The same command continues it.")
        return
    _print(*lines)

    @cache
    def failed_job(job: Any) -> Any:
        return job if job in scheduler.failed else next(filter(None, map(failed_job, dag.dependencies[job])), None)

    unfinished = {str(path): job for job in dag.needrun_jobs() for path in job.output}
    missing = {}
    for number, path in enumerate(jobs.all_of("fit", "predictions")):
        if path in unfinished or not os.path.exists(path):
            failed = failed_job(unfinished[path]) if path in unfinished else None
            missing[number] = _reason(failed) if failed else "it was not run"
    rules = [rule for rule in AFTER_FITS if jobs.path(rule) in unfinished]
    if rules and len(missing) < len(jobs.plan.fits):
        for rule in rules:  # started and not finished: the next run makes it again
            workflow.persistence.started(unfinished[jobs.path(rule)])
        _print(_write_tables(jobs, rules, missing))
    listed = how_to_list(jobs.source)
    _print(
        f"Next: {listed} lists what failed. After correcting the cause, the same command or {listed[:-1]} --run` "
        "runs what is missing."
    )


def _reason(job: Any) -> str:
    return reason_in(job.log[0]) or "its job wrote no log"


def _print(*lines: str) -> None:
    print("", *(f"mklearn: {line}" for line in lines), sep="\n", file=sys.stderr, flush=True)


def _write_tables(jobs: Jobs, rules: Sequence[str], missing: dict[int, str]) -> str:
    """Write those tables, and the page, that the run was asked for; return the answer, or why there is none."""
    log = Path("logs", "failed_run", f"{jobs.study}.log")
    log.parent.mkdir(parents=True, exist_ok=True)
    outputs = {rule: {name: jobs.path(rule, name) for name in OUTPUTS[rule]} for rule in AFTER_FITS}
    specs = {rule: jobs.specification(rule, None) for rule in AFTER_FITS}
    shown, fits = jobs.job("page").inputs, jobs.all_of("fit", "predictions")
    samples = dict(zip(shown["samples"], specs["page"]["datasets"], strict=True))
    samples = {path: dataset for path, dataset in samples.items() if os.path.exists(path)}
    specs["page"] |= {"fits": _without(missing, specs["page"]["fits"]), "datasets": [*samples.values()]}
    shown = {"models": _without(missing, list(shown["models"])), "samples": [*samples]}
    scores = outputs["evaluate"]
    inputs: dict[str, dict[str, Any]] = {
        "evaluate": {"fits": fits}, "tables": {**scores}, "page": {**scores, **outputs["tables"], **shown},
    }  # fmt: skip
    try:
        with tempfile.TemporaryDirectory() as folder, output_in(log):
            for number, message in missing.items():
                fits[number] = os.path.join(folder, f"{number}.npz")
                write_missing(fits[number], list(jobs.plan.fits.values())[number].spec, message)
            for rule in rules:
                arguments: dict[str, Any] = inputs[rule] | outputs[rule]
                call(load_script(rule), **arguments, spec=specs[rule])
    except Exception as error:
        with log.open("a", encoding="utf-8") as stream:
            traceback.print_exception(error, file=stream)
        return f"the tables could not be written ({type(error).__name__}: {error}; log: {log})"
    without = f"without {len(missing)} of {len(jobs.plan.fits)} fits"
    if "page" not in rules:
        return f"the tables in {Path(jobs.path('tables')).parent} are {without}"
    return f"the answer {without}:\n{answer_of(jobs.path('page'))}"


def write_missing(path: str, fit: FitSpec, message: str) -> None:
    """Write a fit that has a row without values for each training size."""
    facts = dict.fromkeys(SPLIT, 0) | {"status": "missing", "message": message}
    stored = {setting.protocol: [SplitRecord(facts)] for setting in fit.settings}
    write_predictions(path, fit, {}, stored, [], [])


def _without(missing: Collection[int], values: list[Any]) -> list[Any]:
    return [value for number, value in enumerate(values) if number not in missing]
