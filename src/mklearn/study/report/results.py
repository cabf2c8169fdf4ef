"""Records that a page is made from, read from the files of a run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mklearn.study.artefacts import read_arrays
from mklearn.study.data.samples import SampleSet
from mklearn.study.evaluation.predictions import Predictions
from mklearn.study.provenance import file_digest
from mklearn.study.report import records
from mklearn.study.report.thumbnails import thumbnails
from mklearn.study.specs.fit_spec import Setting
from mklearn.study.specs.table_specs import ReportDataset, ReportFile, ReportFit, ReportSpec
from mklearn.study.yaml_file import yaml_text


def run_of(record: dict[str, Any], provenance: dict[str, Any]) -> records.RunRecord:
    """Return how the results were made, and the page."""
    machine = record["machine"]
    return records.RunRecord(
        machine=f"{machine['processor']}, {machine['cores']} cores, {machine['system']}",
        config_text=yaml_text(record["config"]),
        rules=tuple(records.RuleCost(**rule) for rule in record.get("rules", ())),
        provenance=provenance,
        **{name: record[name] for name in ("command", "seed", "utc", "commit", "versions")},
    )


def data_set_of(
    spec: ReportSpec, entry: ReportDataset, data: SampleSet, predicted: Predictions
) -> records.DataSetRecord:
    """Return a data set as the page shows it, with what a reader must know of its samples."""
    files = tuple(_data_file(file) for file in entry.files)
    note = " ".join(filter(None, [entry.about.get("note"), *(f"{note}." for note in data.notes)]))
    return records.DataSetRecord(
        id=entry.id, title=entry.title, n_samples=len(data), files=files,
        warnings=tuple(_warnings(spec, entry, data, predicted)),
        n_classes=data.n_classes if data.target == "classes" else None,
        thumbnails=thumbnails(data, spec.thumbnails), **{**entry.about, "note": note},
    )  # fmt: skip


def _warnings(spec: ReportSpec, entry: ReportDataset, data: SampleSet, predicted: Predictions) -> Iterator[str]:
    """Yield what a reader must know of the samples: which are left out, and that splits part their groups."""
    yield from (note for note in data.notes if "sample" in note)
    first = data.first_equal()
    whole = {
        "of a group without the others, although the data set has groups; the protocol group_k_fold holds out whole "
        "groups": data.groups,
        "that equal others, and those are training samples": first if len(set(first.tolist())) < len(data) else None,
    }
    methods = {setting: fit.method for fit in spec.fits if fit.dataset == entry.id for setting in fit.settings}
    for text, names in whole.items():
        if names is None:
            continue
        parted = []
        for setting, method in methods.items():
            keys = {"dataset": entry.id, **setting.model_dump(), "method": method, "neighbour": spec.neighbour}
            rows = predicted.by_rule(keys)
            parted += [] if rows is None else _parts_groups(rows, pd.Series(names, index=data.ids))
        if any(parted):
            yield f"{sum(parted)} of {len(parted)} splits test some samples {text}"


def _parts_groups(rows: pd.DataFrame, groups: pd.Series) -> list[bool]:
    """Tell of each split whether it tests some samples of a group and not the others; ``groups`` are by sample."""
    group = rows["sample"].astype(str).map(groups)
    tested = rows.groupby(["repeat", "fold", group.rename("group")], observed=True).size()
    whole = groups.value_counts().reindex(tested.index.get_level_values("group"))
    return list((tested < whole.to_numpy()).groupby(["repeat", "fold"]).any())


def _data_file(file: ReportFile) -> records.DataFile:
    path = Path(file.path)
    if not path.is_file():
        return records.DataFile(file.name, "", file.source, None)
    return records.DataFile(file.name, file_digest(path), file.source, path.stat().st_size)


def fits_of(
    path: Path, entry: ReportFit, data: SampleSet, predicted: Predictions, order: Sequence[str], rule: str
) -> Iterator[records.FitRecord]:
    """Yield one record per training size; ``rule`` is the headline's."""
    arrays = read_arrays(path)
    for setting in entry.settings:
        start = f"{setting.protocol}/"
        own = {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
        keys = {"dataset": entry.dataset, **setting.model_dump(), "method": entry.method, "neighbour": rule}
        if data.target == "numbers":
            yield replace(_fit(own, entry, setting, order), predicted=_numbers(predicted.by_rule(keys)))
            continue
        names = arrays.get("classes", data.classes)
        yield _fit(own, entry, setting, order, names, predicted.confusion(keys, len(names)))


def _fit(
    arrays: dict[str, np.ndarray], entry: ReportFit, setting: Setting, order: Sequence[str],
    classes: np.ndarray | None = None, confusion: np.ndarray | None = None,
) -> records.FitRecord:  # fmt: skip
    """Return the record of a fit; ``order`` is that of the study's kernels and descriptors, the fit has its own."""
    columns = ["repeat", "fold", "half_step", "step", "value", "bound", "optimum"]
    history = pd.DataFrame(json.loads(str(arrays["history"])), columns=columns)
    diagnostics = pd.DataFrame(json.loads(str(arrays["diagnostics"])))
    embedding = None
    if "embedding" in arrays and classes is not None:
        embedding = pd.DataFrame(arrays["embedding"], columns=["x", "y"])
        embedding["label"] = classes[arrays["embedding_y"]]
        embedding["role"] = np.where(arrays["embedding_test"], "test", "train")
    place = {name: position for position, name in enumerate(order)}
    ids = arrays["kernel_ids"].tolist()
    shown = sorted(range(len(ids)), key=lambda k: place.get(ids[k], len(place)))
    info = [
        sorted(rows, key=lambda row: place.get(row["id"], len(place)))
        for rows in json.loads(str(arrays["kernel_info"]))
    ]
    return records.FitRecord(
        dataset=entry.dataset, protocol=setting.protocol, train_size=setting.train_size, method=entry.method,
        method_title=entry.title, kernel_ids=[ids[k] for k in shown],
        weights=arrays["weights"][:, shown] if len(ids) > 1 else None,
        history=history if len(history) else None, diagnostics=diagnostics if len(diagnostics) else None,
        embedding=embedding,
        kernel_info=pd.DataFrame(info[0]).rename(columns={"id": "kernel"}) if info else None,
        confusion=confusion, classes=classes,
    )  # fmt: skip


def _numbers(rows: pd.DataFrame | None) -> pd.DataFrame | None:
    if rows is None:
        return None
    return rows.loc[rows["predicted"].notna(), ["repeat", "sample", "true", "predicted"]].astype({"sample": str})
