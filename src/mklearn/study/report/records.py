"""Records of data sets and fits for the report, read from the files of a run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mklearn.atomic import read_npz
from mklearn.study.artefacts import read_record
from mklearn.study.data.registry import registry
from mklearn.study.data.samples import SampleSet
from mklearn.study.data.splits import Splits
from mklearn.study.evaluation.null_control import NullControl
from mklearn.study.evaluation.predictions import Predictions
from mklearn.study.provenance import key
from mklearn.study.report.wording import plural, scientific
from mklearn.study.specs.fit_spec import FitSpec

FILES_SHOWN = 64
"""Maximum number of files of a data set that the page lists."""


@dataclass(frozen=True)
class DataSetRecord:
    """A data set: size, licence, source, and ``files`` (name, source, SHA-256).

    ``warnings`` appear at the top of the page: omitted samples, groups that splits do not keep together, and a null
    control that is not passed. ``control`` is a sentence on a null control that is passed.
    """

    id: str
    title: str = ""
    n_samples: int | None = None
    n_classes: int | None = None
    licence: str = ""
    citation: str = ""
    homepage: str = ""
    note: str = ""
    warnings: tuple[str, ...] = ()
    control: str = ""
    files: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class FitRecord:
    """All repeats of one method on one data set and training size; ``method_title`` is its name in the report."""

    dataset: str
    protocol: str
    train_size: int | None
    method: str
    method_title: str
    weights: pd.DataFrame | None = None
    """Weights of the kernels (columns) in each repeat (rows); a failed repeat has a row of NaN."""
    history: pd.DataFrame | None = None
    """Objective after each step of an alternation, with columns ``repeat, fold, half_step, step, value,
    optimum``. ``optimum`` is the optimum of the objective ``value``, if known."""
    diagnostics: pd.DataFrame | None = None
    """Diagnostics of the method's solutions (``diagnostics_``, as of `mklearn.classifiers.fsvc.FSVC`), with ``repeat``
    and ``fold``."""
    chosen: pd.DataFrame | None = None
    """Choices, with columns ``dataset, protocol, train_size, method, repeat, fold, parameter, value, end``."""
    embedding: pd.DataFrame | None = None
    """First two dimensions of the embedding in one split, with columns ``x, y, label, role`` ("train" or "test")."""
    kernel_info: pd.DataFrame | None = None
    """Kernel diagnostics, one row per kernel (and repeat), with columns ``kernel, min_eigenvalue, off_diagonal_mass``
    and, if known, ``bandwidth, identity_like, constant``."""
    confusion: pd.DataFrame | None = None
    """Number of test samples of all repeats by true class (row) and predicted class (column), with the chosen
    parameters."""
    predicted: pd.DataFrame | None = None
    """Predictions of a numeric target, a row per test sample with columns ``repeat, fold, sample, true, predicted``."""
    survival: pd.DataFrame | None = None
    """Predictions of survival times: signed time ``true``, risk ``predicted``, survival ``decision_value``."""


def data_set_of(
    record: Mapping[str, Any], title: str, data: SampleSet, splits: Sequence[Splits], control: NullControl | None = None
) -> DataSetRecord:
    """Return the record of a data set; ``record`` is the provenance of its samples, ``splits`` are of all protocols."""
    name, entry = record["spec"]["dataset"], registry().get(record["spec"].get("registered", ""))
    about = {} if entry is None else {key: getattr(entry, key) for key in ("licence", "citation", "homepage")}
    notes = ["" if entry is None else entry.note, *(f"{note}." for note in data.notes)]
    if data.target == "survival":
        medians = [scientific(np.median(np.abs(times))) for times in (data.y, data.y[data.y > 0])]
        notes.insert(0, f"{plural(int(sum(data.y > 0)), 'event')}; median time {medians[0]}, of events {medians[1]}.")
    upstream = {} if entry is None else {file.name: next(iter(file.urls), "") for file in entry.files}
    files = [(file, upstream.get(file, ""), sha256) for file, sha256 in record["inputs"].get("files", {}).items()]
    warnings = [*_warnings(data, splits), *([] if control is None else [control.sentence])]
    passed = warnings.pop() if control is not None and control.is_passed else ""
    return DataSetRecord(
        id=name, title=title, n_samples=len(data), n_classes=len(data.classes) or None,
        note=" ".join(filter(None, notes)), warnings=tuple(warnings), control=passed,
        files=tuple(files[:FILES_SHOWN]), **about,
    )  # fmt: skip


def _warnings(data: SampleSet, splits: Sequence[Splits]) -> Iterator[str]:
    """Yield warnings about omitted samples, and about splits that divide equal samples or the samples of a group."""
    yield from (note for note in data.notes if "sample" in note)
    of_group = (
        "of a group that has training samples too, although the data set has groups; the protocol group_k_fold holds "
        "out whole groups"
    )
    equal, single = data.first_equal(), [each for each in splits if each.samples is None]
    for names, text in ((data.groups, of_group), (equal, "that equal others, and those are training samples")):
        if names is not None and (n := sum(each.n_dividing(names) for each in single)):
            yield f"{n} of {sum(map(len, single))} splits test some samples {text}"


def fits_of(
    path: Path, samples: Mapping[str, SampleSet], titles: Mapping[str, str], predicted: Predictions,
    order: Sequence[str], rule: str,
) -> Iterator[FitRecord]:  # fmt: skip
    """Yield one record per training size of a fit, from its file.

    ``samples`` are by data set, ``titles`` by method. ``order`` lists the study's kernels; ``rule`` is the headline's.
    """
    arrays, spec = read_npz(path), FitSpec.model_validate(read_record(path)["spec"])
    data = samples[spec.dataset]
    classes = arrays.get("classes", data.classes)
    for setting in spec.settings:
        start = f"{setting.protocol}/"
        of_setting = {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
        place = {"dataset": spec.dataset, **setting.model_dump(), "method": spec.method.id}
        fit, keys = _fit(of_setting, place, titles[spec.method.id], order, classes), place | {"neighbour": rule}
        if data.target == "classes":
            counts = predicted.confusion(keys, len(classes))
            yield replace(fit, confusion=pd.DataFrame(counts, classes.tolist(), classes.tolist()))
        else:
            rows = predicted.by_rule(keys)
            rows = None if rows is None else rows[rows["predicted"].notna()].astype({"sample": str})
            yield replace(fit, survival=rows) if data.target == "survival" else replace(fit, predicted=rows)


def _fit(
    arrays: dict[str, np.ndarray], place: dict[str, Any], title: str, order: Sequence[str], classes: np.ndarray
) -> FitRecord:
    tables: dict[str, Any] = {name: pd.DataFrame(json.loads(str(arrays[name]))) for name in ("history", "diagnostics")}
    tables["chosen"] = pd.DataFrame([place | row for row in json.loads(str(arrays["chosen"]))])
    embedding = None
    if "embedding" in arrays and len(classes):
        embedding = pd.DataFrame(arrays["embedding"], columns=["x", "y"])
        embedding["label"] = classes[arrays["embedding_y"]]
        embedding["role"] = np.where(arrays["embedding_test"], "test", "train")
    position = {name: k for k, name in enumerate(order)}
    by_key = {key(name, "").rpartition("-")[0]: name for name in order}  # views of a dictionary are named by their keys
    ids = [name if name in position else by_key.get(name, name) for name in arrays["kernel_ids"].tolist()]
    shown = sorted(range(len(ids)), key=lambda k: position.get(ids[k], len(position)))
    info: list[dict[str, Any]] = next(iter(json.loads(str(arrays["kernel_info"]))), [])
    info.sort(key=lambda row: position.get(row["id"], len(position)))
    weights = pd.DataFrame(arrays["weights"], columns=ids).iloc[:, shown] if len(ids) > 1 else None
    return FitRecord(
        method_title=title, weights=weights, embedding=embedding,
        kernel_info=pd.DataFrame(info).rename(columns={"id": "kernel"}) if info else None,
        **place | {name: table if len(table) else None for name, table in tables.items()},
    )  # fmt: skip
