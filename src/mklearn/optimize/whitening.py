"""Span of centred samples, their scatter S = sum_i (x_i - mean)(x_i - mean)', and the whitening map S^-p."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd

from mklearn.checks import invalid
from mklearn.errors import NotApplicable

Floats = NDArray[np.floating[Any]]

#: Cutoff, relative to the largest eigenvalue of S, up to which eigenvalues count as 0.
CUTOFF = 1e-10


@dataclass(frozen=True, eq=False)
class Whitening:
    """Whitening map x -> z = scale S^-power (x - mean), in principal axes on the range of S.

    Attributes
    ----------
    mean : array of shape (d,)
    axes : array of shape (d, r)
        Eigenvectors of S, by descending eigenvalue.
    eigenvalues : array of shape (r,)
        Eigenvalues of S above the cutoff, descending.
    power : float
    scale : float
        Factor that makes the mean squared norm of the transformed samples 1.
    n_samples : int
    """

    mean: Floats
    axes: Floats
    eigenvalues: Floats
    power: float
    scale: float
    n_samples: int

    @property
    def rank(self) -> int:
        """Rank r of S."""
        return len(self.eigenvalues)

    @property
    def is_simplex(self) -> bool:
        """True if the fully whitened samples form a regular simplex: the rank of S is n - 1."""
        return self.rank == self.n_samples - 1

    def coordinates(self, X: Floats) -> Floats:
        """Compute the coordinates of samples in the principal axes, shape (m, r)."""
        return (X - self.mean) @ self.axes

    def transform(self, X: Floats) -> Floats:
        """Apply the map to samples; return z, shape (m, r)."""
        return self.coordinates(X) * (self.scale * self.eigenvalues**-self.power)

    def normal(self, v: Floats) -> Floats:
        """Return the w (d,) of smallest norm in feature space with w'(x - mean) = v'z."""
        return self.axes @ (self.scale * self.eigenvalues**-self.power * v)


def power_whitening(X: Floats, power: float = 0.5) -> Whitening:
    """Compute the map S^-power from samples.

    Parameters
    ----------
    X : array of shape (n, d)
    power : float
        From 0 to 1/2. 0: rotation and a common scale; 1/4: semi-whitening; 1/2: whitening.

    Raises
    ------
    ConfigError
        ``power`` is not from 0 to 1/2.
    NotApplicable
        All samples are equal.
    """
    if not 0 <= power <= 0.5:
        raise invalid(power, "power", "a number from 0 to 0.5")
    n, d = X.shape
    mean = X.mean(axis=0)
    centred = X - mean
    if d <= n:
        values, axes = np.linalg.eigh(centred.T @ centred)
        values, axes = values[::-1], axes[:, ::-1]
    else:
        _, singular, rows = np.linalg.svd(centred, full_matrices=False)
        values, axes = singular**2, rows.T
    smallest = max(CUTOFF * values[0], (max(n, d) * np.finfo(float).eps * np.abs(X).max()) ** 2)
    kept = values > smallest
    kept[n - 1 :] = False  # the rank of centred samples is less than n
    if not kept.any():
        raise NotApplicable("the features are constant over the samples: there is no spread to whiten")
    values, axes = values[kept], axes[:, kept]
    scale = float(np.sqrt(n / (values ** (1 - 2 * power)).sum()))
    return Whitening(mean, axes, values, power, scale, n)


@dataclass(frozen=True, eq=False)
class CentredSpan:
    """Thin singular value decomposition of centred samples, X - mean = U diag(singular) axes, truncated at rank r."""

    mean: Floats  # (d,)
    left: Floats  # (n, r), U
    singular: Floats  # (r,), descending
    axes: Floats  # (r, d), orthonormal rows: coordinates keep the norms and inner products of the feature space

    @property
    def rank(self) -> int:
        """Rank r of the centred samples."""
        return len(self.singular)

    def coordinates(self, n_axes: int | None = None) -> Floats:
        """Return the coordinates of the centred samples on the first axes (by default all), shape (n, n_axes)."""
        return self.left[:, :n_axes] * self.singular[:n_axes]

    def require_variance(self) -> CentredSpan:
        """Return the span itself; raise `NotApplicable` if all samples are equal."""
        if self.rank == 0:
            raise NotApplicable("the features are constant over the samples: no direction can be determined")
        return self


def centred_span(X: Floats) -> CentredSpan:
    """Compute the span of the samples X (n, d), float64, about their mean, in O(n d min(n, d)).

    Singular values up to max(n, d) eps times the largest, or times the largest entry of X, count as zero: equal samples
    have rank 0.
    """
    mean = X.mean(axis=0)
    left, singular, axes = svd(X - mean, full_matrices=False)
    largest = max(float(singular[0]), float(np.abs(X).max()))
    rank = int((singular > max(X.shape) * np.finfo(np.float64).eps * largest).sum())
    return CentredSpan(mean, left[:, :rank], singular[:rank], axes[:rank])
