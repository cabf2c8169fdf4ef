"""Stage: resize the images of a data set."""

from __future__ import annotations

from typing import Any

from mklearn.contract.specs import ResizeSpec
from mklearn.study.plan import resources
from mklearn.study.stages.stage import Artefact, Job, Stage


def images_memory(job: Job, files: Any) -> float:
    """Compute the memory for describing or resizing images."""
    return resources.images_mb(files.size_mb, job.n_samples())


def images_seconds(job: Job, files: Any) -> float:
    """Estimate the run time: two seconds for a million pixels."""
    return float(2 * files.size_mb)


STAGE = Stage(
    name="resize",
    title="Resize the images",
    message="Resizing the images of {wildcards.dataset}",
    jobs=lambda plan: [(dataset.key,) for dataset in plan.datasets.values() if dataset.resize],
    spec=lambda job: job.dataset.resize or ResizeSpec(),
    inputs={"samples": lambda job: job.path("samples", dataset=job.dataset.original)},
    outputs={"resized": Artefact("resized", "cache/resized/{dataset}.npz")},
    memory=images_memory,
    seconds=images_seconds,
)
