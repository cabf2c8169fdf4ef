"""Stage: split a data set by a protocol."""

from __future__ import annotations

from typing import Any

from mklearn.contract.specs import SplitSpec
from mklearn.study.stages.read import content_digest
from mklearn.study.stages.stage import Artefact, Job, Stage


def split_spec(job: Job) -> SplitSpec:
    """Return how a data set is split; with the content of the user's file, if the protocol has one."""
    spec, dataset = job.protocol, job.dataset
    known: dict[str, Any] = {"dataset": dataset.splits_of}
    if spec.kind == "released":
        known["source"] = dataset.released_splits
    if path := spec.parameters.get("path"):
        known["file_sha256"] = content_digest(path)
    return spec.model_copy(update=known)


def split_files(job: Job) -> list[str]:
    """Return the files that the protocol reads: the user's, or the splits or lists of pairs of the data set."""
    if path := job.protocol.parameters.get("path"):
        return [path]
    if job.protocol.kind == "released":
        return job.dataset.files
    return job.dataset.pairs if job.protocol.kind == "verification" else []


def reference_labels(job: Job) -> list[str]:
    """Return the labels of the data set whose splits this one has by ``splits_of``, if it is another one."""
    return [job.labels(dataset) for dataset in job.plan.datasets.values() if dataset.id == job.dataset.splits_from]


STAGE = Stage(
    name="split",
    title="Split",
    message="Splitting {wildcards.dataset}: {wildcards.protocol}",
    jobs=lambda plan: dict.fromkeys((dataset, protocol) for dataset, protocol, _ in plan.fits),
    spec=split_spec,
    inputs={"labels": Job.labels, "files": split_files, "reference": reference_labels},
    outputs={"splits": Artefact("splits", "cache/splits/{dataset}/{protocol}.parquet")},
)
