"""Closed-form residuals of linear smoothers refitted without single samples or whole groups.

Let a linear smoother have the residuals ``R Y`` on all samples, with R symmetric. If it is refitted without the samples
G, its errors at G are

    e_G = (R_GG)^-1 (R Y)_G                                                                                  (PRESS)

for smoothers such as ridge regression with an unpenalised intercept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.errors import DataError, NotApplicable

Array = NDArray[np.floating[Any]]


class LeftOut:
    """Partition of n samples into sets that are left out together: single samples, or ``groups`` (n,).

    Raises `DataError` if a group is missing or their number is not n, and `NotApplicable` if there is only one group.
    """

    def __init__(self, n: int, groups: ArrayLike | None = None) -> None:
        self.sets: list[NDArray[np.intp]] | None = None  # positions of each group's samples; None: single samples
        self.n_sets = n
        if groups is None:
            return
        codes = group_codes(groups, n)
        if codes.max() == 0:
            raise NotApplicable("all samples are in one group: leaving it out leaves no sample to learn from")
        order = np.argsort(codes, kind="stable")
        sets = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
        if len(sets) < n:
            self.sets, self.n_sets = sets, len(sets)

    def blocks(self, R: Array) -> Any:
        """Return the blocks R_GG of a matrix (n, n), or its diagonal (n,) if the sets are single samples."""
        return np.diagonal(R) if self.sets is None else [R[np.ix_(rows, rows)] for rows in self.sets]

    def blocks_of_product(self, V: Array, values: Array, u: Array) -> Iterator[Any]:
        """Yield the blocks of ``V diag(v) V' - ww'`` for the columns v and w of values and u, (n, k)."""
        if self.sets is None:
            yield from ((V * V) @ values - u * u).T
            return
        for v, w in zip(values.T, u.T, strict=True):
            yield [(V[rows] * v) @ V[rows].T - np.outer(w[rows], w[rows]) for rows in self.sets]

    def blocks_of_remainder(self, Z: Array, values: Array, u: Array) -> Any:
        """Return the blocks of ``I - Z diag(values) Z' - uu'`` without computing the full matrix."""
        if self.sets is None:
            return 1.0 - np.einsum("ij,ij,j->i", Z, Z, values) - u * u
        return [np.eye(len(rows)) - (Z[rows] * values) @ Z[rows].T - np.outer(u[rows], u[rows]) for rows in self.sets]

    def solve(self, blocks: Any, values: Array) -> Array:
        """Compute ``(R_GG)^-1 values_G`` for each set, shape (n, c)."""
        if self.sets is None:
            return np.asarray(values / blocks[:, None])
        solved = np.empty_like(values)
        for rows, block in zip(self.sets, blocks, strict=True):
            solved[rows] = np.linalg.solve(block, values[rows])
        return solved

    def inverse_diagonal(self, blocks: Any) -> Array:
        """Compute the diagonal of ``(R_GG)^-1`` for each set, shape (n,)."""
        if self.sets is None:
            return np.asarray(1.0 / blocks)
        diagonals = [np.diagonal(np.linalg.inv(block)) for block in blocks]
        return np.concatenate(diagonals)[np.argsort(np.concatenate(self.sets))]

    def outer(self, A: Array, B: Array) -> Array:
        """Compute ``A B'`` in the blocks of the sets, 0 elsewhere, (n, n); for single samples its diagonal (n,)."""
        if self.sets is None:
            return np.asarray(np.einsum("ic,ic->i", A, B))
        found = np.zeros((len(A), len(A)))
        for rows in self.sets:
            found[np.ix_(rows, rows)] = A[rows] @ B[rows].T
        return found

    def sums(self, values: Array) -> Array:
        """Sum values, (n,) or (n, c), over the samples of each set."""
        return values if self.sets is None else np.array([values[rows].sum(axis=0) for rows in self.sets])

    def squares(self, errors: Array, weights: Array) -> Array:
        """Return ``sum_G (sum_G w e)^2 / sum w``, at least ``sum (w e)^2 / sum w``, for columns of errors e (n, c).

        It is the mean squared error, ``sum w e^2 / sum w``, times n over the effective number of errors: samples of a
        set with equal errors count as one, and samples with independent or opposite errors as several.
        """
        weighted = weights[:, None] * errors
        of_sets, of_samples = ((each**2).sum(axis=0) for each in (self.sums(weighted), weighted))
        return np.asarray(np.maximum(of_sets, of_samples) / weights.sum())


def group_codes(groups: ArrayLike, n: int) -> NDArray[np.intp]:
    """Return the groups of n samples as codes from 0; raise `DataError` if one is missing or their number is not n."""
    names = np.asarray(groups)
    if names.shape != (n,):
        raise DataError(f"groups have shape {names.shape} for {n} samples: give one group for each sample")
    if any(map(_is_missing, names if names.dtype.kind in "OfmM" else ())):
        raise DataError("groups has missing entries; give each sample a group, its own if it belongs to no other")
    try:
        codes: NDArray[np.intp] = np.unique(names, return_inverse=True)[1]
    except TypeError as error:
        raise DataError("groups are of types that have no common order; give all as text or all as numbers") from error
    return codes


def groups_by_size(codes: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Return, for each size of groups, the positions of their samples, (n_groups, size); codes start at 0."""
    order, sizes = np.argsort(codes, kind="stable"), np.bincount(codes)[codes]
    return [order[sizes[order] == size].reshape(-1, size) for size in np.unique(sizes)]


def _is_missing(name: Any) -> bool:
    try:
        return name is None or bool(name != name)
    except TypeError:  # pandas' NA
        return True


def smaller_error(
    errors: Array,
    others: Array,
    weights: Array | None = None,
    groups: ArrayLike | None = None,
) -> bool:
    """Check that left-out predictions have a squared error smaller than others by more than one standard error.

    ``errors`` and ``others`` (n, c) belong to the same two or more samples. With groups, the standard error is of the
    groups' errors.
    """
    own, sets = 1.0 if weights is None else weights, LeftOut(len(errors), groups)
    one, other = (sets.sums(own * (each**2).sum(axis=1)) for each in (errors, others))
    gains = other - one
    return bool(gains.sum() > np.sqrt(len(gains)) * gains.std(ddof=1))
