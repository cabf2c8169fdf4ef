"""Own features: one Parquet, NPZ or CSV table per descriptor, a row per sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.datasets.readers.tabular import Table, numeric_values, row_order, suspicious_columns
from mklearn.datasets.samples import SampleSet, some
from mklearn.errors import DataError


def read(
    paths: Mapping[str, Path], *, id_column: str = "id", label_column: str = "label", group_column: str | None = None,
    labels: str | None = None,
) -> SampleSet:  # fmt: skip
    """Read tables that describe the same samples.

    Parameters
    ----------
    paths : dict of str to Path
        Descriptor name -> table. Parquet and CSV: a row per sample, a column of ids, optionally one of labels, all
        others numbers. NPZ: an array of ids, optionally one of labels, and one two-dimensional array of numbers.
        Rows may be in any order; the order of the first table is used.
    id_column, label_column : str
        Names of these columns or arrays.
    group_column : str, optional
        Name of the column or array of groups, such as persons, in the files that may hold the labels.
    labels : str, optional
        Key in `paths` of a file with ids, labels and groups only. Without it, at least one table must have labels;
        those of several files must agree.

    Returns
    -------
    SampleSet
        With ``tables``; classes in natural order; ``notes`` about columns that are probably no features, see
        :func:`mklearn.datasets.readers.tabular.suspicious_columns`.

    Raises
    ------
    DataError
        A column has no name, is missing, not numeric or not finite; ids are repeated or differ between tables; labels
        are missing, disagree, or are not one for each id. The message names files, columns and ids.
    """
    named = {name: Path(path) for name, path in paths.items() if name != labels}
    if not named:
        raise DataError("feature tables: no table given")
    first = next(iter(named.values()))
    ids = np.array([], dtype=str)
    tables: dict[str, np.ndarray] = {}
    columns: dict[str, list[Any]] = {}
    text_columns = [column for column in (id_column, label_column, group_column) if column]
    labels_of: dict[Path, np.ndarray] = {}
    groups_of: dict[Path, np.ndarray] = {}
    for name, path in named.items():
        table = Table(path, text_columns)
        own_ids = table.unique_ids(id_column)
        if len(own_ids) == 0:
            raise DataError(f"{path}: no rows")
        if path == first:
            ids = own_ids
        order = row_order(own_ids, path, ids, first)
        numbers = table.numbers()
        columns[name] = list(numbers.columns)
        tables[name] = numeric_values(numbers, path, own_ids)[order]
        if label_column in table:
            labels_of[path] = table.text(label_column, own_ids)[order]
        if group_column and group_column in table:
            groups_of[path] = table.text(group_column, own_ids)[order]
    if labels is not None:
        path = Path(paths[labels])
        table = Table(path, text_columns)
        own_ids = table.unique_ids(id_column)
        order = row_order(own_ids, path, ids, first)
        labels_of = {path: table.text(label_column, own_ids)[order], **labels_of}
        if group_column and group_column in table:
            groups_of = {path: table.text(group_column, own_ids)[order], **groups_of}
    if not labels_of:
        raise DataError(f"{first}: no column {label_column!r}, and no labels file given (labels: ...)")
    if group_column and not groups_of:
        raise DataError(f"{paths[labels] if labels else first}: no column {group_column!r} of groups (group_column)")
    groups = _agreed(groups_of, ids, "groups") if group_column else None
    try:
        samples = SampleSet.from_labels(ids, _agreed(labels_of, ids, "labels"), tables=tables, groups=groups)
    except DataError as error:
        raise DataError(f"{', '.join(map(str, named.values()))}: {error}") from error
    notes = [
        note
        for name, path in named.items()
        for note in suspicious_columns(tables[name], columns[name], samples.y, path)
    ]
    return replace(samples, notes=tuple(notes))


def _agreed(found: Mapping[Path, np.ndarray], ids: np.ndarray, what: str) -> np.ndarray:
    """Return the labels or groups of the first file if those of all others are equal."""
    (source, agreed), *others = found.items()
    for path, values in others:
        differs = values != agreed
        if differs.any():
            example = int(np.argmax(differs))
            raise DataError(
                f"{path}: {what} disagree with {source} for {some(ids[differs])}; "
                f"{str(ids[example])!r} is {str(values[example])!r} here and {str(agreed[example])!r} there"
            )
    return agreed
