"""Matrix pencil (S, S') of `kernel_weights`: checked, scaled and whitened once for every method.

All methods work in unit-diagonal coordinates, where S'_mm = 1. Rescaling the kernels to c_m K_m does not change the
pencil in these coordinates. Every method is therefore equivariant (beta_m becomes beta_m / c_m), and tolerances are
relative.

The ratio b'Sb / b'S'b is minimised over b >= 0 by Dinkelbach's iteration: r is its minimum if b'(r S' - S)b has the
maximum 0 over the simplex, a standard quadratic program. A minimiser is the smallest eigenvector on its support.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.checks import as_square_matrix, check_symmetric, same_shape, symmetrized
from mklearn.errors import SolverFailed
from mklearn.optimize.eigen import fix_signs
from mklearn.optimize.simplex_qp import simplex_qp

Floats = NDArray[np.floating]
Integers = NDArray[np.intp]

# A kernel is zero under the second graph if S'_mm, relative to the largest entry, is below the first number, or if
# S'_mm and all |S'_mn| are below the second. The row of a constant kernel holds rounding errors of equal size. A kernel
# that is only scaled by a small factor c has S'_mm of order c^2 and S'_mn of order c.
_ZERO_KERNEL = 1e-24
_ZERO_ROW = 1e-12
# If the smallest eigenvalue of the unit-diagonal S' is below this, both matrices get the ridge.
_RIDGE = 1e-10
# S' with an eigenvalue below minus this is indefinite beyond rounding, for each precision of the input.
_INDEFINITE = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-8}
# Negative entries of an eigenvector down to -_SIGN times the largest count as 0: clipping them changes the ratio only
# to second order.
_SIGN = 1e-9
# Relative difference below which two eigenvalues, or two rows, count as equal.
_MULTIPLE = 1e-10
_DUPLICATE = 1e-12


@dataclass(frozen=True, eq=False)
class Pencil:
    """Matrices S and S' in unit-diagonal coordinates, with the spectrum of the pair.

    R and R' are S and S' with a ridge if S' is singular: the ridge is added to the diagonal of S', and the ridge times
    the largest S_mm to the diagonal of S. A direction in the null space of both matrices then has the ratio of the
    worst single kernel and is never a solution.
    """

    S: Floats  # (m, m)
    S_prime: Floats  # (m, m), unit diagonal
    R: Floats  # (m, m)
    R_prime: Floats  # (m, m)
    whitener: Floats  # (m, m), the symmetric R'^(-1/2): permuting the kernels permutes it
    eigenvalues: Floats  # (m,), of R v = lambda R' v, ascending
    vectors: Floats  # (m, m), the eigenvectors V as columns, V'R'V = I
    vector: Floats  # (m,), the first eigenvector u, of nonnegative sum
    members: Integers  # (M,), position of each kernel in the pencil; -1 if it is zero under the second graph
    factors: Floats  # (M,), 1 / sqrt(S'_mm); 0 for such a kernel

    @property
    def m(self) -> int:
        """Number of kernels."""
        return len(self.S)

    @property
    def lowest(self) -> float:
        """Smallest generalised eigenvalue, a lower bound of the ratio over weights of any sign."""
        return float(self.eigenvalues[0])

    @property
    def size(self) -> float:
        """Scale of the ratios: the largest among the smallest eigenvalue and the ratios of single kernels.

        The largest eigenvalue does not serve as a scale, because it is unbounded if S' is nearly singular.
        """
        return max(abs(float(self.eigenvalues[0])), float(np.abs(np.diag(self.S)).max()), np.finfo(float).tiny)

    @property
    def simple(self) -> bool:
        """Whether the smallest eigenvalue is separated from the next one."""
        return self.m == 1 or bool(self.eigenvalues[1] - self.eigenvalues[0] > _MULTIPLE * self.size)

    def ratio(self, b: Floats) -> float:
        """Compute b'Sb / b'S'b; infinite if the denominator is not positive."""
        denominator = float(b @ self.S_prime @ b)
        return float(b @ self.S @ b) / denominator if denominator > 0 else np.inf

    def weights(self, b: Floats) -> Floats:
        """Return the weights of all kernels, sum 1: equal kernels share a weight, zero kernels get exactly 0."""
        counts = np.bincount(self.members[self.members >= 0])
        # Dividing in two steps avoids overflow when the kernels' scales differ much.
        scaled = (b / counts)[self.members] * (self.factors / self.factors.max())
        return np.asarray(scaled / scaled.sum())


def _pencil(S: Floats, S_prime: Floats, indefinite: float, members: Integers, factors: Floats) -> Pencil:
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
    vector = _oriented(vectors[:, 0])
    return Pencil(S, S_prime, R, R_prime, whitener, eigenvalues, vectors, vector, members, factors)


def _oriented(vector: Floats) -> Floats:
    """Change the sign of a vector whose sum is negative."""
    total = vector.sum()
    if abs(total) < 1e-12 * np.abs(vector).sum():
        return fix_signs(vector)
    return np.where(total < 0, -vector, vector)


