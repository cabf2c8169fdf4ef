"""Jobs of a study, as the rules of the workflow make them: steps, files and specifications."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

DATA = ("download", "read", "resize")
TABLES = ("evaluate", "summary", "run_record", "final_model", "report")


def data_jobs(targets: Any) -> Iterator[dict[str, Any]]:
    return jobs_of(targets, DATA)


def model_jobs(targets: Any) -> Iterator[dict[str, Any]]:
    return jobs_of(targets, [name for name in targets.stages if name not in (*DATA, *TABLES)])


def table_jobs(targets: Any) -> Iterator[dict[str, Any]]:
    return jobs_of(targets, TABLES)


def jobs_of(targets: Any, stages: Iterable[str]) -> Iterator[dict[str, Any]]:
    """The jobs of some stages, as their rules make them."""
    for name in stages:
        stage = targets.stages[name]
        for job in targets.jobs(name):
            yield {
                "rule": name, "step": stage.step, "log": job.log, "inputs": job.inputs, "outputs": job.outputs,
                "spec": job.spec, "code": job.code if stage.follows_code else None,
            }  # fmt: skip
