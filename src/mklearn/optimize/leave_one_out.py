"""Kernel subspaces refitted without each sample in turn, with shared work done once.

A refit without sample i uses the kernel without row and column i. In coordinates that are the same for all i, its
scatter matrices equal the matrices of all samples minus terms of low rank. Each refit then needs one eigenproblem, and
its result equals the plain refit up to signs and rounding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from mklearn.graphs import margin_laplacian
from mklearn.kernels.matrices import centre_kernel
from mklearn.optimize.margin import Constraint, check_not_constant, margin_step

Array = NDArray[np.floating[Any]]
WithoutOne = tuple[int, Array, Array]
"""Index of the left-out sample, embedding of the other samples (n - 1, p), embedding of the left-out sample (1, p)."""


def margins_without_each(
    kernel: Array,
    y: NDArray[Any],
    *,
    trade_off: float,
    constraint: Constraint,
    n_components: int | None,
    cutoff: float,
    order: Iterable[int] | None = None,
) -> Iterator[WithoutOne]:
    """Yield embeddings by the maximum margin criterion, refitted without each sample in turn.

    Parameters are as in :class:`mklearn.subspace.kernel_mmc.KernelMMC`; ``n_components=None`` is the number of classes
    that remain, minus one. Eigenvalues of K up to ``cutoff`` times the largest count as 0. ``order`` lists the samples
    to leave out, by default all of them.
    """
    n = len(kernel)
    check_not_constant(kernel)
    classes, codes = np.unique(y, return_inverse=True)
    # Row i holds sample i in fixed coordinates: of the feature space for "rkhs", the columns of K for "coef".
    features = _feature_coordinates(kernel, cutoff) if constraint == "rkhs" else kernel
    second_moments = features.T @ features
    sums = np.zeros((len(classes), features.shape[1]))
    np.add.at(sums, codes, features)
    counts = np.bincount(codes).astype(np.float64)
    for i in range(n) if order is None else order:
        rest = np.arange(n) != i
        left = np.bincount(codes[rest], minlength=len(classes))
        p = int((left > 0).sum()) - 1 if n_components is None else n_components
        p = min(p, n - 1)
        columns = np.flatnonzero(rest) if constraint == "coef" else np.arange(features.shape[1])
        embedded = None
        if constraint != "sample":
            own = features[i, columns]
            without = sums[:, columns].copy()
            without[codes[i]] -= own
            present = left > 0
            means = without[present] / np.sqrt(counts[present] - (np.flatnonzero(present) == codes[i]))[:, None]
            total = without.sum(axis=0)
            moments = second_moments[np.ix_(columns, columns)]
            scatter = means.T @ means
            scatter *= 1.0 + trade_off
            scatter -= trade_off * (moments - np.outer(own, own))
            scatter -= np.outer(total, total) / (n - 1)
            values, vectors = eigh(scatter, driver="evd", check_finite=False, overwrite_a=True)
            # Only directions of positive eigenvalue are sure to lie in the span of the remaining samples.
            if p <= len(values) and values[-p] > 1e-10 * values[-1]:
                embedded = features[:, columns] @ vectors[:, : -p - 1 : -1]
        if embedded is None:
            operator = margin_laplacian(y[rest], trade_off)
            _, coefficients = margin_step(kernel[np.ix_(rest, rest)], operator, p, constraint, cutoff)
            embedded = kernel[:, rest] @ coefficients
        yield i, embedded[rest], embedded[i : i + 1]


def components_without_each(kernel: Array, cutoff: float, order: Iterable[int] | None = None) -> Iterator[WithoutOne]:
    """Yield kernel principal components, refitted without each sample in turn; see `margins_without_each`."""
    n = len(kernel)
    features = _feature_coordinates(centre_kernel(kernel), n * np.finfo(np.float64).eps)
    second_moments = features.T @ features
    total = features.sum(axis=0)
    for i in range(n) if order is None else order:
        rest = np.arange(n) != i
        own = features[i]
        mean = (total - own) / (n - 1)
        scatter = second_moments - np.outer(own, own) - (n - 1) * np.outer(mean, mean)
        values, vectors = eigh(scatter, driver="evd", check_finite=False, overwrite_a=True)
        largest = max(values[-1], np.abs(kernel[np.ix_(rest, rest)]).max())  # as in a fit without the sample
        kept = max(1, int((values > cutoff * largest).sum()))
        embedded = (features - mean) @ vectors[:, : -kept - 1 : -1]
        yield i, embedded[rest], embedded[i : i + 1]


def _feature_coordinates(kernel: Array, cutoff: float) -> Array:
    """Return F with K = FF', one column for each eigenvalue of K above the cutoff."""
    spectrum, basis = eigh(kernel, check_finite=False)
    kept = spectrum > cutoff * spectrum[-1]
    return basis[:, kept] * np.sqrt(spectrum[kept])
