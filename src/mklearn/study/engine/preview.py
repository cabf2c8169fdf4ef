"""What a run would do now, in about ten lines: its jobs by stage, its fits by method, why, time and memory."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from mklearn.errors import ConfigError
from mklearn.study.engine.explain import changes, planned_run, reasons
from mklearn.study.report.wording import enumeration, plural
from mklearn.study.stages.order import STAGES
from mklearn.study.stages.stage import Job

JOB_SECONDS = 3.0
"""Assumed of each job beside its work: a Python process and its imports."""
REASONS_SHOWN = 4
_DIGEST = re.compile(r"-[0-9a-f]{16}")


def preview(study: str | None = None, targets: Iterable[str] = ()) -> str:
    """Return what a run of a study, or of some of its files and rules, would do now.

    Raises
    ------
    ConfigError
        No such study, one with mistakes, or targets that it does not have.
    """
    workflow, problem = planned_run(set(targets), study)
    if problem:
        raise ConfigError(problem)
    dag, planned = workflow.dag, workflow.globals["targets"]
    jobs = [job for job in dag.needrun_jobs() if job.rule.name in STAGES]
    if not jobs:
        return "Nothing to be done: every file is up to date."
    fits = [job for job in jobs if job.rule.name == "fit"]
    lines = [f"{planned.source}: {plural(len(jobs), 'job')} would run, {plural(len(fits), 'fit')} of them"]
    counts = Counter(map(_title, sorted(jobs, key=lambda job: list(STAGES).index(job.rule.name))))
    lines += [f"  {title}: {n}" for title, n in counts.items()]
    lines += [f"  fits by method: {_by_method(fits)}"] * bool(fits)
    why = Counter(_why(job, dag) for job in jobs).most_common()
    lines += ["Why:", *(f"  {plural(n, 'job')}: {text}" for text, n in why[:REASONS_SHOWN])]
    lines += [f"  and {len(why) - REASONS_SHOWN} more reasons"] * (len(why) > REASONS_SHOWN)
    lines.append(_costs([planned.job(job.rule.name, **dict(job.wildcards.items())) for job in jobs]))
    return "\n".join([*lines, "Nothing was run. `mklearn why --verbose` lists every job."])


def _title(job: Any) -> str:
    stage = STAGES[job.rule.name]
    return stage.title or (STAGES[stage.part_of].title if stage.part_of else "") or "Tables, page and model"


def _by_method(fits: Sequence[Any]) -> str:
    counts = Counter(_DIGEST.sub("", job.wildcards.method) for job in fits)
    return enumeration([f"{method} {n}" for method, n in sorted(counts.items())], limit=8)


def _why(job: Any, dag: Any) -> str:
    """Return the first reason for a job, without the names of files that differ from job to job."""
    why = dag.reason(job)
    if why.missing_output:
        path = Path(job.output[0])
        others = path.parent.glob(_DIGEST.sub("-*", path.name)) if _DIGEST.search(path.name) else ()
        return "new parameters, or of what they are made from" if any(others) else "no file yet"
    if why.updated_input_run:
        return "made from what is made again"
    found = changes(job)
    return found[0] if found else reasons(job, dag)[0].partition(":")[0]


def _costs(jobs: Sequence[Job]) -> str:
    """Return a line on time and memory as the plan estimates them, from the files that are there."""
    seconds, most = JOB_SECONDS * len(jobs), 0
    for job in jobs:
        if job.stage.seconds is not None:
            files = SimpleNamespace(size_mb=_size_mb(job))
            seconds, most = seconds + job.stage.seconds(job, files), max(most, job.asked_mb(files))
    unread = [d for d in jobs[0].plan.datasets.values() if not d.n_samples and not os.path.exists(jobs[0].samples(d))]
    guess = " (the data are not read yet: guessed)" if unread else ""
    time = f"Time: about {timedelta(seconds=round(seconds))} on one core{guess}"
    return f"{time}; memory: at most {most / 1000:.1f} GB a job"


def _size_mb(job: Job) -> float:
    """Return the size of those inputs of a job that are there."""
    paths = (path for given in job.inputs.values() for path in ([given] if isinstance(given, str) else given))
    return sum(os.path.getsize(path) for path in paths if os.path.exists(path)) / 2**20
