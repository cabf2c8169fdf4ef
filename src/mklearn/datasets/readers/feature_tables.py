"""Your own features: one Parquet, NPZ or CSV table per descriptor, a row per sample."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.atomic import read_npz
from mklearn.datasets.readers.tabular import (
    check_same_ids,
    check_unique,
    column_text,
    numeric_columns,
    read_frame,
    read_labels,
    require_names,
)
from mklearn.datasets.samples import SampleSet, encode_labels, some
from mklearn.errors import DataError


def read(
    paths: Mapping[str, Path], *, id_column: str = "id", label_column: str = "label", labels: str | None = None
) -> SampleSet:
    """Read tables that describe the same samples.

    Parameters
    ----------
    paths : dict of str to Path
        Descriptor name -> table. Parquet and CSV: a row per sample, one column of ids, perhaps one of labels, all
        others numbers. NPZ: an array of ids, perhaps one of labels, and one two-dimensional array of numbers.
        Order of rows is free; the first table's is taken.
    id_column, label_column : str
        Names of these columns or arrays.
    labels : str, optional
        Which of `paths` is a file with nothing but ids and labels. Without it the labels must stand in the tables;
        where they stand in several, they must agree.

    Returns
    -------
    SampleSet
        With ``tables``; classes in natural order.

    Raises
    ------
    DataError
        A column is missing, not a number or not finite; ids are repeated or differ between tables; labels are missing
        or disagree. Files, columns and ids are named.
    """
    named = {name: Path(path) for name, path in paths.items() if name != labels}
    if not named:
        raise DataError("feature tables: no table given")
    tables: dict[str, np.ndarray] = {}
    known: dict[Path, tuple[np.ndarray, np.ndarray]] = {}  # file -> (ids, labels)
    ids, first = np.array([], dtype=str), next(iter(named.values()))
    for name, path in named.items():
        own_ids, own_labels, values = _read_table(path, id_column, label_column)
        if path == first:
            ids = own_ids
        tables[name] = values[check_same_ids(own_ids, path, ids, first)]
        if own_labels is not None:
            known[path] = own_ids, own_labels
    if labels is not None:
        path = Path(paths[labels])
        known = {path: read_labels(path, id_column, label_column), **known}
    y_text = _agreed_labels(known, ids, first, label_column)
    y, classes = encode_labels(y_text)
    try:
        return SampleSet(ids=ids, y=y, classes=classes, tables=tables)
    except DataError as error:
        raise DataError(f"{', '.join(map(str, named.values()))}: {error}") from error


def _read_table(path: Path, id_column: str, label_column: str) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
    import pandas as pd

    raw_ids: Any
    raw_labels: Any
    if path.suffix == ".npz":
        arrays = read_npz(path)
        require_names(list(arrays), (id_column,), path, "array")
        numbers = [name for name in arrays if name not in (id_column, label_column) and arrays[name].ndim == 2]
        if len(numbers) != 1:
            raise DataError(f"{path}: expected one two-dimensional array of features, found {some(numbers) or 'none'}")
        values = arrays[numbers[0]]
        if len(values) != len(arrays[id_column]):
            raise DataError(f"{path}: {len(arrays[id_column])} ids but {len(values)} rows in {numbers[0]!r}")
        features = pd.DataFrame(values)
        raw_ids, raw_labels = arrays[id_column], arrays.get(label_column)
    else:
        frame = read_frame(path, (id_column, label_column))
        require_names(list(frame.columns), (id_column,), path, "column")
        features = frame.drop(columns=[id_column, label_column], errors="ignore")
        raw_ids, raw_labels = frame[id_column], frame.get(label_column)
    ids = column_text(raw_ids, path, id_column)
    check_unique(ids, path)
    if len(ids) == 0:
        raise DataError(f"{path}: no rows")
    own_labels = None if raw_labels is None else column_text(raw_labels, path, label_column, ids)
    return ids, own_labels, numeric_columns(features, path, ids)


def _agreed_labels(
    known: Mapping[Path, tuple[np.ndarray, np.ndarray]], ids: np.ndarray, first: Path, label_column: str
) -> np.ndarray:
    """Labels in the order of `ids`, equal in every file that has them."""
    if not known:
        raise DataError(f"{first}: no column {label_column!r}, and no labels file given (labels: ...)")
    agreed: np.ndarray | None = None
    source = first
    for path, (own_ids, own_labels) in known.items():
        ordered = own_labels[check_same_ids(own_ids, path, ids, first)]
        if agreed is None:
            agreed, source = ordered, path
        elif (ordered != agreed).any():
            differs = ordered != agreed
            example = int(np.argmax(differs))
            raise DataError(
                f"{path}: labels disagree with {source} for {some(ids[differs])}; "
                f"{ids[example]!r} is {ordered[example]!r} here and {agreed[example]!r} there"
            )
    assert agreed is not None
    return agreed
