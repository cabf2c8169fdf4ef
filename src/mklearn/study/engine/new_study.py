"""A study file for the user's own data: images, tables of features, or matrices, with what their files say."""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.atomic import file_content
from mklearn.errors import ConfigError, DataError
from mklearn.study.config.datasets import ImageFolder
from mklearn.study.config.model import DEFAULT_PROTOCOLS
from mklearn.study.config.reading import check_study
from mklearn.study.config.targets import target_kind
from mklearn.study.config.yaml_file import yaml_text
from mklearn.study.data.read import read_dataset
from mklearn.study.data.readers.content import decode_image
from mklearn.study.data.readers.image_folder import find_images
from mklearn.study.data.readers.table_files import SUFFIXES
from mklearn.study.data.readers.tabular import GROUP_NAMES, named_like
from mklearn.study.data.readers.text_tables import slug, table_stem
from mklearn.study.data.registry import dataset_spec
from mklearn.study.data.samples import SampleSet, some
from mklearn.study.engine.data_check import heavy_tailed_views
from mklearn.study.engine.found_data import (
    BATCH_NAMES,
    LABEL_NAMES,
    Column,
    FoundData,
    FoundTable,
)
from mklearn.study.plan.plan import plan_study

FOLDS = int(DEFAULT_PROTOCOLS["5-fold"]["folds"])
MODEL = "multi-view"
"""The method of the model at the end: the default method that has probabilities, or intervals of numbers."""
_FEWEST_GROUPS = 5
_LOOKED_AT = 40
"""Images that are looked at for colour."""
_COLOURED = 16
"""Mean difference between the channels of a pixel from which an image is in colour, of 255."""
Entry = dict[str, Any]


@dataclass(frozen=True)
class Choices:
    """What a user has said of tables; what is empty or None is found out.

    Attributes
    ----------
    id_column, label_column : str
        Columns of ids and classes.
    target : str
        In place of a label column: the column of what is predicted, classes or numbers.
    group_column : str or None
        Column of groups; an empty text for none.
    views : sequence of str
        Names of the tables that are views; by default all but a table with the labels beside others.
    missing_views : {"error", "drop", "mean"} or None
        What the study does with samples that lack a table.
    impute : {"none", "mean", "median"} or None
        How it fills in single missing values.
    measure : str or None
        What square matrices hold.
    id_prefix : int or None
        Number of characters of each id that count; None: all.
    """

    id_column: str = "id"
    label_column: str = "label"
    target: str = ""
    group_column: str | None = None
    views: Sequence[str] = ()
    missing_views: str | None = None
    impute: str | None = None
    measure: str | None = None
    id_prefix: int | None = None

    @property
    def predicted(self) -> str:
        """The column of what is predicted."""
        return self.target or self.label_column


@dataclass(frozen=True)
class NewStudy:
    """The text of a study file that is valid, and sentences about the data."""

    name: str
    text: str
    notes: tuple[str, ...]


def new_study(found: FoundData, choices: Choices = Choices(), name: str = "") -> NewStudy:
    """Write a study of the data with the defaults of mklearn, and check it.

    Parameters
    ----------
    found : FoundData
    choices : Choices
    name : str
        Of the study and its data set; by default that of the folder or file.

    Raises
    ------
    DataError
        The data can't be used: the reader's message, or a class of one sample.
    ConfigError
        The name is invalid, or choices contradict the data.
    """
    name = name or slug(table_stem(found.path.resolve()) if found.path.is_file() else found.path.resolve().name)
    if found.tables:
        of = _of_matrices if found.matrices else _of_tables
        entry, samples, taken = of(found, choices)
        if choices.group_column is None and samples.groups is not None and _least_groups(samples) < 2:
            entry, samples, taken = of(found, replace(choices, group_column=""))  # no class can be held out by groups
        labels: Any = samples.y if samples.target == "numbers" else samples.classes[samples.y].tolist()
        notes = [*taken, *samples.notes, *heavy_tailed_views(samples)]
        if found.others:
            notes.append(f"Left out, because they are no tables ({', '.join(SUFFIXES)}): {some(found.others)}.")
        groups: Sequence[str] = list(map(str, samples.groups)) if samples.groups is not None else []
    else:
        entry, notes = _of_images(found.path)
        labels, groups = [file.parent.name for file in find_images(found.path)], []
    folds, about = _folds(labels, groups)
    study: Entry = {"study": name, "datasets": {name: entry}}
    if groups or folds < FOLDS:
        kind = "group_k_fold" if groups else "k_fold"
        study["protocols"] = {f"{folds}-fold": {"kind": kind, "folds": folds}}
    if not found.matrices:
        study["final"] = {"method": MODEL}
    plan_study(check_study(study, source="the data"))
    return NewStudy(name, f"# {about}\n{yaml_text(study)}", (about, *notes))


