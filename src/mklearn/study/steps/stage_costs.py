"""What each stage of a run cost: jobs, seconds and files, from the benchmark files that Snakemake writes of jobs."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from mklearn.study.stages.order import STAGES
from mklearn.study.stages.stage import StudyFiles


def stage_costs(files: StudyFiles) -> list[dict[str, Any]]:
    """Return the costs of each stage before the tables, in the order of the workflow; of planned jobs that ran.

    A job's time is that of its process, without what it has waited in the queue of a cluster. Costs of jobs on parts
    are those of the stage that they do a part of.

    Returns
    -------
    list of dict
        ``stage`` and ``title``; ``jobs``, how many ran, and ``known``, the same; ``seconds``, the sum of their
        wall-clock times, ``longest``, the largest one, and ``longest_job``, its first output without its ending;
        ``bytes`` of the outputs.
    """
    times: dict[str, dict[str, float]] = {stage.name: {} for stage in STAGES.values() if stage.title}
    n_bytes = dict.fromkeys(times, 0)
    for name, stage in STAGES.items():
        for job in files.jobs(name) if stage.title or stage.part_of else ():
            seconds = _seconds(Path(job.benchmark))
            if seconds is not None:
                outputs = [Path(path) for path in job.outputs.values()]
                times[stage.part_of or name][str(outputs[0].with_suffix(""))] = seconds
                n_bytes[stage.part_of or name] += sum(path.stat().st_size for path in outputs if path.is_file())
    return [
        {
            "stage": stage, "title": STAGES[stage].title, "jobs": len(each), "known": len(each),
            "seconds": round(sum(each.values()), 2), "longest": round(max(each.values()), 2),
            "longest_job": max(sorted(each), key=lambda job: each[job]), "bytes": n_bytes[stage],
        }
        for stage, each in times.items() if each
    ]  # fmt: skip


def _seconds(benchmark: Path) -> float | None:
    """Return the wall-clock time of a job; None where it is not known."""
    try:
        with benchmark.open(encoding="utf-8") as stream:
            return float(next(csv.DictReader(stream, delimiter="\t"))["s"])
    except (OSError, ValueError, KeyError, StopIteration):
        return None
