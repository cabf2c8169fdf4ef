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
from mklearn.study.stages.targets import Targets
from mklearn.study.steps.log import output_in
from mklearn.study.steps.rows import COLUMNS, blank, fit_of
from mklearn.study.steps.runner import call


def report_failed_run(targets: Targets, workflow: Any) -> None:
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
    for number, path in enumerate(targets.all_of("fit_scores")):
        if path in unfinished or not os.path.exists(path):
            failed = failed_job(unfinished[path]) if path in unfinished else None
            missing[number] = _reason(failed) if failed else "it was not run"
    asked = [name for name in ("scores", "summary", "run_record", "report") if targets.path(name) in unfinished]
    if asked and len(missing) < len(targets.plan.fits):
        for name in asked:
            workflow.persistence.started(
                unfinished[targets.path(name)]
            )  # and not finished: the next run makes it again
        _print(_write_tables(targets, asked, missing))
    listed = how_to_list(targets.source)
    _print(
        f"Next: {listed} lists what failed. After correcting the cause, the same command or {listed[:-1]} --run` "
        "runs what is missing."
    )


def _reason(job: Any) -> str:
    return reason_in(job.log[0]) or "its job wrote no log"


def _print(*lines: str) -> None:
    print("", *(f"mklearn: {line}" for line in lines), sep="\n", file=sys.stderr, flush=True)


def _write_tables(targets: Targets, asked: Sequence[str], missing: dict[int, str]) -> str:
    """Write those tables, and the page, that the run was asked for; return their answer, or why there is none."""
    jobs = {name: targets.job(name) for name in ("scores", "summary", "run_record", "report")}
    inputs, specs = ({name: getattr(job, of) for name, job in jobs.items()} for of in ("inputs", "spec"))
    samples = dict(zip(targets.samples(), specs["report"]["datasets"], strict=True))
    samples = {path: dataset for path, dataset in samples.items() if os.path.exists(path)}
    specs["report"] |= {"fits": _without(missing, specs["report"]["fits"]), "datasets": [*samples.values()]}
    models = _without(missing, inputs["report"]["models"])
    inputs["report"] |= {"models": models, "samples": [*samples], "importances": []}
    inputs["scores"]["predicted"] = _without(missing, inputs["scores"]["predicted"])
    log = Path(jobs["report"].log).with_name("failed_run.log")
    log.parent.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory() as folder, output_in(log):
            for number, message in missing.items():
                path = inputs["scores"]["fits"][number] = os.path.join(folder, f"{number}.parquet")
                write_table(path, _missing_rows(targets, number, message), {})
            for name in asked:
                call(name, inputs[name], jobs[name].outputs, specs[name])
    except Exception as error:
        with log.open("a", encoding="utf-8") as stream:
            traceback.print_exception(error, file=stream)
        return f"the tables could not be written ({type(error).__name__}: {error}; log: {log})"
    without = f"without {len(missing)} of {len(targets.plan.fits)} fits"
    if "report" not in asked:
        return f"the tables in {Path(targets.path('scores')).parent} are {without}"
    return f"the answer {without}:\n{answer_of(targets.path('report'))}"


def _missing_rows(targets: Targets, number: int, message: str) -> pd.DataFrame:
    """Return a row without values for each training size of a fit."""
    fit = list(targets.plan.fits.values())[number]
    rows = [blank(fit_of(fit.spec, setting), 0, 0, 0, 0) for setting in fit.settings]
    return pd.DataFrame(rows, columns=list(COLUMNS)).assign(status="missing", message=message).astype(COLUMNS)


def _without(missing: Collection[int], values: list[Any]) -> list[Any]:
    return [value for number, value in enumerate(values) if number not in missing]
