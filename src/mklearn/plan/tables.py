"""What the summary table and the report are told of the study, as the specifications of their jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mklearn.plan.study import Plan


def summary_spec(plan: Plan) -> dict[str, Any]:
    study = plan.study
    published = [
        cell._asdict() | {"value": cell.value / 100, "std": None if cell.std is None else cell.std / 100}
        for cell in study.published_cells()
    ]
    return {
        "reference": plan.reference,
        "published": published,
        "titles": plan.titles(),
        "calibration": None if study.calibration is None else study.calibration.model_dump(),
    }


def report_spec(plan: Plan) -> dict[str, Any]:
    study = plan.study
    fits = [
        {"dataset": fit.dataset.id, "settings": [setting.model_dump() for setting in fit.settings],
         "method": fit.method_id, "title": fit.label}
        for fit in plan.fits.values()
    ]  # fmt: skip
    datasets = [
        {"id": dataset.id, "title": dataset.title, "about": dataset.about,
         "files": [{"name": Path(path).name, "path": path, "source": dataset.sources.get(path, path)}
                   for path in dataset.files[:64]],
         "descriptors": [{"id": name.rsplit("-", 1)[0], "kind": planned.spec["kind"],
                          "parameters": planned.spec["parameters"]}
                         for (key, name), planned in plan.descriptors.items() if key == dataset.key]}
        for dataset in plan.datasets.values()
    ]  # fmt: skip
    return {
        "study": study.study, "title": study.title or study.study, "description": study.description,
        "reference": plan.reference, "thumbnails": study.report.thumbnails, "fits": fits, "datasets": datasets,
        "calibration": None if study.calibration is None else study.calibration.model_dump(),
        "remarks": [{"methods": remark.methods, "text": remark.text} for remark in study.remarks],
        "best_single": _best_single(plan), **plan.catalogue(),
    }  # fmt: skip


def _best_single(plan: Plan) -> list[str]:
    """Methods that take one kernel, by inner cross-validation or by the test set: what learned weights have to beat."""
    found = {fit.method_id: fit.spec.method.kernel_choice for fit in plan.fits.values()}
    return [method for method, choice in found.items() if choice in ("best_single", "oracle_single")]
