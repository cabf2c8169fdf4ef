"""Stage: read a data set into one format."""

from __future__ import annotations

import functools
import os
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
    decoded = resources.decoded_mb(job.dataset.read, job.dataset.n_samples or 0)
    return max(8 * _read_mb(job, files), 2 * decoded)  # archives grow two or three times


def _read_mb(job: Job, files: Any) -> float:
    """Return the size of the files to read, decompressed; a folder of images is no input of the rule."""
    return float(files.size_mb + resources.folder_mb(job.dataset.read) + resources.text_mb(job.dataset.read))


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
