"""List the fits and models of a study that failed or are missing, with the reason and the log of each."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from mklearn.errors import DataError
from mklearn.study.artefacts import read_table
from mklearn.study.config.reading import read_study
from mklearn.study.engine.workflow_files import DEFAULT_STUDY, study_file
from mklearn.study.plan.plan import plan_study
from mklearn.study.stages.targets import Targets
from mklearn.study.steps.rows import COLUMNS

SAME_AGAIN = ("inaccurate", "not_applicable")
"""Statuses that another run of the same fit would have again."""


@dataclass(frozen=True)
class Failure:
    """A status of a fit at one training size other than "ok", or a missing file."""

    name: str
    status: str
    reason: str
    """Empty if the file was not made yet."""
    log: str
    path: str
    """The file to make again."""
    n_splits: int = 0
    """How many have the status; 0 for missing files."""


def failures_of(targets: Targets) -> Iterator[Failure]:
    """Yield the fits without a value in some split, in the order of the plan, and missing files."""
    try:
        table, _ = read_table(targets.path("scores"))
    except DataError:  # the next run makes it
        table = pd.DataFrame(columns=list(COLUMNS))
    split = ["dataset", "protocol", "method", "repeat", "fold"]
    # a split with a value did not fail, though the method may have none of some metric
    has_value = table["status"].eq("ok").groupby([table[name] for name in split]).transform("any").astype(bool)
    failed = table[~has_value].drop_duplicates([*split, "status"])
    by_fit = dict(iter(failed.groupby(split[:3])))
    for job in targets.jobs("fit"):
        planned, path = targets.plan.fits[job.key], job.path("fit_scores")
        name, reported = f"{planned.method_id} on {planned.dataset.id}", False
        for key in ((planned.spec.dataset, each.protocol, planned.spec.method.id) for each in planned.settings):
            for status, rows in by_fit.get(key, failed[:0]).groupby("status", sort=False):
                reported |= status == "missing"  # its message names the log
                log, n_splits = ("", 0) if status == "missing" else (job.log, len(rows))
                reasons = "; ".join(rows["message"].unique()[:3])
                yield Failure(f"{name}, {key[1]}", str(status), reasons, log, path, n_splits)
        if not reported and not os.path.exists(path):
            yield _missing(f"{name}, {planned.protocol_id}", path, job.log)
    for job in targets.jobs("final_model"):
        path = job.path("final_model")
        if not os.path.exists(path):
            yield _missing(job.stage.name, path, job.log)


def _missing(name: str, path: str, log: str) -> Failure:
    return Failure(name, "missing", reason_in(log), log, path)


def reason_in(log: str) -> str:
    """Return why a job failed, by the last line of its log; empty without a log."""
    try:
        lines = Path(log).read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    last = next(filter(str.strip, reversed(lines)), "")
    return last.partition("] error: ")[2][:300] or "its job was killed or interrupted"


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


def _open(study: str | None) -> Targets:
    path = study_file(study)
    return Targets(plan_study(read_study(path)), str(path))


def _report(targets: Targets) -> str:
    heading = f"{targets.source} (study {targets.plan.study.study}, {len(targets.plan.fits)} fits)"
    failures = list(failures_of(targets))
    if not failures:
        return f"{heading}: nothing failed."
    lines = []
    for failure in (failure for failure in failures if failure.reason or failure.n_splits):
        often = f" in {failure.n_splits} splits" if failure.n_splits else ""
        log = f" ({failure.log})" if failure.log else ""
        lines.append(f"  {failure.name}: {failure.status.replace('_', ' ')}{often}: {failure.reason}{log}")
    waiting = len(failures) - len(lines)
    lines += [f"  {waiting} files were not made yet"] * bool(waiting)
    again = "`mklearn failed --run` makes them again, unless they are inaccurate or not applicable."
    return "\n".join([f"{heading}:", *lines, again])
