"""Stage: measure what predictions of the final model's method rest on, of studies with ``final: {importances: N}``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mklearn.study.stages.final_model import expected_splits, fit_memory, fit_seconds, planned, view_features
from mklearn.study.stages.stage import Artefact, Job, Stage

if TYPE_CHECKING:
    from mklearn.study.specs.final_spec import ImportancesSpec


def _spec(job: Job) -> ImportancesSpec:
    spec = planned(job).importances
    assert spec is not None, "the study has no `final.importances`"
    return spec


def _groups(job: Job) -> list[str]:
    """Return the file of groups of features, if there is one."""
    path = _spec(job).feature_groups
    return [] if path is None else [path]


def _seconds(job: Job, files: Any) -> float:
    """Estimate the fits on the splits, and a fifth of the samples' predictions for each feature and permutation."""
    n, spec = job.n_samples(planned(job).dataset), _spec(job)
    n_features = files.size_mb * 2**20 / (8 * n)
    one = 0.005 + 1e-9 * n**2 / 5 * (n_features + 20)
    return fit_seconds(job, files) + spec.splits * spec.permutations * n_features * one


STAGE = Stage(
    name="importances",
    message="Measuring what predictions rest on",
    jobs=lambda plan: [] if plan.final is None or plan.final.importances is None else [()],
    spec=_spec,
    inputs={
        "model": "final_model",
        "labels": lambda job: job.labels(planned(job).dataset),
        "splits": expected_splits,
        "sources": view_features,
        "groups": _groups,
    },
    outputs={"importances": Artefact("importances", "{study}/importances.csv")},
    memory=fit_memory,
    seconds=_seconds,
    priority=0,
)
