"""Stage: resize the images of a data set."""

from __future__ import annotations

from typing import Any

from mklearn.contract.specs import ResizeSpec
from mklearn.study.stages.stage import Artefact, Job, Stage

BATCH = 256
"""Images in a batch of :mod:`mklearn.study.steps.describe`."""


def images_memory(job: Job, files: Any) -> float:
    """Compute the memory for describing or resizing images: all as read, and a batch of them in double precision.

    A pixel of a batch takes 8 bytes in place of one, and half as much again for what is computed from it. (Measured on
    seven descriptors of 3060 images of 60,000 pixels: 300 to 540 MB with the libraries.)
    """
    return float(files.size_mb * (2 + 12 * min(1.0, BATCH / job.n_samples())))


STAGE = Stage(
    name="resize",
    title="Resize the images",
    message="Resizing the images of {wildcards.dataset}",
    jobs=lambda plan: [(dataset.key,) for dataset in plan.datasets.values() if dataset.resize],
    spec=lambda job: job.dataset.resize or ResizeSpec(),
    inputs={"samples": lambda job: job.path("samples", dataset=job.dataset.original)},
    outputs={"resized": Artefact("resized", "cache/resized/{dataset}.npz")},
    memory=images_memory,
)
