"""Stage: fit the final model on all samples, of studies with the section `final`; `mklearn predict` takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mklearn.study.plan import resources
from mklearn.study.stages.stage import Artefact, Job, Stage

if TYPE_CHECKING:
    from mklearn.study.plan.final import PlannedFinal


def _planned(job: Job) -> PlannedFinal:
    assert job.plan.final is not None, "the study has no section `final`"
    return job.plan.final


def _splits(job: Job) -> str:
    """Return the splits by which the study says what is expected of the model."""
    return job.path("splits", dataset=_planned(job).dataset.key, protocol=_planned(job).protocol)


def _features(job: Job) -> list[str]:
    """Return the features of each view."""
    return job.features([view.descriptor for view in _planned(job).spec.views], _planned(job).dataset.key)


def _learned(job: Job) -> list[str]:
    """Return what descriptors have learned from the images."""
    dataset, learning = _planned(job).dataset.key, [view for view in _planned(job).spec.views if view.learns]
    return [job.path("learned", dataset=dataset, descriptor=view.descriptor) for view in learning]


def _images(job: Job) -> list[str]:
    """Return the images of the data set; nothing of tables."""
    return [job.samples(_planned(job).dataset)] if _planned(job).spec.images is not None else []


def _tables(job: Job) -> list[str]:
    """Return the user's tables, for the names of their columns."""
    return [view.column_table for view in _planned(job).spec.views if view.column_table is not None]


def _memory(job: Job, files: Any) -> float:
    n, fits = job.n_samples(_planned(job).dataset), [each.fit for each in _planned(job).spec.candidates]
    return max(resources.fit_mb(fit, n, n, files) for fit in fits) + resources.features_mb(files.size_mb)


def _seconds(job: Job, files: Any) -> float:
    """Estimate the longest candidate on one split of all samples, and again with its predictions for importances."""
    n, fits = job.n_samples(_planned(job).dataset), [each.fit for each in _planned(job).spec.candidates]
    protocol = job.plan.protocols[_planned(job).protocol].model_copy(update={"parameters": {"repeats": 1}})
    seconds = max(resources.fit_seconds(fit, protocol, n, n) for fit in fits)
    n_features, permutations = files.size_mb * 2**17 / n, _planned(job).spec.permutations
    prediction = 0.005 + 2e-10 * n**2 * (n_features + 20)
    return 2 * seconds + 5 * permutations * n_features * prediction if permutations else seconds


STAGE = Stage(
    name="final_model",
    message="Fitting the final model on all samples",
    jobs=lambda plan: [] if plan.final is None else [()],
    spec=lambda job: _planned(job).spec,
    inputs={
        "summary": "summary",
        "labels": lambda job: job.labels(_planned(job).dataset),
        "splits": _splits,
        "sources": _features,
        "learned": _learned,
        "images": _images,
        "tables": _tables,
    },
    outputs={
        "model": Artefact("final_model", "{study}/model.mklearn"),
        "card": Artefact("final_card", "{study}/model.md"),
        "importances": Artefact("importances", "{study}/importances.csv"),
    },
    memory=_memory,
    seconds=_seconds,
    priority=0,
)
