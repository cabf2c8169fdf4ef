"""Chi-squared distances between non-negative vectors, as one compiled loop, whole or in row blocks."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.errors import DataError
from mklearn.kernels.checks import Array, as_float_matrix
from mklearn.kernels.compiled import compile_loop
from mklearn.kernels.row_blocks import check_rows, merge_row_blocks, row_starts

# Rows that meet each column vector while that vector is in the first-level cache.
_TILE_ROWS = 8
# x + y + tiny equals x + y for every sum that is not subnormal, and makes 0/0 the wanted 0.
_TINY = np.finfo(np.float64).tiny


def chi2_distance_rows(X: ArrayLike, rows: ArrayLike) -> Array:
    """Some rows of the upper triangle of the chi-squared distances of `X` to itself.

    A row's values do not depend on the other rows asked for: the parts make up `mklearn.kernels.distances.
    chi2_distance`'s matrix bit for bit (`mklearn.kernels.row_blocks.merge_row_blocks`).

    Parameters
    ----------
    X : array_like, shape (n, d)
        Non-negative.
    rows : array_like of int, shape (r,)

    Returns
    -------
    ndarray, shape (sum of n - 1 - rows,)
        Row after row, in units of the features. float32 when `X` is (computed in float64).

    Raises
    ------
    DataError
        Negative features, wrong shape, not finite; a row that does not exist or is given twice.
    """
    features = as_float_matrix(X, "X")
    check_nonnegative_features(features, "X")
    wanted = check_rows(rows, len(features))
    return _upper_rows(features.astype(np.float64, copy=False), wanted).astype(features.dtype, copy=False)


def chi2_matrix(rows: Array, columns: Array | None = None) -> Array:
    """All chi-squared distances between checked float64 vectors: (n, d) and (m, d) give (n, m).

    Without `columns` those of `rows` to itself: half the work, symmetric bit for bit, zero diagonal.
    """
    if columns is None:
        n = len(rows)
        every = np.arange(n, dtype=np.intp)
        return merge_row_blocks([(every, _upper_rows(rows, every))], n)
    n, m = len(rows), len(columns)
    out = np.empty(n * m)
    first = np.zeros(n, dtype=np.intp)
    _loop()(np.ascontiguousarray(rows), np.ascontiguousarray(columns), first, m * np.arange(n, dtype=np.intp), out)
    return out.reshape(n, m)


def check_nonnegative_features(features: Array, name: str) -> None:
    """Raise `DataError` for a negative feature."""
    if features.min() >= 0:
        return
    sample, feature = (int(i) for i in np.unravel_index(int(features.argmin()), features.shape))
    raise DataError(
        f"{name} has a negative feature ({features[sample, feature]:.6g} at sample {sample}, feature {feature}); the "
        "chi-squared distance is for non-negative features such as histograms; use squared_euclidean instead"
    )


def _upper_rows(features: Array, rows: NDArray[np.intp]) -> Array:
    starts = row_starts(rows, len(features))
    out = np.empty(starts[-1])
    _loop()(features[rows], np.ascontiguousarray(features), rows + 1, starts[:-1], out)
    return out


@cache
def _loop() -> Callable[..., Any]:
    return compile_loop(_chi2_loop)


def _chi2_loop(
    left: NDArray[np.float64],
    right: NDArray[np.float64],
    first: NDArray[np.intp],
    starts: NDArray[np.intp],
    out: NDArray[np.float64],
) -> None:
    """Distances of ``left[i]`` to ``right[first[i]:]``, written to `out` from ``starts[i]`` on."""
    n, m, d = left.shape[0], right.shape[0], left.shape[1]
    for top in range(0, n, _TILE_ROWS):
        bottom = min(top + _TILE_ROWS, n)
        for j in range(first[top:bottom].min(), m):
            y = right[j]
            for i in range(top, bottom):
                if j < first[i]:
                    continue
                x = left[i]
                total = 0.0
                for k in range(d):
                    difference = x[k] - y[k]
                    total += difference * difference / (x[k] + (y[k] + _TINY))
                out[starts[i] + j - first[i]] = 0.5 * total
