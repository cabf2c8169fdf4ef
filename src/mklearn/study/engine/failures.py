"""List the fits and models of a study that failed or are missing, with the reason and the log of each."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from mklearn.errors import DataError
from mklearn.study.artefacts import read_table
from mklearn.study.engine.workflow_files import DEFAULT_STUDY, study_file
from mklearn.study.evaluation.score_table import COLUMNS
from mklearn.study.jobs import Jobs
from mklearn.study.plan.plan import plan_study
from mklearn.study.reading import read_study
from mklearn.study.report.wording import plural

SAME_AGAIN = ("inaccurate", "not_applicable")
"""Statuses that another run of the same fit would have again."""


class Failure(NamedTuple):
    """A status of a fit at one training size other than "ok", or a missing file."""

    path: str
    """The file to make again."""
    status: str
    text: str
    """Its line in the list; empty if the file was not made yet."""


def failures_of(jobs: Jobs) -> Iterator[Failure]:
    """Yield the fits without a value in some split, in the order of the plan, and missing files."""
    try:
        table, _ = read_table(jobs.path("evaluate"))
    except DataError:  # the next run makes it
        table = pd.DataFrame(columns=list(COLUMNS))
    split = ["dataset", "protocol", "method", "repeat", "fold"]
    # a split with a value did not fail, though the method may have none of some metric
    has_value = table["status"].eq("ok").groupby([table[name] for name in split]).transform("any").astype(bool)
    failed = table[~has_value].drop_duplicates([*split, "status"])
    by_fit = dict(iter(failed.groupby(split[:3])))
    for key, fit in zip(jobs.keys("fit"), jobs.plan.fits.values(), strict=True):
        path, log = jobs.path("fit", **key), jobs.log("fit", **key)
        name, reported = f"{fit.method_id} on {fit.dataset.id}", False
        for setting in fit.spec.settings:
            its_rows = by_fit.get((fit.spec.dataset, setting.protocol, fit.spec.method.id), failed[:0])
            for status, rows in its_rows.groupby("status", sort=False):
                reported |= status == "missing"  # its message names the log
                where = "" if status == "missing" else f" in {plural(len(rows), 'split')}, see {log}"
                reasons = "; ".join(rows["message"].unique()[:3])
                yield Failure(
                    path, str(status), f"{name}, {setting.protocol}: {str(status).replace('_', ' ')}{where}: {reasons}"
                )
        if not reported and not os.path.exists(path):
            yield _missing(f"{name}, {fit.protocol_id}", path, log)
    if jobs.plan.final is not None and not os.path.exists(path := jobs.path("model")):
        yield _missing("model", path, jobs.log("model"))


def _missing(name: str, path: str, log: str) -> Failure:
    reason = reason_in(log)
    return Failure(path, "missing", f"{name}: missing: {reason}" if reason else "")


def reason_in(log: str) -> str:
    """Return why a job failed, by the last line of its log, and the log; empty without a log."""
    try:
        lines = Path(log).read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    last = next(filter(str.strip, reversed(lines)), "")
    reason = last.partition("] error: ")[2][:300].removesuffix(".") or "its job was killed or interrupted"
    return f"{reason}, see {log}" if last else f"its script ended before its function began, see above ({log} is empty)"


def how_to_list(source: str) -> str:
    """Return the command that lists what failed in a study."""
    return "`mklearn failed" + ("`" if source == DEFAULT_STUDY else f" {shlex.quote(source)}`")


def report(studies: Iterable[str | None]) -> str:
    """Return the list of failures of each study.

    Studies are named as in :func:`mklearn.study.engine.workflow_files.study_file`.
    """
    return "\n\n".join(_report(_open(study)) for study in studies)


def files_to_run_again(studies: Iterable[str | None]) -> list[str]:
    """Return the files of fits that may end otherwise when they run again, for ``snakemake --forcerun``."""
    failures = (failure for study in studies for failure in failures_of(_open(study)))
    return list(dict.fromkeys(failure.path for failure in failures if failure.status not in SAME_AGAIN))


def _open(study: str | None) -> Jobs:
    path = study_file(study)
    return Jobs(plan_study(read_study(path)), str(path))


def _report(jobs: Jobs) -> str:
    heading = f"{jobs.source} (study {jobs.plan.study.study}, {len(jobs.plan.fits)} fits)"
    failures = list(failures_of(jobs))
    if not failures:
        return f"{heading}: nothing failed."
    lines = [f"  {failure.text}" for failure in failures if failure.text]
    if unmade := len(failures) - len(lines):
        lines.append(f"  {plural(unmade, 'file was', 'files were')} not made yet")
    again = "`mklearn failed --run` makes them again, unless they are inaccurate or not applicable."
    return "\n".join([f"{heading}:", *lines, again])
