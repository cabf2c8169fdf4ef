"""Stage: fit a method on every split of a protocol, and evaluate it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from mklearn.study.plan import resources
from mklearn.study.stages.split import split_files
from mklearn.study.stages.stage import Artefact, Job, Stage, blocks

if TYPE_CHECKING:
    from mklearn.study.plan.fits import PlannedFit


def _planned(job: Job) -> PlannedFit:
    return job.plan.fits[job.key]


# --- inputs


def _matrices(job: Job) -> list[str]:
    """Return the pairwise matrices that the kernels are made from."""
    names = [name.split("/") for name in _planned(job).spec.pairwise]
    return [job.path("pairwise", descriptor=source, measure=measure) for source, measure in names]


def _sources(job: Job) -> list[str]:
    """Return the files of the views: the images, and the features of descriptors, each once.

    Of pairs with projections, the features are taken for inner folds only. A method with landmarks takes its features
    in blocks.
    """
    spec = _planned(job).spec
    if spec.landmarks is not None or (spec.pairs is not None and _has_all_projections(job)):
        return []
    on_images = any(entry.kind == "images" for entry in spec.method.inputs.values())
    return [*([job.samples()] if on_images else []), *job.features(spec.descriptors)]


def _projections(job: Job) -> list[str]:
    """Return the projections that a method on pairs takes; nothing without components."""
    dataset, protocol, _ = job.key
    names = [name for name in _planned(job).spec.descriptors if (dataset, protocol, name) in job.plan.projections]
    return [job.path("projections", descriptor=name) for name in names]


def _has_all_projections(job: Job) -> bool:
    """Whether no inner folds choose parameters: the official lists do, of which one trains and one validates."""
    on_test = _planned(job).spec.evaluation.choice == "test_set"
    return bool(_projections(job)) and (on_test or len(split_files(job)) == 3)


def _of_landmark_set(job: Job, artefact: str, each: Iterable[str] = ("",)) -> list[str]:
    """Return what a method takes of its landmark set; nothing for methods without landmarks."""
    name = _planned(job).landmark_set
    return [job.path(artefact, landmark_set=name, part=part) for part in each] if name else []


def _blocks_of_features(job: Job) -> list[str]:
    """Return the features of a method with landmarks: of each descriptor every block."""
    spec = _planned(job).spec
    return job.features_of_blocks(spec.descriptors, blocks(job.dataset)) if spec.landmarks else []


# --- resources


def _samples(job: Job) -> tuple[int, list[int]]:
    """Return the number of samples, or of pairs, and of training samples of a split at each training size."""
    fit, n = _planned(job), job.n_samples()
    if fit.spec.pairs is not None:
        n = job.dataset.n_pairs or n
    n_classes = job.dataset.read.expected.get("n_classes")
    return n, resources.training_samples(job.protocol, fit.settings, n, n_classes)


def _memory(job: Job, files: Any) -> float:
    n, n_train = _samples(job)
    return resources.fit_mb(_planned(job).spec, n, max(n_train), files, job.dataset.n_blocks)


def _seconds_by_size(job: Job) -> list[float]:
    """Estimate the run time of each training size."""
    n, n_train = _samples(job)
    return [resources.fit_seconds(_planned(job).spec, job.protocol, n, size) for size in n_train]


def _priority(job: Job) -> float:
    """Return a priority below 1, which is that of the stages that fits wait for: the longest fit first."""
    return 1.0 - 1.0 / (1.0 + sum(_seconds_by_size(job)))


STAGE = Stage(
    name="fit",
    title="Fit and evaluate",
    message="Fitting {wildcards.method} on {wildcards.dataset}, {wildcards.protocol}",
    jobs=lambda plan: plan.fits,
    spec=lambda job: _planned(job).spec,
    inputs={
        "matrices": _matrices,
        "sources": _sources,
        "projections": _projections,
        "landmarks": lambda job: _of_landmark_set(job, "landmarks"),
        "moments": lambda job: _of_landmark_set(job, "moments", blocks(job.dataset)),
        "blocks": _blocks_of_features,
        "labels": Job.labels,
        "splits": "splits",
    },
    outputs={
        "scores": Artefact("fit_scores", "cache/fits/{dataset}/{protocol}/{method}.parquet"),
        "model": Artefact("fit_model", "cache/fits/{dataset}/{protocol}/{method}.npz"),
        "predictions": Artefact("fit_predictions", "cache/fits/{dataset}/{protocol}/{method}.predictions.parquet"),
    },
    memory=_memory,
    seconds=lambda job, files: sum(_seconds_by_size(job)),
    minutes=lambda job, files: resources.fit_minutes(_planned(job).spec, _seconds_by_size(job)),
    priority=_priority,
    licences=lambda job: resources.licences(_planned(job).spec.method, len(_planned(job).spec.kernels)),
)