def one_signed(vector: Floats) -> bool:
    """Return whether an oriented vector has no negative entry, up to rounding."""
    return bool(vector.min() >= -_SIGN * np.abs(vector).max())


def prepare(S: ArrayLike, S_prime: ArrayLike, *, merge_equal: bool = True) -> Pencil:
    """Check a pair (S, S') and build its pencil in unit-diagonal coordinates, without the kernels that are zero.

    With ``merge_equal``, kernels that are equal up to scale count as one. Errors are as in `kernel_weights`.
    """
    full, full_prime = _symmetric(S, "S"), _symmetric(S_prime, "S_prime")
    same_shape(full, full_prime)
    precision = min(np.asarray(S).dtype, np.asarray(S_prime).dtype, key=lambda d: d == np.float64)
    indefinite = _INDEFINITE.get(np.dtype(precision), 1e-8)

    diagonal = np.diag(full_prime)
    largest = float(diagonal.max())
    if not largest > 0:
        raise SolverFailed(
            "No kernel has a positive S_prime_mm: every kernel is constant over the samples under the second graph."
        )
    is_zero = (diagonal <= _ZERO_KERNEL * largest) | (np.abs(full_prime).max(axis=1) <= _ZERO_ROW * largest)
    active, zero = np.flatnonzero(~is_zero), np.flatnonzero(is_zero)
    if len(zero):
        cross = np.abs(full_prime[zero]).max(initial=0.0)
        if diagonal[zero].min() < -indefinite * largest or cross > np.sqrt(indefinite * 1e-4) * largest:
            raise SolverFailed(
                f"S_prime is indefinite: kernel {int(zero[0])} has S_prime_mm = {diagonal[zero[0]]:.3g} but nonzero "
                "S_prime_mn. Expected a positive semidefinite second graph."
            )
    factors = np.zeros(len(diagonal))
    factors[active] = 1.0 / np.sqrt(diagonal[active])
    block = np.ix_(active, active)
    scale = np.outer(factors[active], factors[active])
    scaled, scaled_prime = full[block] * scale, full_prime[block] * scale
    np.fill_diagonal(scaled_prime, 1.0)
    first = _first_equal(scaled, scaled_prime) if merge_equal else np.arange(len(active))
    kept = np.unique(first)
    members = np.full(len(diagonal), -1)
    members[active] = np.searchsorted(kept, first)
    block = np.ix_(kept, kept)
    return _pencil(scaled[block], scaled_prime[block], indefinite, members, factors)


def _first_equal(S: Floats, S_prime: Floats) -> Integers:
    """Return, for each kernel, the first kernel whose rows of S and S' are equal up to rounding, usually itself."""
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
    array = as_square_matrix(matrix, name, dtype=None)
    check_symmetric(array, name)
    return symmetrized(array.astype(np.float64, copy=False))


def minimiser(pencil: Pencil) -> tuple[Floats, bool]:
    """Compute the minimiser of the ratio in unit-diagonal coordinates, shape (m,), and whether it is proven global.

    Its entries off the support are exact zeros. It is proven where `simplex_qp` enumerates the supports, or where its
    ratio is the smallest eigenvalue. If several minimisers exist, one is returned; if all ratios are equal, the one
    with equal entries.
    """
    slack = 8 * np.finfo(float).eps * pencil.size
    starts = [np.ones(pencil.m), *np.eye(pencil.m)]
    starts += [np.maximum(side, 0) for side in (pencil.vector, -pencil.vector) if (side > 0).any()]
    ratios = np.array([pencil.ratio(b) for b in starts])
    best = int(np.argmax(ratios <= ratios.min() + slack))  # the first one wins ties up to rounding
    b, value = starts[best], float(ratios[best])
    if one_signed(pencil.vector) or pencil.lowest >= value - slack:
        return b, True
    while True:
        found = simplex_qp(value * pencil.S_prime - pencil.S)
        following = _polished(pencil, found.theta)
        ratio = pencil.ratio(following)
        if not ratio < value - slack:
            return b, found.status == "optimal"
        b, value = following, ratio


def _polished(pencil: Pencil, b: Floats) -> Floats:
    """Replace b by the smallest eigenvector on its support if that eigenvector has one sign and no larger ratio."""
    support = np.flatnonzero(b > 1e-9 * b.max())
    block = np.ix_(support, support)
    inverse = np.linalg.inv(np.linalg.cholesky(pencil.R_prime[block]))
    _, basis = np.linalg.eigh(inverse @ pencil.R[block] @ inverse.T)
    vector = _oriented((inverse.T @ basis[:, :1])[:, 0])
    if not one_signed(vector):
        return b
    trial = np.zeros(pencil.m)
    trial[support] = np.maximum(vector, 0)
    return trial if pencil.ratio(trial) <= pencil.ratio(b) else b
