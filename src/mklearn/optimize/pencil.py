"""The matrix pencil (S, S') of `kernel_weights`: checked, scaled and whitened once for every method.

All methods work in unit-diagonal coordinates, where S'_mm = 1. Rescaled kernels c_m K_m change S into DSD but not these
coordinates. Every method is therefore equivariant (beta_m becomes beta_m / c_m), and tolerances are relative.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.checks import as_square_matrix, symmetrized
from mklearn.errors import DataError, SolverFailed
from mklearn.optimize.eigen import fix_signs
from mklearn.optimize.validation import same_shape

Floats = NDArray[np.floating]
Integers = NDArray[np.intp]

# A kernel is zero under the second graph when S'_mm, relative to the largest entry, is below the first number, or when
# S'_mm and all |S'_mn| are below the second. A constant kernel leaves rounding errors of one size in its whole row,
# about 1e-16 of what was subtracted; a kernel that is only small, by a factor c, has S'_mm of order c^2, S'_mn of c.
_ZERO_KERNEL = 1e-24
_ZERO_ROW = 1e-12
# If the smallest eigenvalue of the unit-diagonal S' is below this, both matrices get the ridge.
_RIDGE = 1e-10
# S' with an eigenvalue below minus this is indefinite, not only rounded; by the precision of the input.
_INDEFINITE = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-8}
# Entries of an eigenvector above -_SIGN times the largest count as 0: clipping them changes the ratio by the square.
_SIGN = 1e-9
# Smallest relative distance of two eigenvalues, and largest relative difference of two equal rows.
_MULTIPLE = 1e-10
_DUPLICATE = 1e-12


@dataclass(frozen=True, eq=False)
class Pencil:
    """S and S' in unit-diagonal coordinates, with the spectrum of the pair.

    R and R' are positive definite: for a singular S', a ridge times the largest S_mm and the ridge are added to the
    diagonals. A direction in the null space of both matrices then has the ratio of the worst single kernel and is never
    a solution.
    """

    S: Floats  # (m, m)
    S_prime: Floats  # (m, m), unit diagonal
    R: Floats  # (m, m)
    R_prime: Floats  # (m, m)
    whitener: Floats  # (m, m), the symmetric R'^(-1/2): permuting the kernels permutes it
    eigenvalues: Floats  # (m,), of R v = lambda R' v, ascending
    vectors: Floats  # (m, m), the eigenvectors V as columns, V'R'V = I
    vector: Floats  # (m,), the first eigenvector u, of nonnegative sum

    @property
    def m(self) -> int:
        """Number of kernels."""
        return len(self.S)

    @property
    def lowest(self) -> float:
        """The smallest generalised eigenvalue: a lower bound of the ratio over weights of any sign."""
        return float(self.eigenvalues[0])

    @property
    def size(self) -> float:
        """The scale of the ratios: the larger of the smallest eigenvalue and the ratios of single kernels.

        The largest eigenvalue is no scale, as it is unbounded where S' is nearly singular.
        """
        return max(abs(float(self.eigenvalues[0])), float(np.abs(np.diag(self.S)).max()), np.finfo(float).tiny)

    @property
    def simple(self) -> bool:
        """Whether the smallest eigenvalue is separated from the next one."""
        return self.m == 1 or bool(self.eigenvalues[1] - self.eigenvalues[0] > _MULTIPLE * self.size)

    def ratio(self, b: Floats) -> float:
        """Compute b'Sb / b'S'b; infinite where the denominator is not positive."""
        denominator = float(b @ self.S_prime @ b)
        return float(b @ self.S @ b) / denominator if denominator > 0 else np.inf


def make_pencil(S: Floats, S_prime: Floats, indefinite: float = 1e-8) -> Pencil:
    """Build the pencil; raise `SolverFailed` if S_prime has an eigenvalue below ``-indefinite``."""
    spectrum, axes = np.linalg.eigh(S_prime)
    smallest = float(spectrum[0])
    if smallest < -indefinite:
        raise SolverFailed(
            f"S_prime is indefinite: with its diagonal scaled to 1 its smallest eigenvalue is {smallest:.3g}. Expected "
            "a positive semidefinite second graph."
        )
    R, R_prime, ridge = S, S_prime, 0.0
    if smallest < _RIDGE:
        ridge = _RIDGE - min(smallest, 0.0)
        R = S + ridge * np.diag(S).max() * np.eye(len(S))
        R_prime = S_prime + ridge * np.eye(len(S))
    whitener = (axes / np.sqrt(spectrum + ridge)) @ axes.T
    C = whitener.T @ R @ whitener
    eigenvalues, basis = np.linalg.eigh((C + C.T) / 2)
    vectors = whitener @ basis
    return Pencil(S, S_prime, R, R_prime, whitener, eigenvalues, vectors, orient(vectors[:, 0]))


