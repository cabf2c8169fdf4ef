"""The fits of a study that did not end well, or are not there: which, how often, why, and where their logs are."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mklearn.atomic import read_parquet
from mklearn.engine.lost_jobs import name_of
from mklearn.errors import DataError
from mklearn.study.expansion.plan import plan_study
from mklearn.study.reading import read_study
from mklearn.study.targets import Targets

AGAIN = ("time_limit", "out_of_memory", "failed", "lost")
"""Statuses that may be others when the fit runs once more."""
MISSING = "missing"


@dataclass(frozen=True)
class Failure:
    """One status of one fit, at one training size.

    Attributes
    ----------
    name : str
        Method, data set, protocol; of a fit that is there, as its rows name the protocol at this training size.
    status, reason : str
    splits : (int, int)
        How many have this status, and of how many; of a fit that is not there both are 0 if its splits are not drawn.
    scores, log : str
        The fit's file of scores, and its log.
    """

    name: str
    status: str
    reason: str
    splits: tuple[int, int]
    scores: str
    log: str


def failures_of(targets: Targets) -> list[Failure]:
    """Every fit that has no value for some reason, in the order of the plan; those that were never run too."""
    lost = _lost(targets.path("scores"))
    found: list[Failure] = []
    for key, scores in zip(targets.plan.fits, targets.all_scores(), strict=True):
        dataset, protocol, method = key
        log = targets.log("fit", dataset=dataset, protocol=protocol, method=method)
        name = functools.partial(name_of, targets, key)
        entry = lost.get(key)
        there = os.path.exists(scores)
        if entry is not None and (not there or os.stat(scores).st_mtime == entry["outdated"]):
            n = sum(map(len, entry["splits"]))
            found.append(Failure(name(), entry["status"], entry["reason"], (n, n), scores, entry["log"]))
        elif not there:
            found.append(Failure(name(), MISSING, "it has not been run yet", (0, 0), scores, ""))
        else:
            found += _rows(name, scores, log)
    return found


def report(studies: Iterable[str]) -> str:
    """What a person reads: of each study, the fits to run again and those that would end the same way."""
    return "\n\n".join(_report(study) for study in studies)


def files_to_run_again(studies: Iterable[str]) -> list[str]:
    """Score files of fits that may end otherwise when they run again: for Snakemake's ``--forcerun``."""
    found = (failure for study in studies for failure in failures_of(_open(study)) if failure.status in AGAIN)
    return list(dict.fromkeys(failure.scores for failure in found))


def _open(study: str) -> Targets:
    return Targets(plan_study(read_study(study)), study)


def _report(study: str) -> str:
    targets = _open(study)
    failures = failures_of(targets)
    heading = f"{study} (study {targets.plan.study.study}, {len(targets.plan.fits)} fits)"
    if not failures:
        return f"{heading}: nothing failed."
    parts = [heading]
    again = [failure for failure in failures if failure.status in AGAIN]
    same = [failure for failure in failures if failure.status not in (*AGAIN, MISSING)]
    missing = [failure for failure in failures if failure.status == MISSING]
    if again:
        parts += ["Failed; `make failed` runs them again:", *map(_entry, again)]
    if same:
        parts += ["Would end the same way again, unless the study or the code changes:", *map(_entry, same)]
    if missing:
        names = [failure.name for failure in missing]
        shown = "\n".join(f"  {name}" for name in names[:10]) + (f"\n  and {len(names) - 10} more" * (len(names) > 10))
        parts += ["Not run yet; the plain run makes them:", shown]
    return "\n".join(parts)


def _entry(failure: Failure) -> str:
    some, all_ = failure.splits
    often = f" in {some} of {all_} splits" if all_ else ""
    lines = [f"  {failure.name}: {failure.status.replace('_', ' ')}{often}"]
    lines += [f"    {failure.reason}"] * bool(failure.reason) + [f"    log: {failure.log}"] * bool(failure.log)
    return "\n".join(lines)


def _lost(table: str) -> dict[tuple[str, ...], dict[str, Any]]:
    """The lost fits that a study's score table names; none where it is not there, or is one of a whole run."""
    if not Path(table).is_file():
        return {}
    try:
        _, metadata = read_parquet(table)
    except DataError:  # the next run makes it anew
        return {}
    return {tuple(entry["key"]): entry for entry in metadata.get("spec", {}).get("lost", [])}


def _rows(name: Callable[..., str], scores: str, log: str) -> list[Failure]:
    """The statuses of a fit that is there, one entry each."""
    try:
        frame, _ = read_parquet(scores)
    except DataError as error:
        return [Failure(name(), "failed", str(error), (0, 0), scores, log)]
    splits = frame.drop_duplicates(["protocol", "repeat", "fold"])["protocol"].value_counts()
    found = []
    for (protocol, status), rows in frame[frame["status"].ne("ok")].groupby(["protocol", "status"], sort=False):
        reasons = [text for text in dict.fromkeys(rows["message"]) if text]
        more = f" (and {len(reasons) - 3} other reasons)" if len(reasons) > 3 else ""
        some = len(rows.drop_duplicates(["repeat", "fold"]))
        counted = some, int(splits[str(protocol)])
        found.append(Failure(name(protocol), str(status), "; ".join(reasons[:3]) + more, counted, scores, log))
    return found
