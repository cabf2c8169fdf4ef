"""Checks that every kernel function makes on its matrices, with messages that name the argument and the remedy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.errors import DataError

Array = NDArray[np.floating[Any]]


def as_float_matrix(values: ArrayLike, name: str) -> Array:
    """Return `values` as a finite 2-d floating array; float32 stays float32, everything else becomes float64.

    Parameters
    ----------
    values : array_like, shape (n, m)
    name : str
        What to call the array in an error message.

    Raises
    ------
    DataError
        Not numeric, complex, not 2-d, without rows or columns, or not finite.
    """
    return as_float_array(values, name, ndim=2)


def as_float_array(values: ArrayLike, name: str, *, ndim: int, may_be_empty: bool = False) -> Array:
    """Return `values` as a finite floating array of `ndim` axes (see `as_float_matrix`)."""
    if hasattr(values, "toarray"):
        raise DataError(f"{name} is a sparse matrix; pass a dense array, e.g. {name}.toarray()")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise DataError(f"{name} is not a regular array: its rows have different lengths") from error
    if array.dtype.kind not in "fiub":
        raise DataError(f"{name} has dtype {array.dtype}; real numbers are needed")
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    if array.ndim != ndim:
        raise DataError(f"{name} has shape {array.shape}; an array with {ndim} axes is needed")
    if array.size == 0 and not may_be_empty:
        raise DataError(f"{name} is empty (shape {array.shape})")
    finite = np.isfinite(array)
    if not finite.all():
        where = tuple(int(i) for i in np.argwhere(~finite)[0])
        raise DataError(f"{name} has NaN or infinite entries, the first one at index {where}")
    return array


def tolerance_of(array: Array) -> float:
    """Relative difference below which two entries of `array` count as equal: the square root of its precision."""
    return float(np.sqrt(np.finfo(array.dtype).eps))


def check_square(matrix: Array, name: str) -> None:
    """Raise `DataError` unless `matrix` is (n, n)."""
    if matrix.shape[0] != matrix.shape[1]:
        raise DataError(
            f"{name} has shape {matrix.shape}; a square matrix over the training samples is needed "
            "(rows of new samples go to transform, not to fit)"
        )


def check_symmetric(matrix: Array, name: str) -> None:
    """Raise `DataError` unless `matrix` is (n, n) and symmetric to the square root of its precision."""
    check_square(matrix, name)
    if np.array_equal(matrix, matrix.T):
        return
    largest = float(np.abs(matrix).max())
    difference = np.abs(matrix - matrix.T)
    if difference.max() > tolerance_of(matrix) * largest:
        row, column = (int(i) for i in np.unravel_index(int(difference.argmax()), matrix.shape))
        raise DataError(
            f"{name} is not symmetric: entry ({row}, {column}) is {matrix[row, column]:.6g} and entry "
            f"({column}, {row}) is {matrix[column, row]:.6g}; use ({name} + {name}.T) / 2 if that is what you mean"
        )


def as_square_symmetric(values: ArrayLike, name: str) -> Array:
    """Return a finite symmetric matrix with its rounding errors averaged out (a new array)."""
    matrix = as_float_matrix(values, name)
    if matrix.shape[0] == matrix.shape[1] and np.array_equal(matrix, matrix.T):
        return matrix.copy()
    check_symmetric(matrix, name)
    symmetric: Array = (matrix + matrix.T) / 2
    return symmetric


def check_nonnegative(matrix: Array, name: str) -> Array:
    """Return `matrix` with negative rounding errors set to zero; raise `DataError` for real negative entries."""
    smallest = float(matrix.min())
    if smallest >= 0:
        return matrix
    if smallest < -tolerance_of(matrix) * float(np.abs(matrix).max()):
        row, column = (int(i) for i in np.unravel_index(int(matrix.argmin()), matrix.shape))
        raise DataError(
            f"{name} has negative entries (smallest {smallest:.6g} at ({row}, {column})); distances are >= 0. "
            "A similarity matrix is used with kind 'precomputed', inner products with kind 'linear' or 'polynomial'"
        )
    return np.maximum(matrix, 0)


def check_zero_diagonal(matrix: Array, name: str) -> None:
    """Raise `DataError` unless every sample has distance zero to itself."""
    diagonal = np.abs(np.diagonal(matrix))
    if diagonal.max() > tolerance_of(matrix) * max(float(matrix.max()), float(np.finfo(matrix.dtype).tiny)):
        sample = int(diagonal.argmax())
        raise DataError(
            f"{name} gives sample {sample} the distance {diagonal[sample]:.6g} to itself; the diagonal of a distance "
            "matrix is zero. A similarity matrix is used with kind 'precomputed'"
        )
