"""Specifications of the tables and the page of a study, in addition to the study itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mklearn.study.entries import Kernel
from mklearn.study.plan.plan import Plan


def evaluate_spec(plan: Plan) -> dict[str, Any]:
    """Return the specification of the table of scores."""
    study = plan.study
    order = ["/".join(key) for key in plan.fits]
    return {"study": study.study, "order": order, "kernels": plan.kernels, "metrics": study.evaluation.metrics}


def tables_spec(plan: Plan, source: str, jobs: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return the specification of the summary table and the record of the run.

    ``source`` is the study file. ``jobs`` has the names of the jobs, by rule, whose cost is recorded.
    """
    study = plan.study
    return {
        "reference": plan.reference,
        "titles": {
            "datasets": {dataset.id: dataset.title for dataset in plan.datasets.values()},
            "methods": {fit.method_id: fit.label for fit in plan.fits.values()},
        },
        "study": {
            "study": study.study, "seed": study.seed, "source": source, "config": study.model_dump(mode="json"),
        },
        "jobs": jobs,
    }  # fmt: skip


def page_spec(plan: Plan) -> dict[str, Any]:
    """Return the specification of the page, with title and papers of each method, kernel and descriptor."""
    kinds = {kernel["id"]: kernel["kind"] for fit in plan.fits.values() for kernel in fit.spec.kernels}
    kernels = [Kernel.model_validate({"kind": kinds[name]}) for name in plan.kernels if name in kinds]
    descriptors = {planned.id: planned.config for planned in plan.descriptors.values()}
    entries = [*plan.study.methods.values(), *kernels, *descriptors.values()]
    return {
        "reference": plan.reference,
        "order": [*(name for name in plan.kernels if name in kinds), *descriptors],
        "sources": [[entry.title, entry.row.reference] for entry in entries if entry.row.reference],
        "final": None if plan.final is None else plan.final.spec.as_dict(),
    }