# --- images


def _of_images(folder: Path) -> tuple[Entry, list[str]]:
    """Return the entry of a folder of images, in colour if they are, and a sentence about it."""
    size = ImageFolder.model_fields["resize"].default
    colour = "rgb" if _in_colour(find_images(folder)) else "grey"
    shape = list(size.shape)
    entry = {"kind": "image_folder", "path": shown(folder), "colour": colour, "resize": {"shape": shape}}
    what = "in colour (colour: rgb)" if colour == "rgb" else "in grey (colour: grey)"
    return entry, [f"Images are read {what} and resized to {shape[0]} x {shape[1]} pixels (resize)."]


def _in_colour(files: Sequence[Path]) -> bool:
    """Return whether half of the images are in colour, of some that are looked at; broken ones are left to others."""
    found = []
    for file in files[:: max(1, -(-len(files) // _LOOKED_AT))]:
        try:
            pixels = decode_image(file_content(file), str(file), "rgb")
        except DataError:
            continue
        found.append(float(np.ptp(pixels, axis=2).mean()) >= _COLOURED)
    return 2 * sum(found) >= len(found) > 0


# --- matrices


def _of_matrices(found: FoundData, choices: Choices) -> tuple[Entry, SampleSet, list[str]]:
    """Return the entry of square matrices and a table of labels, the samples, and sentences about what was taken."""
    holder, taken = _holder_of_labels(found, choices)
    if holder is None:
        raise DataError(
            f"{found.path}: {some(list(found.matrices))} are square matrices, and no table has the column "
            f"{choices.predicted!r} of their labels; name one with --labels FILE."
        )
    _check_ids(found, choices, holder)
    measure, told = _measure_of(found, choices)
    taken.append(told)
    others = [name for name, table in found.plain.items() if table.path != holder.path]
    if others:
        taken.append(f"Left out, because a data set holds matrices or tables: {some(others)}.")
    entry: Entry = {"kind": "precomputed", "measure": measure, "labels": shown(holder.path)}
    entry |= {"matrices": {name: shown(table.path) for name, table in found.matrices.items()}}
    entry |= _said(choices)
    groups, of_groups = _groups([holder], choices)
    entry |= {"group_column": groups} if groups else {}
    return entry, _read(entry), [*taken, *of_groups]


def _check_ids(found: FoundData, choices: Choices, holder: FoundTable) -> None:
    """Refuse ids of another name than in the table of labels: they would not be read."""
    for table in found.matrices.values():
        if choices.id_column not in table.columns and any(column.may_be_ids for column in table.columns.values()):
            raise DataError(
                f"{table.path}: has ids in {some(list(table.columns))}, and {holder.path} in {choices.id_column!r}; "
                "give them one name, and say it with --id."
            )


def _measure_of(found: FoundData, choices: Choices) -> tuple[str, str]:
    """Return what all matrices hold, and a sentence about it."""
    measures = {choices.measure or table.measure for table in found.matrices.values()}
    if len(measures) > 1:
        kernels = [name for name, table in found.matrices.items() if table.measure == "kernel"]
        raise DataError(
            f"{found.path}: {some(kernels)} look like kernels and the other square matrices like distances; a data set "
            "has one of both: put them into folders of their own, or say --measure."
        )
    (measure,) = measures
    by = "" if choices.measure else f", by their diagonal of {'zeros' if measure == 'distance' else 'positive values'}"
    return (
        measure,
        f"{some(list(found.matrices))} are square and symmetric: matrices of pairs (measure: {measure}{by}).",
    )


# --- tables


def _of_tables(found: FoundData, choices: Choices) -> tuple[Entry, SampleSet, list[str]]:
    """Return the entry of tables of features, the samples, and sentences about what was taken for what."""
    unknown = sorted(set(choices.views) - set(found.tables))
    if unknown:
        raise ConfigError(f"--views {unknown[0]}: there is no such table; valid: {', '.join(found.tables)}.")
    holder, taken = _holder_of_labels(found, choices)
    views = {name: table for name, table in found.tables.items()
             if (name in choices.views if choices.views else holder is None or table.path != holder.path)}  # fmt: skip
    entry: Entry = {"kind": "feature_tables"}
    entry["tables"] = {
        name: {"path": shown(table.path), "array": table.array} if table.array else shown(table.path)
        for name, table in views.items()
    }
    if holder is not None:
        entry["labels"] = shown(holder.path)
    entry |= _said(choices)
    holders = [holder] if holder is not None else [t for t in views.values() if choices.predicted in t.names]
    groups, told = _groups(holders, choices)
    left_out = _no_features(views.values(), choices, groups)
    if left_out:
        entry["leave_out"] = left_out
        told.append(f"Columns that are no features: {some(left_out)} (leave_out).")
    entry |= {"group_column": groups} if groups else {}
    return *_read_tables(entry, choices), [*taken, *told]


def _holder_of_labels(found: FoundData, choices: Choices) -> tuple[FoundTable | None, list[str]]:
    """Return the table that holds labels and no features: the one that is named, or the only one that has the column.

    Other tables may repeat the labels, of a table that holds nothing else.
    """
    if found.labels is not None:
        return found.labels, []
    column = choices.predicted
    text = {choices.id_column, column, choices.group_column}
    holding = {name: t for name, t in found.plain.items() if column in t.names and t.holds_features_as_columns}
    alone = [name for name, table in holding.items() if set(table.names) <= text]
    chosen = alone if len(alone) == 1 else list(holding)
    everywhere = [table for table in found.plain.values() if column in table.names and not alone]
    if len(chosen) != 1 or len(found.tables) == 1 or len(everywhere) > 1 or chosen[0] in choices.views:
        return None, []
    holder = holding[chosen[0]]
    others = [name for name in holder.names if name not in text]
    if not others:
        return holder, []
    more = "" if found.matrices else f"; --views {' '.join(found.tables)} makes it a view too"
    return holder, [f"{holder.path} holds the labels ({column!r}), and its other columns are no features{more}."]


def _said(choices: Choices) -> Entry:
    """Return what a study has to say of columns."""
    given = {"id_column": choices.id_column, "label_column": choices.label_column, "target": choices.target,
             "id_prefix": choices.id_prefix}  # fmt: skip
    usual = {"id_column": "id", "label_column": "label", "target": "", "id_prefix": None}
    if choices.target:
        del given["label_column"]
    return {key: value for key, value in given.items() if value != usual[key]}


def _groups(holders: Sequence[FoundTable], choices: Choices) -> tuple[str, list[str]]:
    """Return the column of groups, if there is one, and a sentence about it."""
    if choices.group_column is not None:
        return choices.group_column, []
    known = (choices.id_column, choices.predicted)
    columns = {name: column for table in holders for name, column in table.columns.items()
               if name not in known and 1 < column.n_distinct < column.n_values}  # fmt: skip
    for name, column in columns.items():
        complete = column.n_values == column.n_rows
        if named_like(name, GROUP_NAMES) and column.n_distinct >= _FEWEST_GROUPS and complete:
            return name, [f"Folds hold out whole groups: {name!r} has {column.n_distinct} (--group '' for none)."]
    told = [
        f"{name!r} has {column.n_distinct} values; --group {name} holds out whole ones"
        f"{'' if column.n_values == column.n_rows else ', once every sample has one'}."
        for name, column in columns.items()
        if named_like(name, (*GROUP_NAMES, *BATCH_NAMES))
    ]
    return "", told


def _no_features(views: Iterable[FoundTable], choices: Choices, groups: str) -> list[str]:
    """Return columns of text, groups and batches, which are no features."""
    known = (choices.id_column, choices.predicted, groups)
    found = [
        name
        for table in views
        if table.holds_features_as_columns
        for name, column in table.columns.items()
        if name not in known
        and ((column.is_text and column.n_values) or named_like(name, (*GROUP_NAMES, *BATCH_NAMES)))
    ]
    return list(dict.fromkeys(found))


# --- reading


def _read_tables(entry: Entry, choices: Choices) -> tuple[Entry, SampleSet]:
    """Read tables, with the treatments of gaps that they need, of those that are not said.

    Raises
    ------
    DataError
        The reader's message, or most samples lack a table, so that ids are likely to be written in several ways.
    """
    missing = [choices.missing_views] if choices.missing_views else ["error", "mean"]
    impute = [choices.impute] if choices.impute else ["none", "median"]
    treatments = list(itertools.product(missing, impute))
    entries = [entry | _unusual(views, values) for views, values in treatments]
    samples = _read(entries[-1])
    lacking = [np.isnan(samples.tables[name]).all(axis=1) for name in samples.incomplete]
    if lacking and not choices.missing_views and 2 * np.logical_or.reduce(lacking).sum() > len(samples):
        raise DataError(
            f"{', '.join(samples.incomplete)}: most of the {len(samples)} samples lack one of these tables. Are ids "
            "written alike in all of them? If samples are missing there, say so: --missing-views mean (or drop)."
        )
    for stricter in entries[:-1]:
        try:
            return stricter, _read(stricter)
        except DataError:
            continue  # it has gaps that this does not treat
    return entries[-1], samples


def _unusual(missing_views: str, impute: str) -> Entry:
    given = {"missing_views": missing_views, "impute": impute}
    return {key: value for key, value in given.items() if value not in ("error", "none")}


def _read(entry: Entry) -> SampleSet:
    return read_dataset(dataset_spec(entry | {"task": target_kind(entry)}))


def _least_groups(samples: SampleSet) -> int:
    """Return the number of groups of the class that has the fewest; of numbers to predict, of all samples."""
    assert samples.groups is not None
    if samples.target == "numbers":
        return len(set(samples.groups.tolist()))
    return min(len(set(samples.groups[samples.y == code].tolist())) for code in range(len(samples.classes)))


# --- columns that are not said


def likely_ids(found: FoundData) -> str | None:
    """Return the column of ids: `id`, or the only one that all text tables have and whose text differs in each row."""
    if "id" in found.columns or not found.plain:
        return "id"
    tables = [table for table in found.described if table.holds_features_as_columns]
    candidates = [{name for name, column in table.columns.items() if column.may_be_ids} for table in tables]
    common = set.intersection(*candidates) if candidates else set()
    return common.pop() if len(common) == 1 else None


def likely_labels(found: FoundData, id_column: str) -> tuple[str | None, dict[str, Column]]:
    """Return the column of labels, if it can be told, and all columns that may be it.

    It is `label`, or the first with another usual name, or the only one of text with few values that is no group.
    """
    if "label" in found.columns:
        return "label", {}
    candidates = {
        name: column
        for table in found.described
        for name, column in table.columns.items()
        if name != id_column
        and column.may_be_labels
        and ((column.is_text and not named_like(name, (*GROUP_NAMES, *BATCH_NAMES))) or named_like(name, LABEL_NAMES))
    }
    usual = [name for name in candidates if named_like(name, LABEL_NAMES)]
    usual.sort(key=lambda name: [named_like(name, (one,)) for one in LABEL_NAMES].index(True))
    chosen = usual or (list(candidates) if len(candidates) == 1 else [])
    return (chosen[0] if chosen else None), candidates


# --- the study


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


def shown(path: Path) -> str:
    """Return a path as the study has it: from the present folder if it lies there."""
    relative = os.path.relpath(path)
    return str(path.resolve()) if relative.startswith("..") else relative