def orient(vectors: Floats) -> Floats:
    """Change the sign of each vector (along the last axis) whose sum is negative."""
    sums = vectors.sum(axis=-1, keepdims=True)
    if vectors.ndim == 1 and abs(sums[0]) < 1e-12 * np.abs(vectors).sum():
        return fix_signs(vectors)
    return np.where(sums < 0, -vectors, vectors)


def one_signed(vectors: Floats) -> NDArray[np.bool_]:
    """Return which oriented vectors (along the last axis) have no negative entry, up to rounding."""
    return vectors.min(axis=-1) >= -_SIGN * np.abs(vectors).max(axis=-1)


@dataclass(frozen=True, eq=False)
class WeightScaling:
    """Conversion of a solution in unit-diagonal coordinates to weights of all M kernels."""

    n_kernels: int
    active: Integers  # the kernels that are not zero under the second graph
    factors: Floats  # 1 / sqrt(S'_mm) of the active kernels

    @property
    def zero(self) -> Integers:
        """The kernels that are zero under the second graph."""
        return np.setdiff1d(np.arange(self.n_kernels), self.active, assume_unique=True)

    def weights(self, b: Floats) -> Floats:
        """Return the weights of all kernels, sum 1; exactly 0 for the kernels that are zero."""
        weights = np.zeros(self.n_kernels)
        # Dividing in two steps avoids overflow when the kernels' scales differ much.
        scaled = b * (self.factors / self.factors.max())
        weights[self.active] = scaled / scaled.sum()
        return weights


def prepare(S: ArrayLike, S_prime: ArrayLike) -> tuple[Floats, Floats, WeightScaling, float]:
    """Check a pair (S, S') and convert it to unit-diagonal coordinates, without the kernels that are zero.

    Returns S, S', the conversion of weights, and the magnitude below which a negative eigenvalue of S' is rounding.
    Errors as in `kernel_weights`.
    """
    given, given_prime = _symmetric(S, "S"), _symmetric(S_prime, "S_prime")
    same_shape(given, given_prime)
    precision = min(np.asarray(S).dtype, np.asarray(S_prime).dtype, key=lambda d: d == np.float64)
    indefinite = _INDEFINITE.get(np.dtype(precision), 1e-8)

    diagonal = np.diag(given_prime)
    largest = float(diagonal.max())
    if not largest > 0:
        raise SolverFailed(
            "No kernel has a positive S_prime_mm: every kernel is constant over the samples under the second graph."
        )
    is_zero = (diagonal <= _ZERO_KERNEL * largest) | (np.abs(given_prime).max(axis=1) <= _ZERO_ROW * largest)
    active, zero = np.flatnonzero(~is_zero), np.flatnonzero(is_zero)
    if len(zero):
        cross = np.abs(given_prime[zero]).max(initial=0.0)
        if diagonal[zero].min() < -indefinite * largest or cross > np.sqrt(indefinite * 1e-4) * largest:
            raise SolverFailed(
                f"S_prime is indefinite: kernel {int(zero[0])} has S_prime_mm = {diagonal[zero[0]]:.3g} but nonzero "
                "S_prime_mn. Expected a positive semidefinite second graph."
            )
    block = np.ix_(active, active)
    factors = 1.0 / np.sqrt(diagonal[active])
    scale = np.outer(factors, factors)
    scaled_prime = given_prime[block] * scale
    np.fill_diagonal(scaled_prime, 1.0)
    return given[block] * scale, scaled_prime, WeightScaling(len(diagonal), active, factors), indefinite


def duplicate_groups(S: Floats, S_prime: Floats) -> Integers:
    """Return for each kernel the first one, usually itself, whose rows of S and S' equal its own to rounding."""
    m = len(S)
    size = np.abs(S).max()
    close = (S_prime >= 1.0 - _DUPLICATE) & (np.abs(S - np.diag(S)) <= _DUPLICATE * size)
    close &= close.T
    first = np.arange(m)
    if close.sum() == m:
        return first
    for i in range(1, m):
        for j in np.flatnonzero(close[i, :i]):
            if first[j] == j and np.abs(S[i] - S[j]).max() <= 1e-6 * size:
                first[i] = j
                break
    return first


def _symmetric(matrix: ArrayLike, name: str) -> Floats:
    array = as_square_matrix(matrix, name)
    diagonal = np.sqrt(np.abs(np.diag(array)))
    # The tolerance of an entry is relative to its own pair of kernels, unless these are zero.
    allowed = 1e-5 * np.maximum(np.outer(diagonal, diagonal), np.abs(array)) + 1e-10 * np.abs(array).max()
    if (np.abs(array - array.T) > allowed).any():
        worst = float(np.abs(array - array.T).max())
        raise DataError(f"{name} is not symmetric: it differs from its transpose by {worst:.3g}. Pass (A + A.T) / 2.")
    return symmetrized(array)
