"""Failed and missing fits and models: the list of ``mklearn failed``, and the tables of a failed run.

Snakemake's rules for the tables need every fit, so that one failed job would prevent all tables. Therefore ``onerror``
in the Snakefile calls the scripts of the tables on the existing fits.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
import traceback
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from mklearn.atomic import read_parquet
from mklearn.errors import DataError
from mklearn.study.engine.session import answer_of, end_display
from mklearn.study.engine.workflow_files import DEFAULT_STUDY, load_script, study_file
from mklearn.study.evaluation.fit_files import write_predictions
from mklearn.study.evaluation.fit_records import SPLIT
from mklearn.study.evaluation.outputs import SplitRecord
from mklearn.study.evaluation.score_table import COLUMNS
from mklearn.study.jobs import OUTPUTS, Jobs
from mklearn.study.log import output_in
from mklearn.study.plan.plan import plan_study
from mklearn.study.reading import read_study
from mklearn.study.report.wording import plural
from mklearn.study.script import call
from mklearn.study.specs.fit_spec import FitSpec

NO_LOG = "its job wrote no log"
SAME_AGAIN = ("inaccurate", "not_applicable")
"""Statuses that a rerun of the same fit would not change."""


class Failure(NamedTuple):
    """A fit whose status at one training size is not "ok", or a missing file of a job."""

    path: str
    """Path of the file to make again."""
    status: str
    text: str
    """Line in the list of failures; empty if the file has not been made yet."""


def failures_of(jobs: Jobs) -> Iterator[Failure]:
    """Yield fits that lack a value in some split, and missing files: of fits and the model, then of other jobs."""
    try:
        table, _ = read_parquet(jobs.path("evaluate"))
    except DataError:  # the next run will make it
        table = pd.DataFrame(columns=list(COLUMNS))
    split = ["dataset", "protocol", "method", "repeat", "fold"]
    # a split with any value did not fail, even if the method lacks values for some metric
    has_value = table["status"].eq("ok").groupby([table[name] for name in split]).transform("any").astype(bool)
    failed = table[~has_value].drop_duplicates([*split, "status"])
    by_fit = dict(iter(failed.groupby(split[:3])))
    files = [("model", jobs.path("model"), jobs.log("model"))] if jobs.plan.final is not None else []
    for key, fit in zip(jobs.keys("fit"), jobs.plan.fits.values(), strict=True):
        paths, log = [jobs.path("fit", output, **key) for output in OUTPUTS["fit"]], jobs.log("fit", **key)
        path = next((each for each in paths if not os.path.exists(each)), paths[0])
        name, reported = f"{fit.spec.method.id} on {fit.spec.dataset}", False
        for setting in fit.spec.settings:
            its_rows = by_fit.get((fit.spec.dataset, setting.protocol, fit.spec.method.id), failed[:0])
            for status, rows in its_rows.groupby("status", sort=False):
                reported |= status == "missing"  # the message of a missing fit names the log
                where = "" if status == "missing" else f" in {plural(len(rows), 'split')}, see {log}"
                words = f"{name}, {setting.protocol}: {str(status).replace('_', ' ')}{where}"
                yield Failure(path, str(status), f"{words}: {'; '.join(rows['message'].unique()[:3])}")
        files += [] if reported else [(f"{name}, {fit.protocol.id}", path, log)]
    for name, path, log in files:
        if not os.path.exists(path):
            reason = reason_in(log)
            yield Failure(path, "missing", "" if reason == NO_LOG else f"{name}: missing: {reason}")
    others = [(rule, key) for rule in OUTPUTS if rule not in ("fit", "model") for key in jobs.keys(rule)]
    for rule, key in others:
        log = jobs.log(rule, **key)
        gone = [path for name in OUTPUTS[rule] if not os.path.exists(path := jobs.path(rule, name, **key))]
        if gone and os.path.exists(log):
            yield Failure(gone[0], "missing", f"{' '.join([rule, *key.values()])}: missing: {reason_in(log)}")


def reason_in(log: str) -> str:
    """Return why a job failed, from the last line of its log, and the path of the log."""
    try:
        lines = Path(log).read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return NO_LOG
    last = next(filter(str.strip, reversed(lines)), "")
    reason = last.partition("] error: ")[2][:300].removesuffix(".") or "its job was killed or interrupted"
    return f"{reason}, see {log}" if last else f"its job was killed, or its script could not start: {log} is empty"


def failures_in(studies: Iterable[str | None]) -> tuple[str, list[str]]:
    """Return the failures of each study as text, and the files of jobs whose rerun may succeed.

    Studies are named as in :func:`mklearn.study.engine.workflow_files.study_file`. The files are arguments for
    ``snakemake --forcerun``.
    """
    texts, files = [], dict[str, None]()
    for path in map(study_file, studies):
        jobs = Jobs(plan_study(read_study(path)), str(path))
        failures = list(failures_of(jobs))
        files |= dict.fromkeys(failure.path for failure in failures if failure.status not in SAME_AGAIN)
        lines = [f"  {failure.text}" for failure in failures if failure.text]
        if unmade := len(failures) - len(lines):
            lines.append(f"  {plural(unmade, 'file was', 'files were')} not made yet")
        again = f"`{_command(jobs)} --run` makes them again, unless they are inaccurate or not applicable."
        heading = f"{jobs.source} (study {jobs.plan.study.study}, {len(jobs.plan.fits)} fits):"
        texts.append("\n".join([heading, *lines, again]) if failures else f"{heading} nothing failed.")
    return "\n\n".join(texts), [*files]


# --- the end of a failed run

AFTER_FITS = ("evaluate", "tables", "page")


def report_failed_run(jobs: Jobs, workflow: Any) -> None:
    """Print a line for each failed job, the answer from the existing fits, and the next steps.

    Tables are not written for an interrupted run, or if they are not targets of the run.
    """
    end_display(workflow)
    dag, scheduler = workflow.dag, workflow.scheduler
    names = {job: " ".join([job.rule.name, *map(str, job.wildcards)]) for job in scheduler.failed}
    lines = sorted(f"{name} failed: {reason_in(job.log[0])}" for job, name in names.items())
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
            missing[number] = reason_in(failed.log[0]) if failed else "it was not run"
    rules = [rule for rule in AFTER_FITS if jobs.path(rule) in unfinished]
    if rules and len(missing) < len(jobs.plan.fits):
        for rule in rules:  # incomplete: the next run will make it again
            workflow.persistence.started(unfinished[jobs.path(rule)])
        _print(_write_tables(jobs, rules, missing))
    elif not missing and jobs.plan.final is not None and jobs.path("model") in unfinished:
        _print(f"the answer, without the final model, which was not made:\n{answer_of(jobs.path('page'))}")
    command = _command(jobs)
    _print(
        f"Next: `{command}` lists what failed. After correcting the cause, the same command or `{command} --run` "
        "runs what is missing."
    )


def _command(jobs: Jobs) -> str:
    return "mklearn failed" + ("" if jobs.source == DEFAULT_STUDY else f" {shlex.quote(jobs.source)}")


def _print(*lines: str) -> None:
    print("", *(f"mklearn: {line}" for line in lines), sep="\n", file=sys.stderr, flush=True)


def _write_tables(jobs: Jobs, rules: Sequence[str], missing: dict[int, str]) -> str:
    """Write the tables and the page if they are targets of the run; return the answer, or why there is none."""
    log = Path("logs", "failed_run", f"{jobs.study}.log")
    log.parent.mkdir(parents=True, exist_ok=True)
    outputs = {rule: {name: jobs.path(rule, name) for name in OUTPUTS[rule]} for rule in AFTER_FITS}
    specs = {rule: jobs.specification(rule, None) for rule in AFTER_FITS}
    shown, fits = jobs.job("page").inputs, jobs.all_of("fit", "predictions")
    inputs: dict[str, dict[str, Any]] = {
        "evaluate": {"fits": fits},
        "tables": outputs["evaluate"],
        "page": outputs["evaluate"]
        | outputs["tables"]
        | {"models": [path for number, path in enumerate(shown["models"]) if number not in missing]}
        | {name: list(filter(os.path.exists, shown[name])) for name in ("samples", "splits", "contributions")},
    }
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
    without = f" without {len(missing)} of {len(jobs.plan.fits)} fits" if missing else ""
    if "page" not in rules:
        return f"the tables are made{without}: {Path(jobs.path('tables')).parent}"
    if jobs.plan.final is not None and not os.path.exists(jobs.path("model")):
        without += ", and without the final model, which was not made"
    return f"the answer{without}:\n{answer_of(jobs.path('page'))}"


def write_missing(path: str, fit: FitSpec, message: str) -> None:
    """Write a fit without values, with one row for each training size."""
    facts = dict.fromkeys(SPLIT, 0) | {"status": "missing", "message": message}
    stored = {setting.protocol: [SplitRecord(facts)] for setting in fit.settings}
    write_predictions(path, fit, {}, stored, [], [])
