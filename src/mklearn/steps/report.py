"""Step: the report of a study: one page, its tables and figures."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mklearn.atomic import read_npz, read_parquet
from mklearn.config.schema import yaml_text
from mklearn.datasets.samples import SampleSet
from mklearn.provenance import file_digest, input_digests, stamp
from mklearn.report.build import build_report
from mklearn.report.records import (
    CatalogueEntry,
    DataFile,
    DataSetRecord,
    FitRecord,
    Remark,
    RunRecord,
    StageCost,
    StudyRecord,
)
from mklearn.report.thumbnails import thumbnails
from mklearn.stamps import write_beside
from mklearn.steps.log import logger


def report(
    scores: Path, summary: Path, record: Path, models: list[Path], samples: list[Path], page: Path, *,
    spec: dict[str, Any], code: list[Path] | None = None, threads: int = 1,
) -> None:  # fmt: skip
    """Write ``page`` (index.html) and, beside it, summary.md, summary.csv, reproduction.csv, figures/.

    The page carries its stamp; that of the files beside it is in provenance.json.
    """
    sample_sets = [SampleSet.load(path) for path in samples]
    datasets = list(zip(spec["datasets"], sample_sets, strict=True))
    classes = {entry["id"]: data.classes for entry, data in datasets}
    inputs = input_digests(scores=scores, summary=summary, record=record, models=models, samples=samples)
    provenance = stamp(spec, inputs, code or [])
    written = build_report(
        page.parent,
        study=_study(spec),
        run=_run(json.loads(record.read_text(encoding="utf-8")), provenance),
        data=[_data_set(entry, data, spec["thumbnails"]) for entry, data in datasets],
        fits=[fit for path, entry in zip(models, spec["fits"], strict=True) for fit in _fits(path, entry, classes)],
        scores=read_parquet(scores)[0],
        summary=read_parquet(summary)[0],
        threads=threads,
    )
    write_beside(written, provenance, page.parent / "provenance.json")
    logger.info("%d files in %s", len(written), page.parent)


def _study(spec: dict[str, Any]) -> StudyRecord:
    return StudyRecord(
        id=spec["study"],
        title=spec["title"],
        description=spec["description"],
        reference=spec["reference"] or "average",
        best_single=tuple(spec.get("best_single", ())),
        calibration=spec.get("calibration"),
        remarks=tuple(Remark(tuple(remark["methods"]), remark["text"]) for remark in spec.get("remarks", ())),
        methods=_catalogue(spec["methods"]),
        kernels=_catalogue(spec["kernels"]),
        descriptors=_catalogue(spec["descriptors"]),
    )


def _catalogue(entries: Sequence[dict[str, Any]]) -> tuple[CatalogueEntry, ...]:
    return tuple(CatalogueEntry(**entry) for entry in entries)


def _run(record: dict[str, Any], provenance: dict[str, Any]) -> RunRecord:
    machine = record["machine"]
    return RunRecord(
        machine=f"{machine['processor']}, {machine['cores']} cores, {machine['system']}",
        config_text=yaml_text(record["config"]),
        stages=tuple(StageCost(**stage) for stage in record.get("stages", ())),
        provenance=provenance,
        **{name: record[name] for name in ("command", "seed", "utc", "commit", "versions")},
    )


def _data_set(entry: dict[str, Any], data: SampleSet, n_thumbnails: int) -> DataSetRecord:
    files = tuple(
        DataFile(file["name"], file_digest(file["path"]), file["source"], Path(file["path"]).stat().st_size)
        for file in entry["files"]
    )
    return DataSetRecord(
        id=entry["id"], title=entry["title"], n_samples=len(data), n_classes=data.n_classes, files=files,
        thumbnails=thumbnails(data, n_thumbnails), **entry["about"],
    )  # fmt: skip


def _fits(path: Path, entry: dict[str, Any], classes: dict[str, np.ndarray]) -> Iterator[FitRecord]:
    """Yield one record per training size."""
    arrays = read_npz(path)
    for setting in entry["settings"]:
        start = f"{setting['protocol']}/"
        own = {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
        yield _fit(own, entry | setting, classes[entry["dataset"]])


def _fit(arrays: dict[str, np.ndarray], entry: dict[str, Any], classes: np.ndarray) -> FitRecord:
    history = pd.DataFrame(
        json.loads(str(arrays["history"])), columns=["repeat", "half_step", "step", "value", "bound"]
    )
    embedding = None
    if "embedding" in arrays:
        embedding = pd.DataFrame(arrays["embedding"], columns=["x", "y"])
        embedding["label"] = classes[arrays["embedding_y"]]
        embedding["role"] = np.where(arrays["embedding_test"], "test", "train")
    info = json.loads(str(arrays["kernel_info"]))
    return FitRecord(
        dataset=entry["dataset"], protocol=entry["protocol"], train_size=entry["train_size"], method=entry["method"],
        method_title=entry["title"], kernel_ids=arrays["kernel_ids"].tolist(),
        weights=arrays["weights"] if len(arrays["kernel_ids"]) > 1 else None,
        history=history if len(history) else None, embedding=embedding,
        kernel_info=pd.DataFrame(info[0]).rename(columns={"id": "kernel"}) if info else None,
        confusion=arrays.get("confusion"), classes=classes,
    )  # fmt: skip
