"""Specifications of the tables and the report of a study."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mklearn.study.entries import Entry, Kernel
from mklearn.study.plan.datasets import PlannedDataset
from mklearn.study.plan.plan import Plan
from mklearn.study.specs.final_spec import BEST
from mklearn.study.specs.fit_spec import headline_rule
from mklearn.study.specs.table_specs import (
    CatalogueEntry,
    ReportDataset,
    ReportFile,
    ReportFinal,
    ReportFit,
    ReportSpec,
)

FILES_SHOWN = 64
"""Maximum number of files of a data set that the report lists."""


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
    config = study.model_dump(mode="json")
    return {
        "reference": plan.reference,
        "neighbour": headline_rule(study.evaluation.neighbours),
        "published": [cell.as_dict() for cell in study.published_values()],
        "titles": {
            "datasets": {dataset.id: dataset.title for dataset in plan.datasets.values()},
            "methods": {fit.method_id: fit.label for fit in plan.fits.values()},
        },
        "calibration": config["calibration"],
        "tolerance": config["tolerance"],
        "study": {"study": study.study, "seed": study.seed, "source": source, "config": config},
        "jobs": jobs,
    }


def report_spec(plan: Plan) -> ReportSpec:
    """Return the specification of the report."""
    study = plan.study
    fits = [
        ReportFit(dataset=fit.dataset.id, settings=fit.spec.settings, method=fit.method_id, title=fit.label)
        for fit in plan.fits.values()
    ]
    same = ("study", "description", "calibration", "tolerance", "remarks", "claims", "comparisons")
    kinds = {kernel["id"]: kernel["kind"] for fit in plan.fits.values() for kernel in fit.spec.kernels}
    kernels = {name: kinds[name] for name in plan.kernels if name in kinds}
    descriptors = {planned.id: planned.config for planned in plan.descriptors.values()}
    return ReportSpec(
        **{name: getattr(study, name) for name in same},
        **study.report.model_dump(),
        **_headline(plan),
        title=study.title or study.study,
        reference=plan.reference,
        fits=fits,
        datasets=[_dataset(dataset) for dataset in plan.datasets.values()],
        learned=[name for name, method in study.methods.items() if method.learns_weights()],
        descriptors=_catalogue(descriptors),
        kernels=_catalogue({name: Kernel.model_validate({"kind": kind}) for name, kind in kernels.items()}),
        methods=_catalogue(study.methods),
    )


def _headline(plan: Plan) -> dict[str, Any]:
    """Return the metric of tables and headline (if not the accuracy), the neighbour rule and the final model."""
    evaluation, score = plan.study.evaluation, {}
    if "accuracy" not in evaluation.metrics or any(each.target == "numbers" for each in plan.datasets.values()):
        score = {"score": evaluation.choose_by, "metric": evaluation.choose_by}
    score["neighbour"] = headline_rule(evaluation.neighbours)
    if plan.final is None:
        return score
    spec = plan.final.spec
    final = ReportFinal(
        dataset=spec.dataset,
        chosen=spec.method == BEST,
        entries=[candidate.entry for candidate in spec.candidates],
        given_splits=spec.given_splits,
    )
    return score | {"metric": spec.metric, "final": final}


def _dataset(dataset: PlannedDataset) -> ReportDataset:
    upstream = {path: next(iter(spec.urls), "") for path, spec in dataset.downloads.items()}
    files = [
        ReportFile(name=Path(path).name, path=path, source=upstream.get(path, path))
        for path in dataset.files[:FILES_SHOWN]
    ]
    return ReportDataset(id=dataset.id, title=dataset.title, about=dict(dataset.about), files=files)


def _catalogue(entries: Mapping[str, Entry]) -> list[CatalogueEntry]:
    return [
        CatalogueEntry(id=name, title=entry.title, reference=entry.row.reference) for name, entry in entries.items()
    ]
