"""Own kernel or distance matrices: one square table or array per matrix, and a file of ids and labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from mklearn.errors import DataError
from mklearn.study.data.readers.table_files import Table
from mklearn.study.data.readers.tabular import missing_hint, numeric_values, row_order, unlabelled_note
from mklearn.study.data.samples import SampleSet
from mklearn.study.data.text_tables import MISSING, SEPARATORS, first_rows, is_number, table_suffix
from mklearn.study.specs.data_specs import TargetKind

# Relative to the largest entry: the rounding of single precision or of a file with seven digits.
_SYMMETRY_TOLERANCE = 1e-6


def read(
    paths: Mapping[str, Path], *, labels: str, measure: str = "kernel", id_column: str = "id",
    label_column: str = "label", group_column: str | None = None, task: TargetKind = "classes",
    missing_labels: Sequence[str] = MISSING,
) -> SampleSet:  # fmt: skip
    """Read pairwise matrices of the same samples, one file each; `labels` is the key of the labels file in `paths`.

    Tables have a row per sample, a column of ids and one column per sample, named by its id. Text tables without a
    header, of numbers only, are in the order of the labels file. NPZ and MATLAB files have one square array, and
    optionally an array of ids (without it, the order of the labels file). Rows and columns are brought to the order of
    the labels file, and samples without a label left out.

    `measure` says what matrices hold: "kernel", "distance", "squared_euclidean" or "chi2". They are made exactly
    symmetric: differences between K[i, j] and K[j, i] up to 1e-6 of the largest entry count as rounding and are
    averaged. ``notes`` has the smallest eigenvalue of each kernel. `missing_labels` are words that stand for no label,
    group or number.
    """
    labels_path = Path(paths[labels])
    columns = [column for column in (label_column, group_column) if column]
    table = Table(labels_path, id_column, columns, missing=missing_labels)
    ids = table.unique_ids(id_column)
    label_text = table.labels(label_column, ids, task)
    words = frozenset(table.missing_words)
    groups = table.text(group_column, ids) if group_column else None
    matrices: dict[str, np.ndarray] = {}
    notes: list[str] = []
    for name, path in paths.items():
        if name != labels:
            matrix = _read_matrix(Path(path), id_column, ids, labels_path)
            matrices[name] = _checked(matrix, Path(path), ids, measure)
            if measure == "kernel":
                notes.append(_spectrum_note(matrices[name], Path(path)))
    labelled = np.flatnonzero(label_text != "")
    if not len(labelled):
        raise DataError(f"{labels_path}: no sample has a label (column {label_column!r}){missing_hint(words)}")
    notes += unlabelled_note(len(ids) - len(labelled), task, words)
    try:
        made = SampleSet.from_labels if task == "classes" else SampleSet.from_numbers
        return made(
            ids[labelled], label_text[labelled], measures=dict.fromkeys(matrices, measure), notes=tuple(notes),
            matrices={name: matrix[np.ix_(labelled, labelled)] for name, matrix in matrices.items()},
            groups=None if groups is None else groups[labelled],
        )  # fmt: skip
    except DataError as error:
        raise DataError(f"{labels_path}: {error}{missing_hint(words)}") from error


def _read_matrix(path: Path, id_column: str, ids: np.ndarray, labels_path: Path) -> np.ndarray:
    bare = is_bare(path)
    table = Table(path, id_column, header=not bare)
    numbers = table.numbers()
    rows, columns = numbers.shape
    if rows != columns:
        raise DataError(f"{path}: the matrix has {rows} rows and {columns} columns; it must be square")
    if bare or (table.holds_arrays and id_column not in table):
        if rows != len(ids):
            raise DataError(
                f"{path}: {rows} rows and no ids, but the labels file has {len(ids)} samples; "
                f"add the ids (column or array {id_column!r}) or the missing rows"
            )
        return numeric_values(numbers, path, ids)
    own_ids = table.unique_ids(id_column)
    if not table.holds_arrays:  # its columns have names, maybe in another order than the rows
        names = np.array([str(name).strip() for name in numbers.columns])
        numbers = numbers.iloc[:, row_order(names, path, own_ids, path)]
    order = row_order(own_ids, path, ids, labels_path)
    return numeric_values(numbers, path, own_ids)[np.ix_(order, order)]


def is_bare(path: Path) -> bool:
    """Tell whether a CSV or TSV file begins with a line of numbers only, so that it is a matrix without ids."""
    rows = first_rows(path, 1) if table_suffix(path) in SEPARATORS else []
    return bool(rows) and all(map(is_number, rows[0]))


def _checked(matrix: np.ndarray, path: Path, ids: np.ndarray, measure: str) -> np.ndarray:

    def at(values: np.ndarray) -> str:
        i, j = np.unravel_index(int(values.argmax()), values.shape)
        return f"({str(ids[i])!r}, {str(ids[j])!r}) is {matrix[i, j]:g}"

    tolerance = _SYMMETRY_TOLERANCE * (float(np.abs(matrix).max()) or 1.0)
    gap = np.abs(matrix - matrix.T)
    if gap.max() > tolerance:
        raise DataError(f"{path}: not symmetric: {at(np.triu(gap))} but {at(np.tril(gap))}")
    matrix = (matrix + matrix.T) / 2
    diagonal = np.diag(matrix)
    if measure == "kernel":
        if diagonal.min() <= 0:
            hint = ", 0 for every sample. Is it a distance? Then say measure: distance" if not diagonal.any() else ""
            lowest = at(np.diag(1.0 + diagonal.max() - diagonal))
            raise DataError(f"{path}: not a kernel: {lowest}; the diagonal of a kernel is positive{hint}")
        return matrix
    if matrix.min() < -tolerance:
        raise DataError(f"{path}: not a {measure}: {at(-matrix)}, which is negative")
    if np.abs(diagonal).max() > tolerance:
        raise DataError(
            f"{path}: not a {measure}: {at(np.diag(np.abs(diagonal)))}, not 0; is it a kernel or similarity?"
        )
    matrix = np.maximum(matrix, 0.0)
    np.fill_diagonal(matrix, 0.0)
    return matrix


def _spectrum_note(matrix: np.ndarray, path: Path) -> str:
    """Report the smallest eigenvalue of a kernel, and what is done about a negative one."""
    from scipy.linalg import eigvalsh

    values = eigvalsh(matrix)
    least, size = float(values[0]), float(np.abs(values).max())
    indefinite = least < -1e-10 * len(values) * size
    then = "; negative ones are changed as `psd` of its kernel says, among the training samples" if indefinite else ""
    return f"{path}: smallest eigenvalue {least:.3g}, largest {float(values[-1]):.3g}{then}"
