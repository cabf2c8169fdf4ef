"""Pairwise measures of feature vectors: distances, and the inner product.

These matrices are computed once for all samples. A kernel is a function of such a matrix, with parameters fitted on
the training samples (`mklearn.kernels.base`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from mklearn.checks import Array, all_finite, cached_rows, symmetrized
from mklearn.errors import DataError
from mklearn.extras import compile_loop, importable
from mklearn.kernels.features import as_features, is_sparse, squared_norms

# Number of rows that are computed against a column vector while it is in the first-level cache.
_TILE_ROWS = 8
# x + y + tiny equals x + y for every sum that is not subnormal, and makes 0/0 equal 0.
_TINY = np.finfo(np.float64).tiny


def squared_euclidean(X: ArrayLike, Y: ArrayLike | None = None) -> Array:
    """Compute the squared Euclidean distances ``||x_i - y_j||^2``, shape (n, m), in squared units of the features.

    The mean of `Y` is first subtracted from both sets, unless they are sparse. This changes no distance and keeps the
    cancellation in ``||x||^2 + ||y||^2 - 2 x'y`` small for data far from the origin.

    Parameters
    ----------
    X, Y : array_like or sparse matrix, shape (n, d) and (m, d)
        Both sparse or both dense. The result is computed in float64, and float32 if both sets are. `Y` is `X` by
        default; the result is then exactly symmetric with an exactly zero diagonal.

    Raises
    ------
    DataError
        Wrong shape, different numbers of features, or values that are not finite or overflow the dtype of the result.
    """
    rows, columns, same, dtype = _pair(X, Y)
    if not is_sparse(columns):
        origin = columns.mean(axis=0)
        rows = rows - origin
        columns = rows if same else columns - origin
    norms = squared_norms(rows)
    other_norms = norms if same else squared_norms(columns)
    products = _products(rows, columns, same)
    distances = products if products.dtype == dtype else np.empty(products.shape, dtype)
    with np.errstate(over="ignore"):
        for part in cached_rows(products):
            block = products[part]
            block *= -2
            block += norms[part, None] + other_norms  # added to each other first: the sum is exactly symmetric
            np.maximum(block, 0, out=distances[part])
    if same:
        np.fill_diagonal(distances, 0)
    # a squared distance is at most twice the sum of the squared norms
    is_finite = 2 * (float(norms.max()) + float(other_norms.max())) < np.finfo(dtype).max
    return distances if is_finite else _representable(distances, dtype)


def chi2_distance(X: ArrayLike, Y: ArrayLike | None = None) -> Array:
    """Compute the chi-squared distances ``0.5 * sum_k (x_k - y_k)^2 / (x_k + y_k)``, where 0/0 counts as 0.

    For histograms that sum to one the distance lies in [0, 1]. The factor 0.5 is the usual one for histograms;
    a bandwidth that is fitted to the mean distance absorbs it. Without numba, scikit-learn computes the distances:
    equal up to rounding, but slower.

    Parameters and errors are as for `squared_euclidean`; negative or sparse features raise `DataError` too. The
    distances, shape (n, m), are in units of the features.
    """
    rows, columns, same, dtype = _pair(X, Y)
    if is_sparse(columns):
        raise DataError("the chi-squared distance does not take sparse features; pass a dense array, e.g. X.toarray()")
    for name, features in (("X", rows), ("Y", columns)):
        if features.min() < 0:
            sample, feature = np.unravel_index(int(features.argmin()), features.shape)
            raise DataError(
                f"{name} has a negative feature ({features.min():.6g} at sample {sample}, feature {feature}); the "
                "chi-squared distance is for non-negative features such as histograms; use squared_euclidean instead"
            )
    if not importable("numba"):
        from sklearn.metrics.pairwise import additive_chi2_kernel  # here: scikit-learn's import takes a second

        return _representable(-0.5 * additive_chi2_kernel(rows, columns), dtype)
    distances = np.zeros((len(rows), len(columns)))
    _chi2_loop(np.ascontiguousarray(rows), np.ascontiguousarray(columns), same, distances)
    if same:
        for i in range(len(rows)):
            distances[i + 1 :, i] = distances[i, i + 1 :]
    return _representable(distances, dtype)


def inner_product(X: ArrayLike, Y: ArrayLike | None = None) -> Array:
    """Compute the inner products ``x_i' y_j``, shape (n, m), exactly symmetric without `Y`.

    Parameters, units and errors are as for `squared_euclidean`. The result is float64 even for float32 features:
    centring a kernel of features far from zero cancels all but the last digits.
    """
    rows, columns, same, _ = _pair(X, Y)
    products = _products(rows, columns, same)
    # no product exceeds the largest one of a row with itself
    is_finite = same and np.isfinite(np.diagonal(products).max())
    return products if is_finite else _representable(products, products.dtype)


def manhattan(X: ArrayLike, Y: ArrayLike | None = None) -> Array:
    """Compute the Manhattan distances ``sum_k |x_k - y_k|``, in units of the features.

    Parameters and errors are as for `squared_euclidean`; sparse features raise `DataError` too.
    """
    rows, columns, _, dtype = _pair(X, Y)
    if is_sparse(columns):
        raise DataError("the Manhattan distance does not take sparse features; pass a dense array, e.g. X.toarray()")
    return _representable(cdist(rows, columns, "cityblock"), dtype)


def tanimoto_distance(X: ArrayLike, Y: ArrayLike | None = None) -> Array:
    """Compute the Tanimoto (Jaccard) distances ``1 - x'y / (|x|^2 + |y|^2 - x'y)``, where 0/0 counts as 1.

    For bit vectors the distance is the number of bits set in exactly one of two samples, divided by the number set in
    at least one. Two samples without any bit set have distance 0.

    Parameters and errors are as for `squared_euclidean`.
    """
    rows, columns, same, dtype = _pair(X, Y)
    products = _products(rows, columns, same)
    norms = squared_norms(rows)
    unions = _representable(norms[:, None] + (norms if same else squared_norms(columns)) - products, np.dtype(float))
    distances = 1.0 - np.divide(products, unions, out=np.ones_like(products), where=unions > 0)
    np.maximum(distances, 0, out=distances)
    if same:
        np.fill_diagonal(distances, 0)
    return _representable(distances, dtype)


MEASURES: Mapping[str, Callable[..., Array]] = MappingProxyType(
    {
        "squared_euclidean": squared_euclidean,
        "chi2": chi2_distance,
        "inner_product": inner_product,
        "manhattan": manhattan,
        "tanimoto": tanimoto_distance,
    }
)
"""Pairwise measures by name, each called as ``measure(X)`` or ``measure(X, Y)``."""


def _pair(X: Any, Y: Any) -> tuple[Any, Any, bool, np.dtype]:
    """Return both sets in float64, whether they are the same set, and the dtype of the result."""
    rows = as_features(X, "X")
    columns = rows if Y is None else as_features(Y, "Y")
    if is_sparse(rows) != is_sparse(columns):
        raise DataError("one of X and Y is sparse and the other is not; pass both in the same form")
    if rows.shape[1] != columns.shape[1]:
        raise DataError(
            f"X has {rows.shape[1]} features and Y has {columns.shape[1]}; both must hold the same descriptor"
        )
    dtype = np.result_type(rows.dtype, columns.dtype)
    rows64 = rows.astype(np.float64, copy=False)
    return rows64, rows64 if Y is None else columns.astype(np.float64, copy=False), Y is None, dtype


def _products(rows: Any, columns: Any, same: bool) -> Array:
    """Return the inner products of dense or sparse rows as a dense matrix, exactly symmetric if `same`."""
    products: Any = rows @ columns.T  # NumPy computes one triangle of X X' and copies it
    if not is_sparse(products):
        return np.asarray(products)
    dense: Array = products.toarray()
    return symmetrized(dense) if same else dense


def _representable(values: Array, dtype: np.dtype) -> Array:
    """Return values in a dtype; raise `DataError` if they overflow it."""
    with np.errstate(over="ignore"):
        converted: Array = values.astype(dtype, copy=False)
    if not all_finite(converted):
        raise DataError(f"the features are too large: sums of their squares overflow {dtype}; rescale them")
    return converted


@compile_loop
def _chi2_loop(left: NDArray[np.float64], right: NDArray[np.float64], upper: bool, out: NDArray[np.float64]) -> None:
    """Compute the distances of ``left[i]`` to ``right[j]`` into ``out[i, j]``; only for ``j > i`` with `upper`."""
    n, m, d = left.shape[0], right.shape[0], left.shape[1]
    for top in range(0, n, _TILE_ROWS):
        bottom = min(top + _TILE_ROWS, n)
        for j in range(top + 1 if upper else 0, m):
            y = right[j]
            for i in range(top, bottom):
                if upper and j <= i:
                    continue
                x = left[i]
                total = 0.0
                for k in range(d):
                    difference = x[k] - y[k]
                    total += difference * difference / (x[k] + (y[k] + _TINY))
                out[i, j] = 0.5 * total
