"""Kernel selection by the group lasso in the feature spaces of the kernels.

With centred kernels ``K_m = F_m F_m'`` of unit trace and centred targets T (n, c), the rows of F_m and T scaled by the
square roots of the sample weights, the problem for a penalty mu is

    min over B_1, ..., B_M of  1/2 ||R||^2 + mu sum_m ||B_m||,    R = T - sum_m F_m B_m.                         (P)

It is l1-norm multiple kernel learning with the squared loss: kernels whose block B_m is 0 are not chosen. A solution is
optimal if and only if

    ||F_m' R|| <= mu for all m,    F_m' R = mu B_m / ||B_m|| if B_m is not 0,                                    (KKT)

The point theta = R min(1, mu / max_m ||F_m' R||) is feasible for the dual ``max 1/2 ||T||^2 - 1/2 ||T - theta||^2``, so
the duality gap is a certificate. Blocks are updated one at a time by a proximal gradient step of length 1/||K_m||. Only
blocks that are not 0 or violate (KKT) are visited. For mu >= max_m ||F_m' T|| no kernel is chosen.

F_m is a pivoted Cholesky factor (n, rank). It is exact for kernels of low rank, and smaller than the kernel (n, n).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpstrf

from mklearn.checks import check_integer
from mklearn.errors import NotApplicable
from mklearn.optimize.ridge_path import scaled_and_centred, weighting

Array = NDArray[np.floating[Any]]
# Ratio of consecutive penalties of the path, and ratio of the smallest to the largest penalty.
_STEP, _LEAST = 0.9, 0.02
# Number of bisections of the last penalty interval in the search for the requested number of kernels.
_HALVINGS = 5
# Number of bisections if the search above chooses no kernel because several enter at nearly the same penalty.
_MOST_HALVINGS = 40
_MAX_SWEEPS = 2000
_REMAINING = 1e-6


def kernel_factor(K: Array, max_rank: int, *, sample_weight: Array | None = None) -> Array:
    """Return a factor F (n, rank) with ``FF' = SHKHS``, scaled to unit trace; S holds the roots of the sample weights.

    K is positive semidefinite, centred or not. If its rank exceeds ``max_rank``, it is approximated with the pivots of
    largest residual variance. Residual variances below 1e-6 of the largest variance count as 0. F has no columns if the
    kernel is constant over the samples.
    """
    weights, root, shares, _ = weighting(len(K), sample_weight)
    _, M = scaled_and_centred(K, shares, root)
    diagonal, raw = np.diagonal(M), float(np.abs(np.diagonal(K)).max())
    largest, trace = float(diagonal.max()), float(diagonal.sum()) / float(weights.sum())
    if not largest > 10 * len(K) * np.finfo(np.float64).eps * raw * float(weights.max()):
        return np.zeros((len(K), 0))
    # M is symmetric: its transpose is M in LAPACK's column order, without a copy.
    factor, order, rank, _ = dpstrf(M.T, tol=_REMAINING * largest, lower=1, overwrite_a=1)
    rank = min(int(rank), max_rank)
    F = np.empty((len(K), rank))
    F[order - 1] = np.tril(factor[:, :rank])
    return F / np.sqrt(trace)


@dataclass(frozen=True, eq=False)
class KernelLassoSolution:
    """Solution of (P) for one penalty."""

    penalty: float  # mu
    sizes: Array  # (M,), ||B_m||, exactly 0 for kernels that are not chosen
    coefficients: Array  # (sum of ranks, c), the blocks B_m, stacked
    residuals: Array  # (n, c), R
    gap: float  # duality gap, in units of ``1/2 ||T||^2``

    @property
    def chosen(self) -> NDArray[np.intp]:
        """Positions of the chosen kernels."""
        return np.flatnonzero(self.sizes)


class KernelLasso:
    """Group lasso problem (P) for M factors from `kernel_factor` and centred targets (n, c).

    The rows of the targets are scaled by the square roots of the sample weights. A factor without columns is never
    chosen. ``tol`` is the largest duality gap of a solution, in units of ``1/2 ||T||^2``. Raises `NotApplicable` if all
    kernels are constant or uncorrelated with the targets.
    """

    def __init__(self, factors: Iterable[Array], targets: Array, *, tol: float = 1e-4) -> None:
        blocks = list(factors)
        self._bounds = np.cumsum([0, *(block.shape[1] for block in blocks)])
        self._F = np.asfortranarray(np.concatenate(blocks, axis=1))
        self._lipschitz = np.array([np.linalg.norm(block, 2) ** 2 if block.size else 0.0 for block in blocks])
        self._T, self.tol = np.asarray(targets, dtype=np.float64), tol
        self._norm = 0.5 * float(np.vdot(self._T, self._T))
        self.largest_penalty = float(self._correlations(self._T).max(initial=0.0))
        if not self.largest_penalty > 0:
            raise NotApplicable("all kernels are constant over the samples, or unrelated to the targets")

    def _correlations(self, R: Array) -> Array:
        return _block_norms(self._F.T @ R, self._bounds)

    def solve(self, penalty: float, start: KernelLassoSolution | None = None) -> KernelLassoSolution:
        """Solve (P) for one penalty; ``start`` is a solution for another penalty."""
        B = np.zeros((self._F.shape[1], self._T.shape[1])) if start is None else start.coefficients.copy()
        R = self._T.copy() if start is None else start.residuals.copy()
        swept = 0
        while True:
            solution = self._solution(penalty, B, R)
            if solution.gap <= self.tol or swept >= _MAX_SWEEPS:
                return solution
            visited = np.flatnonzero((self._correlations(R) > penalty) | (solution.sizes > 0))
            for _ in range(10):
                for m in visited:
                    self._update(int(m), penalty, B, R)
            swept += 10

    def _update(self, m: int, penalty: float, B: Array, R: Array) -> None:
        """Take a proximal gradient step in block m, in place."""
        rows = slice(self._bounds[m], self._bounds[m + 1])
        F, old, step = self._F[:, rows], B[rows], 1.0 / self._lipschitz[m]
        new = old + step * (F.T @ R)
        size = float(np.linalg.norm(new))
        new *= max(0.0, 1.0 - step * penalty / size) if size > 0 else 0.0
        change = old - new
        if change.any():
            R += F @ change
            B[rows] = new

    def _solution(self, penalty: float, B: Array, R: Array) -> KernelLassoSolution:
        sizes = _block_norms(B, self._bounds)
        theta = R * min(1.0, penalty / max(float(self._correlations(R).max()), np.finfo(np.float64).tiny))
        primal = 0.5 * float(np.vdot(R, R)) + penalty * float(sizes.sum())
        away = self._T - theta
        dual = self._norm - 0.5 * float(np.vdot(away, away))
        return KernelLassoSolution(penalty, sizes, B.copy(), R.copy(), (primal - dual) / self._norm)

    def largest_choice(self, n_kernels: int) -> KernelLassoSolution:
        """Return the solution with the smallest penalty on the path that has at most ``n_kernels`` kernels.

        If more kernels than that enter at the largest penalty, the first ones are taken.
        """
        check_integer(n_kernels, "n_kernels", 1)
        last = self.solve(self.largest_penalty)
        penalty = self.largest_penalty
        while penalty * _STEP >= _LEAST * self.largest_penalty:
            penalty *= _STEP
            trial = self.solve(penalty, last)
            if len(trial.chosen) > n_kernels:
                break
            last = trial
        else:
            return last
        for halving in range(_MOST_HALVINGS):
            if len(last.chosen) == n_kernels or (halving >= _HALVINGS and len(last.chosen)):
                break
            middle = self.solve(float(np.sqrt(last.penalty * penalty)), last)
            if len(middle.chosen) > n_kernels:
                penalty = middle.penalty
            else:
                last = middle
        return last if len(last.chosen) else self._of_the_first(n_kernels)

    def _of_the_first(self, n_kernels: int) -> KernelLassoSolution:
        """Return a step towards the solution with only the kernels that correlate most with the targets."""
        penalty = _STEP * self.largest_penalty
        B, R = np.zeros((self._F.shape[1], self._T.shape[1])), self._T.copy()
        for m in np.argsort(-self._correlations(self._T), kind="stable")[:n_kernels]:
            self._update(int(m), penalty, B, R)
        return self._solution(penalty, B, R)


def _block_norms(rows: Array, bounds: NDArray[np.intp]) -> Array:
    """Return the norm of each block of rows, shape (M,); 0 for an empty block."""
    squares = np.append(np.einsum("ij,ij->i", rows, rows), 0.0)  # an empty last block begins there
    sums = np.add.reduceat(squares, bounds[:-1])
    return np.asarray(np.sqrt(np.where(np.diff(bounds) > 0, sums, 0.0)))
