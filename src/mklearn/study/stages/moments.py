"""Stage: gather the moments of the landmark features of one block of samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mklearn.study.plan import resources
from mklearn.study.stages.stage import Artefact, Job, Stage, blocks

if TYPE_CHECKING:
    from mklearn.study.plan.plan import Plan
    from mklearn.study.specs.landmark_specs import LandmarkSetSpec


def _jobs(plan: Plan) -> Iterator[tuple[str, ...]]:
    for key in plan.landmark_sets:
        for part in blocks(plan.datasets[key[0]]):
            yield *key, part


def _spec(job: Job) -> LandmarkSetSpec:
    return job.plan.landmark_sets[job.key].model_copy(update={"part": job["part"]})


def _memory(job: Job, files: Any) -> float:
    """Compute the memory of a pass over one block: its features, and triangles of moments of each split and fold."""
    n_features = _spec(job).landmarks.most * len(_spec(job).kernels)
    n_triangles = resources.number_of_splits(job.protocol) * (_spec(job).inner_folds + 4)
    return resources.kernels_mb(n_features, n_features, n_triangles / 2, 0) + resources.features_mb(files.size_mb)


STAGE = Stage(
    name="moments",
    title="Gather moments",
    message="Moments of {wildcards.dataset}, {wildcards.protocol}, part {wildcards.part}",
    jobs=_jobs,
    spec=_spec,
    inputs={
        "landmarks": "landmarks",
        "labels": Job.labels,
        "splits": "splits",
        "features": lambda job: job.features_of_blocks(_spec(job).descriptors, [job["part"]]),
    },
    outputs={"moments": Artefact("moments", "cache/moments/{dataset}/{protocol}/{landmark_set}/{part}.npz")},
    memory=_memory,
)
