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
    """Compute the memory for a matrix with temporaries, and the centred features."""
    return resources.kernels_mb(job.n_samples(), 0, 4, 0) + resources.features_mb(files.size_mb)


def _seconds(job: Job, files: Any) -> float:
    """Estimate the distances of all pairs: 0.5 ns for a feature of a pair (chi-squared; the others are faster)."""
    n = job.n_samples()
    each = 0.5e-9 * files.size_mb * 2**20 / 8 / n
    if _spec(job).implementation is not None:  # between sets of points
        each = job.plan.descriptors[job["dataset"], job["descriptor"]].config.seconds_per_pair() / THREADS
    return float(n**2 / 2 * each)


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
