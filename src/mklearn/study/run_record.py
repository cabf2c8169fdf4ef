"""The record of a run: versions, machine, command, commit, seed, the whole study, and what each rule cost."""

from __future__ import annotations

import csv
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mklearn.study.jobs import OUTPUTS, Jobs
from mklearn.study.plan.plan import plan_study
from mklearn.study.provenance import commit, machine
from mklearn.study.reading import check_study
from mklearn.study.specs.table_specs import RunSpec

TITLES = {
    "read": "Read the data sets",
    "resize": "Resize the images",
    "split": "Split",
    "learn": "Learn words, patches, axes",
    "describe": "Describe the samples",
    "distances": "Compare all pairs",
    "landmarks": "Choose landmarks",
    "moments": "Gather moments",
    "fit": "Fit and predict",
}
"""Rules in the page's table of costs."""
PART_OF = {"describe_part": "describe"}


def run_record(spec: RunSpec) -> dict[str, Any]:
    """Return what is needed to make the score table again, and what each rule of the run cost."""
    return {
        "study": spec.study,
        "source": spec.source,
        "seed": spec.seed,
        "command": os.environ.get("MKLEARN_COMMAND", ""),
        "commit": commit(),
        "started": os.environ.get("MKLEARN_STARTED", ""),
        "utc": datetime.now(tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "machine": machine(),
        "config": spec.config,
        "rules": rule_costs(Jobs(plan_study(check_study(spec.config)))),
    }


def rule_costs(jobs: Jobs) -> list[dict[str, Any]]:
    """Return what the jobs of each rule before the tables cost, by the benchmark files that Snakemake writes.

    A job's time is that of its process, without what it has waited in the queue of a cluster. Jobs on parts count for
    the rule that joins them. Jobs that did not run are left out.

    Returns
    -------
    list of dict
        ``rule`` and its ``title``; ``jobs``, how many ran; ``seconds``, the sum of their wall-clock times, ``longest``,
        the largest one, and ``longest_job``, its first output without its ending; ``bytes`` of the outputs.
    """
    times: dict[str, dict[str, float]] = {rule: {} for rule in TITLES}
    n_bytes = dict.fromkeys(TITLES, 0)
    for rule in OUTPUTS:
        counted = PART_OF.get(rule, rule)
        for key in jobs.keys(rule) if counted in TITLES else ():
            seconds = _seconds(Path(jobs.log(rule, **key)).with_suffix(".tsv"))
            if seconds is not None:
                outputs = [Path(jobs.path(rule, output, **key)) for output in OUTPUTS[rule]]
                times[counted][str(outputs[0].with_suffix(""))] = seconds
                n_bytes[counted] += sum(path.stat().st_size for path in outputs if path.is_file())
    return [
        {
            "rule": rule, "title": TITLES[rule], "jobs": len(each),
            "seconds": round(sum(each.values()), 2), "longest": round(max(each.values()), 2),
            "longest_job": max(sorted(each), key=lambda job: each[job]), "bytes": n_bytes[rule],
        }
        for rule, each in times.items() if each
    ]  # fmt: skip


def _seconds(benchmark: Path) -> float | None:
    try:
        with benchmark.open(encoding="utf-8") as stream:
            return float(next(csv.DictReader(stream, delimiter="\t"))["s"])
    except (OSError, ValueError, KeyError, StopIteration):
        return None
