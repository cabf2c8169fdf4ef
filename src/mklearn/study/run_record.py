"""The record of a run: versions, machine, command, commit, seed, the whole study, and the cost of each rule."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mklearn.study.provenance import commit, machine

TITLES = {
    "read": "Read the data sets, resize images",
    "split": "Split",
    "learn": "Learn words, patches, axes",
    "describe": "Describe the samples",
    "distances": "Compare all pairs",
    "moments": "Gather moments",
    "fit": "Fit and predict",
    "null_control": "Fit to shuffled targets",
    "view_contributions": "Fit without each view, and on it alone",
}
"""Titles of the rules in the page's table of costs."""


def run_record(study: Mapping[str, Any], jobs: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the settings to reproduce the score table, and the cost of each rule.

    ``study`` has name, seed, ``source`` and ``config``; ``jobs`` names of jobs by rule, as DATASET/PROTOCOL/METHOD.
    """
    return {
        **study,
        "command": os.environ.get("MKLEARN_COMMAND", ""),
        "commit": commit(),
        "started": os.environ.get("MKLEARN_STARTED", ""),
        "utc": datetime.now(tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "machine": machine(),
        "rules": [cost for rule in TITLES if (cost := rule_cost(rule, jobs.get(rule, ())))],
    }


def rule_cost(rule: str, jobs: Sequence[str]) -> dict[str, Any] | None:
    """Return the cost of a rule's jobs, from Snakemake's benchmark files; None if no job ran.

    ``jobs`` is the number of jobs that ran, ``seconds`` the sum of their wall-clock times without waiting in the queue
    of a cluster, and ``longest`` the largest.
    """
    seconds = [each for job in sorted(jobs) if (each := _seconds(Path("logs", rule, f"{job}.tsv"))) is not None]
    if not seconds:
        return None
    return {
        "rule": rule, "title": TITLES[rule], "jobs": len(seconds), "seconds": round(sum(seconds), 2),
        "longest": round(max(seconds), 2),
    }  # fmt: skip


def _seconds(benchmark: Path) -> float | None:
    try:
        with benchmark.open(encoding="utf-8") as stream:
            return float(next(csv.DictReader(stream, delimiter="\t"))["s"])
    except (OSError, ValueError, KeyError, StopIteration):
        return None
