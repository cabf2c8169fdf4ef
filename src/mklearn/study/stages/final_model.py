"""Stage: fit the final model on all samples, of studies with the section `final`; `mklearn predict` takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mklearn.study.plan import resources
from mklearn.study.stages.stage import Artefact, Job, Stage

if TYPE_CHECKING:
    from mklearn.study.plan.final import PlannedFinal


def planned(job: Job) -> PlannedFinal:
    assert job.plan.final is not None, "the study has no section `final`"
    return job.plan.final


def expected_splits(job: Job) -> str:
    """Return the splits by which the study says what is expected of the model."""
    return job.path("splits", dataset=planned(job).dataset.key, protocol=planned(job).protocol)


def view_features(job: Job) -> list[str]:
    """Return the features of each view."""
    return job.features([view.descriptor for view in planned(job).spec.views], planned(job).dataset.key)


def _learned(job: Job) -> list[str]:
    """Return what descriptors have learned from the images."""
    dataset, learning = planned(job).dataset.key, [view for view in planned(job).spec.views if view.learns]
    return [job.path("learned", dataset=dataset, descriptor=view.descriptor) for view in learning]


def _images(job: Job) -> list[str]:
    """Return the images of the data set; nothing of tables."""
    return [job.samples(planned(job).dataset)] if planned(job).spec.images is not None else []


def _tables(job: Job) -> list[str]:
    """Return the user's tables, for the names of their columns."""
    return [view.column_table for view in planned(job).spec.views if view.column_table is not None]


def fit_memory(job: Job, files: Any) -> float:
    n, fits = job.n_samples(planned(job).dataset), [each.fit for each in planned(job).spec.candidates]
    return max(resources.fit_mb(fit, n, n, files) for fit in fits) + resources.features_mb(files.size_mb)


def fit_seconds(job: Job, files: Any) -> float:
    """Estimate the run time of the longest candidate, on one split of all samples."""
    n, fits = job.n_samples(planned(job).dataset), [each.fit for each in planned(job).spec.candidates]
    protocol = job.plan.protocols[planned(job).protocol].model_copy(update={"parameters": {"repeats": 1}})
    return max(resources.fit_seconds(fit, protocol, n, n) for fit in fits)


STAGE = Stage(
    name="final_model",
    message="Fitting the final model on all samples",
    jobs=lambda plan: [] if plan.final is None else [()],
    spec=lambda job: planned(job).spec,
    inputs={
        "summary": "summary",
        "labels": lambda job: job.labels(planned(job).dataset),
        "splits": expected_splits,
        "sources": view_features,
        "learned": _learned,
        "images": _images,
        "tables": _tables,
    },
    outputs={
        "model": Artefact("final_model", "{study}/model.mklearn"),
        "card": Artefact("final_card", "{study}/model.md"),
    },
    memory=fit_memory,
    seconds=fit_seconds,
    priority=0,
)
