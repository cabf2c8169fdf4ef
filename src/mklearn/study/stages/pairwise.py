"""Stages: compare all samples with each other, in one job or in blocks of rows that a last one puts together."""

from __future__ import annotations

from typing import Any

from mklearn.contract.specs import PairwiseSpec
from mklearn.study.plan import resources
from mklearn.study.stages.stage import Artefact, Job, Stage, parts


def _spec(job: Job) -> PairwiseSpec:
    """Return the specification of a pairwise matrix, or of one block of its rows."""
    spec = job.plan.pairwise[job.key].spec
    return spec.model_copy(update={"part": job["part"]}) if "part" in job.wildcards else spec


def _source(job: Job) -> str:
    """Return the features of a descriptor, or the user's own matrices."""
    return job.samples() if _spec(job).matrix else job.path("features")


def _memory(job: Job, files: Any) -> float:
    return resources.pairwise_mb(job.n_samples(), files.size_mb)


def _seconds(job: Job, files: Any) -> float:
    n, planned = job.n_samples(), job.plan.pairwise[job.key]
    seconds = resources.pairwise_seconds(n, files.size_mb)
    if planned.spec.rows:  # between sets of points
        descriptor = job.plan.descriptors[job["dataset"], job["descriptor"]].config
        seconds = n**2 / 2 * descriptor.seconds_per_pair() / planned.n_blocks
    return seconds


STAGE = Stage(
    name="pairwise",
    title="Compare all pairs",
    message="Pairwise {wildcards.measure} of {wildcards.dataset} by {wildcards.descriptor}",
    jobs=lambda plan: plan.pairwise,
    spec=_spec,
    inputs={
        "source": _source,
        "blocks": lambda job: [
            job.path("pairwise_block", part=part) for part in parts(job.plan.pairwise[job.key].n_blocks)
        ],
    },
    outputs={"matrix": Artefact("pairwise", "cache/pairwise/{dataset}/{descriptor}/{measure}.npz")},
    memory=_memory,
    seconds=_seconds,
)
BLOCK = Stage(
    name="pairwise_block",
    part_of="pairwise",
    message="Pairwise {wildcards.measure} of {wildcards.dataset} by {wildcards.descriptor}, part {wildcards.part}",
    jobs=lambda plan: [(*key, part) for key, planned in plan.pairwise.items() for part in parts(planned.n_blocks)],
    spec=_spec,
    inputs={"source": _source},
    outputs={"block": Artefact("pairwise_block", "cache/pairwise/{dataset}/{descriptor}/{measure}/{part}.npz")},
    memory=_memory,
    seconds=_seconds,
)
