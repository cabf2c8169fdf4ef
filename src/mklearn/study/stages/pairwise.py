"""Stage: compare all samples with each other by a descriptor."""

from __future__ import annotations

from typing import Any

from mklearn.contract.specs import PairwiseSpec
from mklearn.study.plan import resources
from mklearn.study.stages.stage import Artefact, Job, Stage

THREADS = 8
"""Of a job that compares sets of points, which takes hours on one; a run on fewer cores takes those that it has."""


def _spec(job: Job) -> PairwiseSpec:
    return job.plan.pairwise[job.key].spec


def _threads(job: Job) -> int:
    return 1 if _spec(job).implementation is None else THREADS


def _source(job: Job) -> str:
    """Return the features of a descriptor, or the user's own matrices."""
    return job.samples() if _spec(job).matrix else job.path("features")


def _memory(job: Job, files: Any) -> float:
    return resources.pairwise_mb(job.n_samples(), files.size_mb)


def _seconds(job: Job, files: Any) -> float:
    n = job.n_samples()
    if _spec(job).implementation is not None:
        descriptor = job.plan.descriptors[job["dataset"], job["descriptor"]].config
        return n**2 / 2 * descriptor.seconds_per_pair() / THREADS
    return resources.pairwise_seconds(n, files.size_mb)


STAGE = Stage(
    name="pairwise",
    title="Compare all pairs",
    message="Pairwise {wildcards.measure} of {wildcards.dataset} by {wildcards.descriptor}",
    jobs=lambda plan: plan.pairwise,
    spec=_spec,
    inputs={"source": _source},
    outputs={"matrix": Artefact("pairwise", "cache/pairwise/{dataset}/{descriptor}/{measure}.npz")},
    memory=_memory,
    seconds=_seconds,
    threads=_threads,
)
