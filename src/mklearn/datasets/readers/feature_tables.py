"""Own features: one Parquet, NPZ or CSV table per descriptor, a row per sample."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mklearn.datasets.readers.tabular import Table, numeric_values, read_labels, row_order
from mklearn.datasets.samples import SampleSet, some
from mklearn.errors import DataError


def read(
    paths: Mapping[str, Path], *, id_column: str = "id", label_column: str = "label", labels: str | None = None
) -> SampleSet:
    """Read tables that describe the same samples.

    Parameters
    ----------
    paths : dict of str to Path
        Descriptor name -> table. Parquet and CSV: a row per sample, a column of ids, optionally one of labels, all
        others numbers. NPZ: an array of ids, optionally one of labels, and one two-dimensional array of numbers.
        Rows may be in any order; the order of the first table is used.
    id_column, label_column : str
        Names of these columns or arrays.
    labels : str, optional
        Key in `paths` of a file with ids and labels only. Without it, at least one table must have labels; labels of
        several files must agree.

    Returns
    -------
    SampleSet
        With ``tables``; classes in natural order.

    Raises
    ------
    DataError
        A column is missing, not numeric or not finite; ids are repeated or differ between tables; labels are missing
        or disagree. The message names files, columns and ids.
    """
    named = {name: Path(path) for name, path in paths.items() if name != labels}
    if not named:
        raise DataError("feature tables: no table given")
    first = next(iter(named.values()))
    ids = np.array([], dtype=str)
    tables: dict[str, np.ndarray] = {}
    labels_of: dict[Path, np.ndarray] = {}
    for name, path in named.items():
        table = Table(path, (id_column, label_column))
        own_ids = table.unique_ids(id_column)
        if len(own_ids) == 0:
            raise DataError(f"{path}: no rows")
        if path == first:
            ids = own_ids
        order = row_order(own_ids, path, ids, first)
        tables[name] = numeric_values(table.numbers(), path, own_ids)[order]
        if label_column in table:
            labels_of[path] = table.text(label_column, own_ids)[order]
    if labels is not None:
        path = Path(paths[labels])
        own_ids, own_labels = read_labels(path, id_column, label_column)
        labels_of = {path: own_labels[row_order(own_ids, path, ids, first)], **labels_of}
    if not labels_of:
        raise DataError(f"{first}: no column {label_column!r}, and no labels file given (labels: ...)")
    try:
        return SampleSet.from_labels(ids, _agreed_labels(labels_of, ids), tables=tables)
    except DataError as error:
        raise DataError(f"{', '.join(map(str, named.values()))}: {error}") from error


def _agreed_labels(labels_of: Mapping[Path, np.ndarray], ids: np.ndarray) -> np.ndarray:
    """Return the labels of the first file if those of all others are equal."""
    (source, agreed), *others = labels_of.items()
    for path, labels in others:
        differs = labels != agreed
        if differs.any():
            example = int(np.argmax(differs))
            raise DataError(
                f"{path}: labels disagree with {source} for {some(ids[differs])}; "
                f"{ids[example]!r} is {labels[example]!r} here and {agreed[example]!r} there"
            )
    return agreed
