"""Stage: read a data set into one format."""

from __future__ import annotations

import functools
import math
import os
from pathlib import Path
from typing import Any

from mklearn.contract.specs import ReadSpec
from mklearn.study.plan import resources
from mklearn.study.provenance import digest, file_digest
from mklearn.study.stages.stage import Artefact, Job, Stage


def _spec(job: Job) -> ReadSpec:
    """Return how a data set is read; with the content of the user's own files, which may be older than before."""
    dataset = job.dataset
    if dataset.downloads or not dataset.files:
        return dataset.read
    contents = [content_digest(path) for path in dataset.files]
    return dataset.read.model_copy(update={"listing": digest(contents)})


def content_digest(path: str) -> str:
    """Return the sha256 of a file's content, computed once while the file stays as it is."""
    stat = os.stat(path)
    return _content_digest(path, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)


@functools.cache
def _content_digest(path: str, *_: int) -> str:
    return file_digest(path)


def _memory(job: Job, files: Any) -> float:
    read = job.dataset.read
    pixels = (job.dataset.n_samples or 0) * math.prod(read.expected.get("image_shape") or (0,))
    return resources.features_mb(_read_mb(job, files)) + 2 * pixels / 2**20  # many images may be made from few


def _read_mb(job: Job, files: Any) -> float:
    """Return the size of the files to read: compressed tables grow, and a folder of images is no input of the rule."""
    paths = job.dataset.read.paths or {}
    grown = sum(5 * os.path.getsize(path) for path in paths.values() if path.endswith((".gz", ".bz2", ".xz", ".zip")))
    return float(files.size_mb + (grown + _bytes_below(paths.get("root", ""))) / 2**20)


@functools.cache  # memory and run time of the same job are asked for one after the other
def _bytes_below(root: str) -> int:
    return sum(path.stat().st_size for path in Path(root).rglob("*") if path.is_file()) if root else 0


STAGE = Stage(
    name="read",
    title="Read the data sets",
    message="Reading data set {wildcards.dataset}",
    jobs=lambda plan: dict.fromkeys((dataset.original,) for dataset in plan.datasets.values()),
    spec=_spec,
    inputs={"files": lambda job: job.dataset.files},
    outputs={
        "samples": Artefact("samples", "cache/data/{dataset}.npz"),
        "labels": Artefact("labels", "cache/data/{dataset}.labels.parquet"),
    },
    memory=_memory,
    seconds=lambda job, files: 2 * _read_mb(job, files),
)
