"""The span of centred samples, in which linear methods solve small problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd

from mklearn.errors import NotApplicable

Array = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class CentredSpan:
    """Thin singular value decomposition of centred samples, X - mean = U diag(singular) axes, cut at the rank r."""

    mean: Array  # (d,)
    left: Array  # (n, r), U
    singular: Array  # (r,), descending
    axes: Array  # (r, d), orthonormal rows: norms and inner products of coordinates are those of the feature space

    @property
    def rank(self) -> int:
        """The rank r of the centred samples."""
        return len(self.singular)

    def coordinates(self, n_axes: int | None = None) -> Array:
        """Return the centred samples in coordinates of the first axes (by default all), shape (n, n_axes)."""
        return self.left[:, :n_axes] * self.singular[:n_axes]

    def require_variance(self) -> CentredSpan:
        """Return the span itself, or raise `NotApplicable` if all samples are equal."""
        if self.rank == 0:
            raise NotApplicable("the features are constant over the samples: there is no direction to find")
        return self


def centred_span(X: Array) -> CentredSpan:
    """Compute the span of the samples about their mean.

    Parameters
    ----------
    X : array of shape (n, d), float64

    Notes
    -----
    Singular values up to max(n, d) eps times the largest, or times the largest entry of X, count as zero: equal samples
    have rank 0. The cost is O(n d min(n, d)).
    """
    mean = X.mean(axis=0)
    left, singular, axes = svd(X - mean, full_matrices=False)
    largest = max(float(singular[0]), float(np.abs(X).max()))
    rank = int((singular > max(X.shape) * np.finfo(np.float64).eps * largest).sum())
    return CentredSpan(mean, left[:, :rank], singular[:rank], axes[:rank])
