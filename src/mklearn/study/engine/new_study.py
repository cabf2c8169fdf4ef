"""A study file for the user's own data: a folder of images with one sub-folder per class, or tables of features."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.errors import ConfigError, DataError
from mklearn.study.config.model import DEFAULT_PROTOCOLS
from mklearn.study.config.reading import check_study
from mklearn.study.config.targets import target_kind
from mklearn.study.config.yaml_file import yaml_text
from mklearn.study.data.read import read_dataset
from mklearn.study.data.readers.annotated_data import MUDATA, arrays_of
from mklearn.study.data.readers.content import IMAGE_SUFFIXES, is_hidden
from mklearn.study.data.readers.image_folder import find_images
from mklearn.study.data.readers.table_files import SUFFIXES, column_names
from mklearn.study.data.readers.text_tables import table_stem, table_suffix
from mklearn.study.data.registry import dataset_spec
from mklearn.study.plan.plan import plan_study

FOLDS = int(DEFAULT_PROTOCOLS["5-fold"]["folds"])


@dataclass(frozen=True)
class FoundData:
    """What lies at a path: tables, or images in class folders."""

    path: Path
    tables: Mapping[str, Path] = field(default_factory=dict)
    """Files by descriptor name; none where there are images."""
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of the columns or arrays of each table."""
    arrays: Mapping[str, str] = field(default_factory=dict)
    """Modality of each table that is one of a MuData file."""


@dataclass(frozen=True)
class NewStudy:
    """The text of a study file that is valid, and sentences about the data."""

    name: str
    text: str
    notes: tuple[str, ...]


def find_data(place: str | Path) -> FoundData:
    """Look for images in class folders, or for tables, at a path: a folder, or one table.

    Raises
    ------
    DataError
        There is neither, or a table can't be read.
    """
    path = Path(place)
    if path.is_file():
        files = [path]
    elif not path.is_dir():
        raise DataError(f"{path}: there is no such folder or file.")
    elif _has_class_folders(path):
        return FoundData(path)
    else:
        files = sorted(file for file in path.iterdir() if table_suffix(file) in SUFFIXES and not is_hidden(file.name))
    if not files:
        raise DataError(
            f"{path}: expected one sub-folder per class with images in it ({', '.join(IMAGE_SUFFIXES)}), or tables "
            f"({', '.join(SUFFIXES)})."
        )
    tables = {slug(table_stem(file)): file for file in files if file.suffix != MUDATA}
    modalities = [(slug(array), file, array) for file in files if file.suffix == MUDATA for array in arrays_of(file)[1]]
    if len({*tables, *(name for name, _, _ in modalities)}) < len(modalities) + sum(f.suffix != MUDATA for f in files):
        raise ConfigError(f"{path}: names of tables differ in a-z, 0-9, '.', '_' and '-'; rename one of them.")
    tables |= {name: file for name, file, _ in modalities}
    columns = {name: column_names(file) for name, file in tables.items()}
    return FoundData(path, tables, columns, {name: array for name, _, array in modalities})


def new_study(
    found: FoundData, *, name: str = "", id_column: str = "id", label_column: str = "label", group_column: str = "",
    missing_views: str = "error", target: str = "",
) -> NewStudy:  # fmt: skip
    """Write a study of the data with the defaults of mklearn, and check it.

    Parameters
    ----------
    found : FoundData
    name : str
        Of the study and its data set; by default that of the folder or file.
    id_column, label_column, group_column : str
        Of tables; without a group column samples have no groups.
    target : str
        In place of a label column: the column of what is predicted, classes or numbers.
    missing_views : {"error", "drop", "mean"}
        What the study does with samples that lack a table.

    Raises
    ------
    DataError
        The data can't be used: the reader's message, or a class of one sample.
    ConfigError
        The name is invalid.
    """
    name = name or slug(table_stem(found.path.resolve()) if found.path.is_file() else found.path.resolve().name)
    entry: dict[str, Any]
    if found.tables:
        text = {id_column, target or label_column, group_column}
        alone = [key for key, columns in found.columns.items() if set(columns) <= text]  # a file of labels
        tables = {
            key: {"path": _shown(path), "array": found.arrays[key]} if key in found.arrays else _shown(path)
            for key, path in found.tables.items()
            if alone != [key]
        }
        entry = {"kind": "feature_tables", "tables": tables}
        if len(alone) == 1 and tables:
            entry["labels"] = _shown(found.tables[alone[0]])
        given = {"id_column": id_column, "label_column": label_column, "target": target, "group_column": group_column}
        given["missing_views"] = missing_views
        usual = {"id_column": "id", "label_column": "label", "missing_views": "error"}
        entry |= {key: value for key, value in given.items() if value != usual.get(key, "")}
        samples = read_dataset(dataset_spec(entry | {"task": target_kind(entry)}))
        labels: Any = samples.y if samples.target == "numbers" else samples.classes[samples.y].tolist()
        notes = list(samples.notes)
        groups: Sequence[str] = list(map(str, samples.groups)) if samples.groups is not None else []
    else:
        entry = {"kind": "image_folder", "path": _shown(found.path)}
        labels, notes, groups = [file.parent.name for file in find_images(found.path)], [], []
    folds, about = _folds(labels, groups)
    study: dict[str, Any] = {"study": name, "datasets": {name: entry}}
    if groups or folds < FOLDS:
        kind = "group_k_fold" if groups else "k_fold"
        study["protocols"] = {f"{folds}-fold": {"kind": kind, "folds": folds}}
    plan_study(check_study(study, source="the new study"))
    return NewStudy(name, f"# {about}\n{yaml_text(study)}", (about, *notes))


def slug(text: str) -> str:
    """Return a text as the name of a study or descriptor."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-._")[:60].strip("-._") or "data"


def _has_class_folders(folder: Path) -> bool:
    inside = (
        file for part in folder.iterdir() if part.is_dir() and not is_hidden(part.name) for file in part.iterdir()
    )
    return any(file.suffix.lower() in IMAGE_SUFFIXES for file in inside)


def _folds(labels: Sequence[Any] | np.ndarray, groups: Sequence[str]) -> tuple[int, str]:
    """Return how many folds the smallest class, or the number of samples, allows, and a sentence about the data."""
    if isinstance(labels, np.ndarray):
        n_units = len(set(groups)) if groups else len(labels)
        in_groups = f" in {n_units} groups" if groups else ""
        if n_units < 2:
            raise DataError("all samples are of one group: cross-validation over groups needs 2.")
        about = f"{len(labels)} samples{in_groups} with numbers to predict, from {labels.min():g} to {labels.max():g}."
        return min(FOLDS, n_units), about
    sizes = Counter(label for label, _ in set(zip(labels, groups, strict=True))) if groups else Counter(labels)
    smallest, n = min(sizes.items(), key=lambda item: item[1])
    unit = "group" if groups else "sample"
    about = f"{len(labels)} samples of {len(sizes)} classes; the smallest has {n} {unit}{'s' * (n != 1)}."
    if n < 2:
        raise DataError(f"class {smallest!r} has 1 {unit}: cross-validation needs 2. Add some, or leave the class out.")
    return min(FOLDS, n), about


def _shown(path: Path) -> str:
    """Return a path as a study has it: from the present folder if it lies there."""
    relative = os.path.relpath(path)
    return str(path.resolve()) if relative.startswith("..") else relative
