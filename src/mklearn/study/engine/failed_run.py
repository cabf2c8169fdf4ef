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

import pandas as pd

from mklearn.study.artefacts import write_table
from mklearn.study.engine.failures import how_to_list, reason_in
from mklearn.study.engine.session import answer_of, end_display
from mklearn.study.engine.workflow_files import load_script
from mklearn.study.jobs import OUTPUTS, Jobs
from mklearn.study.log import output_in
from mklearn.study.script import call
from mklearn.study.steps.rows import COLUMNS, blank, fit_of


def report_failed_run(jobs: Jobs, workflow: Any) -> None:
    """Print a line for each failed job, the answer of the fits that exist, and what to do next.

    A run that was interrupted writes no tables, nor does one that was not asked for them.
    """
    end_display(workflow)
    dag, scheduler = workflow.dag, workflow.scheduler
    names = {job: " ".join([job.rule.name, *map(str, job.wildcards)]) for job in scheduler.failed}
    lines = sorted(f"step {name} failed: {_reason(job)}" for job, name in names.items())
    if scheduler.running or scheduler.open_jobs:
        _print(*lines, "the run ended early: the tables were not written. The same command continues it.")
        return
    _print(*lines)

    @cache
    def failed_job(job: Any) -> Any:
        return job if job in scheduler.failed else next(filter(None, map(failed_job, dag.dependencies[job])), None)

    unfinished = {str(path): job for job in dag.needrun_jobs() for path in job.output}
    missing = {}
    for number, path in enumerate(jobs.all_scores()):
        if path in unfinished or not os.path.exists(path):
            failed = failed_job(unfinished[path]) if path in unfinished else None
            missing[number] = _reason(failed) if failed else "it was not run"
    rules = [rule for rule in ("tables", "page") if jobs.path(rule) in unfinished]
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
    """Write the tables, and the page, if the run was asked for them; return the answer, or why there is none."""
    log = Path("logs", "failed_run", f"{jobs.study}.log")
    log.parent.mkdir(parents=True, exist_ok=True)
    outputs: dict[str, dict[str, Any]] = {
        rule: {name: jobs.path(rule, name) for name in OUTPUTS[rule]} for rule in rules
    }
    try:
        with tempfile.TemporaryDirectory() as folder, output_in(log):
            fits, predicted = jobs.all_scores(), _without(missing, jobs.all_predictions())
            for number, message in missing.items():
                fits[number] = os.path.join(folder, f"{number}.parquet")
                write_table(fits[number], _missing_rows(jobs, number, message), {})
            if "tables" in rules:
                spec = jobs.specification("tables", None)
                call(load_script("tables"), fits=fits, predicted=predicted, **outputs["tables"], spec=spec)
            if "page" in rules:
                _write_page(jobs, missing, outputs["page"])
    except Exception as error:
        with log.open("a", encoding="utf-8") as stream:
            traceback.print_exception(error, file=stream)
        return f"the tables could not be written ({type(error).__name__}: {error}; log: {log})"
    without = f"without {len(missing)} of {len(jobs.plan.fits)} fits"
    if "page" not in rules:
        return f"the tables in {Path(jobs.path('tables')).parent} are {without}"
    return f"the answer {without}:\n{answer_of(jobs.path('page'))}"


def _write_page(jobs: Jobs, missing: dict[int, str], outputs: dict[str, Any]) -> None:
    spec = jobs.specification("page", None)
    datasets = [pair for pair in zip(jobs.all_samples(), spec["datasets"], strict=True) if os.path.exists(pair[0])]
    spec |= {"fits": _without(missing, spec["fits"]), "datasets": [entry for _, entry in datasets]}
    tables: dict[str, Any] = {name: jobs.path("tables", name) for name in OUTPUTS["tables"]}
    models, samples = _without(missing, jobs.all_models()), [path for path, _ in datasets]
    call(load_script("page"), **tables, models=models, samples=samples, **outputs, spec=spec)


def _missing_rows(jobs: Jobs, number: int, message: str) -> pd.DataFrame:
    """Return a row without values for each training size of a fit."""
    fit = list(jobs.plan.fits.values())[number]
    rows = [blank(fit_of(fit.spec, setting), 0, 0, 0, 0) for setting in fit.settings]
    return pd.DataFrame(rows, columns=list(COLUMNS)).assign(status="missing", message=message).astype(COLUMNS)


def _without(missing: Collection[int], values: list[Any]) -> list[Any]:
    return [value for number, value in enumerate(values) if number not in missing]
