"""What each stage of a run cost: jobs, seconds and files, from the benchmark files that Snakemake writes of jobs.

Artefacts carry no times but those that the scores of methods are made from, so that equal inputs give equal bytes.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mklearn.study.stages.order import STAGES
from mklearn.study.stages.stage import Job, StudyFiles

COSTLY = tuple(stage.name for stage in STAGES.values() if stage.title)
"""The stages before the tables, in the order of the workflow."""


def stage_costs(files: StudyFiles) -> list[dict[str, Any]]:
    """Return the jobs, seconds and bytes of each stage that the scores of a study come from.

    A job's time is that of its process, without what it has waited in the queue of a cluster.

    Returns
    -------
    list of dict
        For each stage with jobs, in the order of the workflow: ``stage`` and ``title``; ``jobs``; ``known``, how many
        of them have a benchmark file; ``seconds``, the sum of their wall-clock times, ``longest``, the largest one,
        and ``longest_job``, its output without its ending - these three None where no job is known; ``bytes`` of the
        outputs that exist.
    """
    times: dict[str, dict[str, float | None]] = {stage: {} for stage in COSTLY}
    n_bytes = dict.fromkeys(COSTLY, 0)
    for job in _jobs_before(files.job("scores"), files):
        stage, outputs = job.stage.part_of or job.stage.name, [Path(path) for path in job.outputs.values()]
        times[stage][str(outputs[0].with_suffix(""))] = _seconds(Path(job.benchmark))
        n_bytes[stage] += sum(file.stat().st_size for file in outputs if file.is_file())
    return [_row(stage, times[stage], n_bytes[stage]) for stage in COSTLY if times[stage]]


def _jobs_before(last: Job, files: StudyFiles) -> list[Job]:
    """Return the jobs whose outputs a job comes from."""
    before = [job for name, stage in STAGES.items() if stage.title or stage.part_of for job in files.jobs(name)]
    makers = {path: job for job in before for path in job.outputs.values()}
    found: dict[str, Job] = {}
    todo = [last]
    while todo:
        for given in todo.pop().inputs.values():
            for path in [given] if isinstance(given, str) else given:
                job = makers.get(path)
                if job is not None and job.log not in found:
                    found[job.log] = job
                    todo.append(job)
    return list(found.values())


def _seconds(benchmark: Path) -> float | None:
    """Return the wall-clock time of a job; None where it is not known."""
    try:
        with benchmark.open(encoding="utf-8") as stream:
            return float(next(csv.DictReader(stream, delimiter="\t"))["s"])
    except (OSError, ValueError, KeyError, StopIteration):
        return None


def _row(stage: str, jobs: Mapping[str, float | None], n_bytes: int) -> dict[str, Any]:
    times = {job: seconds for job, seconds in sorted(jobs.items()) if seconds is not None}
    longest = max(times, key=lambda job: times[job], default=None)
    return {
        "stage": stage,
        "title": STAGES[stage].title,
        "jobs": len(jobs),
        "known": len(times),
        "seconds": round(sum(times.values()), 2) if times else None,
        "longest": None if longest is None else round(times[longest], 2),
        "longest_job": longest,
        "bytes": n_bytes,
    }
