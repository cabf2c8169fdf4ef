"""Pairwise measures between feature vectors: squared Euclidean distance, chi-squared distance, inner product.

These are the matrices that are computed once for all samples; every kernel is a map of one of them whose parameters
are fitted on training samples (`mklearn.kernels.transform`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from mklearn.errors import DataError
from mklearn.kernels.checks import Array, as_float_matrix
from mklearn.kernels.chi2 import check_nonnegative_features, chi2_matrix


def squared_euclidean(X: ArrayLike, Y: ArrayLike | None = None) -> Array:
    """Squared Euclidean distances ``||x_i - y_j||^2``.

    Both sets are moved by the mean of `Y` first, which changes no distance and keeps the cancellation in
    ``||x||^2 + ||y||^2 - 2 x'y`` small for data far from the origin.

    Parameters
    ----------
    X : array_like, shape (n, d)
    Y : array_like, shape (m, d), optional
        Default: `X`; the result then is exactly symmetric with an exactly zero diagonal.

    Returns
    -------
    ndarray, shape (n, m)
        In squared units of the features. float32 when both inputs are float32 (computed in float64).

    Raises
    ------
    DataError
        Wrong shape, different numbers of features, not finite.
    """
    rows, columns, same, dtype = _pair(X, Y)
    origin = columns.mean(axis=0)
    rows = rows - origin
    columns = rows if same else columns - origin
    squared_norms = np.einsum("ij,ij->i", rows, rows)
    other_norms = squared_norms if same else np.einsum("ij,ij->i", columns, columns)
    distances = rows @ columns.T
    distances *= -2
    distances += squared_norms[:, None]
    distances += other_norms[None, :]
    np.maximum(distances, 0, out=distances)
    if same:
        distances = (distances + distances.T) / 2
        np.fill_diagonal(distances, 0)
    return distances.astype(dtype, copy=False)


def chi2_distance(X: ArrayLike, Y: ArrayLike | None = None) -> Array:
    """Chi-squared distances ``0.5 * sum_k (x_k - y_k)^2 / (x_k + y_k)`` between non-negative vectors; 0/0 counts 0.

    For histograms that sum to one the distance lies in [0, 1]. The factor 0.5 is the usual one for histograms;
    a bandwidth that is fitted to the mean distance absorbs it.

    Parameters
    ----------
    X : array_like, shape (n, d)
        Non-negative.
    Y : array_like, shape (m, d), optional
        Default: `X`; the result then is exactly symmetric with an exactly zero diagonal.

    Returns
    -------
    ndarray, shape (n, m)
        In units of the features. float32 when both inputs are float32 (computed in float64).

    Raises
    ------
    DataError
        Negative features, wrong shape, different numbers of features, not finite.
    """
    rows, columns, same, dtype = _pair(X, Y)
    for name, features in (("X", rows), ("Y", columns)):
        check_nonnegative_features(features, name)
    return chi2_matrix(rows, None if same else columns).astype(dtype, copy=False)


def inner_product(X: ArrayLike, Y: ArrayLike | None = None) -> Array:
    """Inner products ``x_i' y_j``.

    Parameters
    ----------
    X : array_like, shape (n, d)
    Y : array_like, shape (m, d), optional
        Default: `X`; the result then is exactly symmetric.

    Returns
    -------
    ndarray, shape (n, m)
        In squared units of the features. float32 when both inputs are float32 (computed in float64).

    Raises
    ------
    DataError
        Wrong shape, different numbers of features, not finite.
    """
    rows, columns, same, dtype = _pair(X, Y)
    gram: Array = rows @ columns.T
    if same:
        gram = (gram + gram.T) / 2
    return gram.astype(dtype, copy=False)


MEASURES: Mapping[str, Callable[..., Array]] = MappingProxyType(
    {"squared_euclidean": squared_euclidean, "chi2": chi2_distance, "inner_product": inner_product}
)
"""Pairwise measure by name; each is called as ``measure(X)`` or ``measure(X, Y)``."""


def _pair(X: ArrayLike, Y: ArrayLike | None) -> tuple[Array, Array, bool, np.dtype]:
    """Both sets in float64, whether they are the same one, and the dtype that the result shall have."""
    rows = as_float_matrix(X, "X")
    columns = rows if Y is None else as_float_matrix(Y, "Y")
    if rows.shape[1] != columns.shape[1]:
        raise DataError(
            f"X has {rows.shape[1]} features and Y has {columns.shape[1]}; both must hold the same descriptor"
        )
    dtype = np.result_type(rows.dtype, columns.dtype)
    rows64 = rows.astype(np.float64, copy=False)
    return rows64, rows64 if Y is None else columns.astype(np.float64, copy=False), Y is None, dtype
