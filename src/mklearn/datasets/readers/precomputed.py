"""Your own kernel or distance matrices: one square NPZ, Parquet or CSV per kernel, and a file of ids and labels."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

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
from mklearn.datasets.samples import MEASURES, SampleSet, encode_labels, some
from mklearn.errors import ConfigError, DataError

# Relative to the largest entry: what single precision or a file with seven digits leaves behind.
_SYMMETRY_TOLERANCE = 1e-6


def read(
    paths: Mapping[str, Path],
    *,
    labels: str,
    measure: str | Mapping[str, str] = "kernel",
    id_column: str = "id",
    label_column: str = "label",
) -> SampleSet:
    """Read pairwise matrices of the same samples.

    Parameters
    ----------
    paths : dict of str to Path
        Name -> file, and the file of labels.
        CSV and Parquet: a row per sample; a column of ids and one column per sample whose name is that sample's id.
        CSV without a header: numbers only, in the order of the labels file.
        NPZ: one square array, and perhaps an array of ids (without it, the order of the labels file).
    labels : str
        Which of `paths` is the table with ids and labels. Its order is taken; rows and columns of the matrices are
        brought to it by their ids.
    measure : str or dict of str to str
        What the matrices hold, all or each: "kernel", "distance", "squared_euclidean", "chi2".
    id_column, label_column : str
        Names of these columns or arrays.

    Returns
    -------
    SampleSet
        With ``matrices``, float64, exactly symmetric: differences between K[i, j] and K[j, i] up to 1e-6 of the
        largest entry are taken for rounding and averaged.

    Raises
    ------
    DataError
        Not square, not symmetric, not finite, a negative distance, a distance to itself, or other ids than the labels
        file. The file and examples are named.
    ConfigError
        An unknown measure.
    """
    if labels not in paths:
        raise DataError(f"precomputed matrices: no file of labels ({labels!r}) among {', '.join(paths)}")
    labels_path = Path(paths[labels])
    ids, label_text = read_labels(labels_path, id_column, label_column)
    measures: dict[str, str] = {}
    matrices: dict[str, np.ndarray] = {}
    for name, path in paths.items():
        if name == labels:
            continue
        stated = measure if isinstance(measure, str) else measure.get(name)
        if stated not in MEASURES:
            raise ConfigError(f"matrix {name!r}: measure {stated!r} is unknown; legal: {', '.join(MEASURES)}")
        measures[name] = stated
        matrix, own_ids = _read_matrix(Path(path), id_column, ids)
        if own_ids is not None:
            order = check_same_ids(own_ids, Path(path), ids, labels_path)
            matrix = matrix[np.ix_(order, order)]
        matrices[name] = _checked(matrix, Path(path), ids, stated)
    if not matrices:
        raise DataError("precomputed matrices: no matrix given, only labels")
    y, classes = encode_labels(label_text)
    try:
        return SampleSet(ids=ids, y=y, classes=classes, matrices=matrices, measures=measures)
    except DataError as error:
        raise DataError(f"{labels_path}: {error}") from error


def _read_matrix(path: Path, id_column: str, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """The matrix as it stands, and its ids if the file states them."""
    if path.suffix == ".npz":
        arrays = read_npz(path)
        square = [name for name in arrays if arrays[name].ndim == 2]
        if len(square) != 1:
            raise DataError(f"{path}: expected one two-dimensional array, found {some(square) or 'none'}")
        matrix = arrays[square[0]]
        _check_square(matrix.shape, path)
        if matrix.dtype.kind not in "uif":
            raise DataError(f"{path}: array {square[0]!r} has dtype {matrix.dtype}; numbers are needed")
        own = column_text(arrays[id_column], path, id_column) if id_column in arrays else None
    elif path.suffix == ".csv" and _has_no_header(path):
        import pandas as pd

        frame = pd.read_csv(path, header=None)
        _check_square(frame.shape, path)
        matrix, own = numeric_columns(frame, path, _ids_for_messages(ids, len(frame))), None
    else:
        frame = read_frame(path, (id_column,))
        require_names(list(frame.columns), (id_column,), path, "column")
        own = column_text(frame[id_column], path, id_column)
        body = frame.drop(columns=[id_column])
        _check_square(body.shape, path)
        columns = np.array([str(name) for name in body.columns])
        if not np.array_equal(columns, own):
            order = check_same_ids(columns, path, own, path)  # same ids in another order are fine
            body = body.iloc[:, order]
        matrix = numeric_columns(body, path, own)
    if own is not None:
        check_unique(own, path)
        if len(own) != len(matrix):
            raise DataError(f"{path}: {len(own)} ids but {len(matrix)} rows")
    elif len(matrix) != len(ids):
        raise DataError(
            f"{path}: {len(matrix)} rows and no ids, but the labels file has {len(ids)} samples; "
            f"add the ids (column or array {id_column!r}) or the missing rows"
        )
    return np.asarray(matrix, dtype=np.float64), own


def _has_no_header(path: Path) -> bool:
    """Whether the first line consists of numbers only and the file could thus be a bare matrix."""
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    with path.open(encoding="utf-8", errors="replace") as stream:
        cells = stream.readline().strip().split(",")
    try:
        [float(cell) for cell in cells]
    except ValueError:
        return False
    return True


def _check_square(shape: tuple[int, ...], path: Path) -> None:
    if shape[0] != shape[1]:
        raise DataError(f"{path}: the matrix has {shape[0]} rows and {shape[1]} columns; it must be square")


def _ids_for_messages(ids: np.ndarray, rows: int) -> np.ndarray:
    return ids if len(ids) == rows else np.array([str(row) for row in range(rows)])


def _checked(matrix: np.ndarray, path: Path, ids: np.ndarray, measure: str) -> np.ndarray:
    """The matrix made exactly symmetric, if it is what it is said to be."""
    bad = ~np.isfinite(matrix)
    if bad.any():
        i, j = np.argwhere(bad)[0]
        raise DataError(
            f"{path}: {int(bad.sum())} entries are not finite, the first at ({str(ids[i])!r}, {str(ids[j])!r})"
        )
    scale = float(np.abs(matrix).max(initial=0.0)) or 1.0
    gap = np.abs(matrix - matrix.T)
    if gap.max(initial=0.0) > _SYMMETRY_TOLERANCE * scale:
        i, j = np.unravel_index(int(np.argmax(gap)), gap.shape)
        raise DataError(
            f"{path}: not symmetric: ({str(ids[i])!r}, {str(ids[j])!r}) is {matrix[i, j]:g} "
            f"but ({str(ids[j])!r}, {str(ids[i])!r}) is {matrix[j, i]:g}"
        )
    matrix = (matrix + matrix.T) / 2
    if measure == "kernel":
        return matrix
    if matrix.min(initial=0.0) < -_SYMMETRY_TOLERANCE * scale:
        i, j = np.unravel_index(int(np.argmin(matrix)), matrix.shape)
        raise DataError(
            f"{path}: said to hold {measure}, but ({str(ids[i])!r}, {str(ids[j])!r}) is negative: {matrix[i, j]:g}"
        )
    diagonal = np.abs(np.diag(matrix))
    if diagonal.max(initial=0.0) > _SYMMETRY_TOLERANCE * scale:
        i = int(np.argmax(diagonal))
        raise DataError(
            f"{path}: said to hold {measure}, but {str(ids[i])!r} has {diagonal[i]:g} to itself; "
            "a kernel or similarity given as a distance?"
        )
    matrix = np.maximum(matrix, 0.0)
    np.fill_diagonal(matrix, 0.0)
    return matrix
