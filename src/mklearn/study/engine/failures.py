"""The fits of a study that failed or do not exist, and a model that failed: which, why, and where their logs are."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mklearn.errors import DataError
from mklearn.study.artefacts import read_table
from mklearn.study.config.reading import read_study
from mklearn.study.engine.causes import error_of
from mklearn.study.engine.workflow_files import DEFAULT_STUDY, study_file
from mklearn.study.plan.plan import plan_study
from mklearn.study.specs.table_specs import LostFit
from mklearn.study.stages.targets import Targets

AGAIN = ("time_limit", "out_of_memory", "failed", "lost")
"""Statuses that may be others when the fit runs once more."""
MISSING = "missing"
SHOWN = 10
"""Missing fits that are listed by name."""


@dataclass(frozen=True)
class Failure:
    """One status of one fit, at one training size; or a step after the fits that failed."""

    name: str
    status: str
    reason: str
    scores: str
    """The fit's file of scores, or what the step makes."""
    log: str = ""
    splits: tuple[int, int] = (0, 0)
    """How many have this status, and of how many; zeros where splits are not known."""


def failures_of(targets: Targets) -> list[Failure]:
    """Return every fit without a value, in the order of the plan; those that were never run too; then the model."""
    lost = _lost(targets.path("scores"))
    found: list[Failure] = []
    for key, scores in zip(targets.plan.fits, targets.all_of("fit_scores"), strict=True):
        entry, exists = lost.get(key), os.path.exists(scores)
        if entry is not None and (not exists or os.stat(scores).st_mtime == entry.outdated):
            n = sum(map(len, entry.splits))
            name = name_of(targets, key)
            found.append(Failure(name, entry.status, entry.reason, scores, entry.log, (n, n)))
        elif not exists:
            found.append(Failure(name_of(targets, key), MISSING, "it has not been run yet", scores))
        else:
            found += _failures_in(targets, key, scores)
    return [*found, *_without_model(targets)]


def _without_model(targets: Targets) -> Iterator[Failure]:
    """Yield the failure of the final model, where the last run ended in one."""
    for made in targets.all_of("final_model"):
        job = targets.job("final_model")
        reason = "" if os.path.exists(made) else error_of(job.log)
        if reason:
            yield Failure("step final_model", "failed", reason, made, job.log)


def empty_fits(targets: Targets) -> list[Failure]:
    """Return the first failure of each fit that was run and has no value in any split."""
    found = []
    for key, scores in zip(targets.plan.fits, targets.all_of("fit_scores"), strict=True):
        failures = _failures_in(targets, key, scores) if os.path.exists(scores) else []
        if failures and not _has_values(scores):
            found.append(failures[0])
    return found


def _has_values(scores: str) -> bool:
    try:
        return bool(read_table(scores)[0]["status"].eq("ok").any())
    except DataError:
        return False


def name_of(targets: Targets, key: tuple[str, str, str], setting: str = "") -> str:
    """Return a fit's name for people: method, data set, protocol; or the protocol at one of its training sizes."""
    fit = targets.plan.fits[key]
    names = [entry.protocol for entry in fit.settings]
    return f"{fit.method_id} on {fit.dataset.id}, {setting or (names[0] if len(names) == 1 else fit.protocol_id)}"


def how_to_list(source: str) -> str:
    """Return the command that lists what failed in a study."""
    return "`mklearn failed" + ("`" if source == DEFAULT_STUDY else f" {shlex.quote(source)}`")


def _lost(table: str) -> dict[tuple[str, str, str], LostFit]:
    """Return the lost fits that a study's score table names; none where it is not there, or complete."""
    try:
        _, metadata = read_table(table) if Path(table).is_file() else (None, {})
    except DataError:  # the next run makes it anew
        return {}
    entries = map(LostFit.model_validate, metadata.get("spec", {}).get("lost", []))
    return {entry.key: entry for entry in entries}


def _failures_in(targets: Targets, key: tuple[str, str, str], scores: str) -> list[Failure]:
    """Return the statuses in the score rows of a fit."""
    log = targets.job("fit", **dict(zip(("dataset", "protocol", "method"), key, strict=True))).log
    try:
        frame, _ = read_table(scores)
    except DataError as error:
        return [Failure(name_of(targets, key), "failed", str(error), scores, log)]
    split = ["protocol", "repeat", "fold"]
    n_splits = frame.drop_duplicates(split)["protocol"].value_counts()
    # a split with a value did not fail, though the method may have none of some metric
    has_value = frame["status"].eq("ok").groupby([frame[name] for name in split]).transform("any")
    found = []
    for (setting, status), rows in frame[~has_value].groupby(["protocol", "status"], sort=False):
        reasons = [text for text in dict.fromkeys(rows["message"]) if text]
        more = f" (and {len(reasons) - 3} other reasons)" if len(reasons) > 3 else ""
        splits = len(rows.drop_duplicates(["repeat", "fold"])), int(n_splits[str(setting)])
        name, reason = name_of(targets, key, str(setting)), "; ".join(reasons[:3]) + more
        found.append(Failure(name, str(status), reason, scores, log, splits))
    return found


def report(studies: Iterable[str | None]) -> str:
    """Return a text for people: of each study, the fits to run again and those that would end the same way.

    Studies are named as in :func:`mklearn.study.engine.workflow_files.study_file`.
    """
    return "\n\n".join(_report(_open(study)) for study in studies)


def files_to_run_again(studies: Iterable[str | None]) -> list[str]:
    """Return the scores of fits that may end otherwise when they run again: for ``snakemake --forcerun``."""
    found = (failure for study in studies for failure in failures_of(_open(study)) if failure.status in AGAIN)
    return list(dict.fromkeys(failure.scores for failure in found))


def _open(study: str | None) -> Targets:
    path = study_file(study)
    return Targets(plan_study(read_study(path)), str(path))


def _report(targets: Targets) -> str:
    failures = failures_of(targets)
    heading = f"{targets.source} (study {targets.plan.study.study}, {len(targets.plan.fits)} fits)"
    if not failures:
        return f"{heading}: nothing failed."
    again = [_entry(failure) for failure in failures if failure.status in AGAIN]
    same = [_entry(failure) for failure in failures if failure.status not in (*AGAIN, MISSING)]
    missing = [f"  {failure.name}" for failure in failures if failure.status == MISSING]
    rest = [f"  and {len(missing) - SHOWN} more"] if len(missing) > SHOWN else []
    parts: list[tuple[str, Sequence[str]]] = [
        ("Failed; `mklearn failed --run` runs them again:", again),
        ("Would end the same way again, unless the study or the code changes:", same),
        ("Not run yet; the plain run makes them:", missing[:SHOWN] + rest),
    ]
    return "\n".join([heading, *(line for title, lines in parts if lines for line in (title, *lines))])


def _entry(failure: Failure) -> str:
    some, all_ = failure.splits
    often = f" in {some} of {all_} splits" if all_ else ""
    lines = [f"  {failure.name}: {failure.status.replace('_', ' ')}{often}"]
    lines += [f"    {failure.reason}"] * bool(failure.reason) + [f"    log: {failure.log}"] * bool(failure.log)
    return "\n".join(lines)
