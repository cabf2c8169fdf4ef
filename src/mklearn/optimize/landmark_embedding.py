"""Graph embedding in kernels that are products of explicit features: everything from moments, nothing of n rows.

With features Phi = [Phi_1 ... Phi_M], one block of columns for each kernel and K_m = Phi_m Phi_m', the combined kernel
is K = Phi D Phi' with D = blockdiag(beta_m I). Coefficients A of the samples enter all of `graph_embedding` through
V = Phi'A alone, and the scatters of the features are sums over samples, S_W and S_T:

    A'K L K A = V'D S_W D V,    A'K L' K A = V'D S_T D V,    T_mn = tr(K_m L' K_n) = <C[m,n], S_T[m,n]>_F,

with C = Phi'Phi.

**The ridge on coefficients**, rho A'A, is kept exactly. The A of smallest length with V = Phi'A has A'A = V'C^+ V, and
with C = EE' and V = E a this is a'a, for any E of full column rank: the problem is one in as many coordinates a as C
has rank. E is a Cholesky factor with pivots, which costs a thirtieth of an eigendecomposition.
Without this restriction to the range of Phi', directions without any penalty appear and f falls to 0.

With every sample a landmark these are the dense problem and its solution; with fewer, those of Nystroem's kernels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, solve_triangular
from scipy.linalg.lapack import dpotrf, dpotri, dpstrf

from mklearn.checks import symmetrized
from mklearn.errors import NotApplicable, SolverFailed
from mklearn.optimize.graph_embedding import Projection, between_directions, smallest_of_pencil
from mklearn.optimize.trace_ratio import trace_ratio

Array = NDArray[np.floating[Any]]

RANK_TOLERANCE = 1e-12
"""Pivots of C below this, relative to the largest, are rounding: their directions are left out."""
# Relative residual of a solution, and the steps of iterative refinement after which it is given up.
_SOLVED = 1e-11
_REFINEMENTS = 5
# Columns of a triangle that are computed at a time, in the processor's cache.
_COLUMNS = 32


def per_feature(values: ArrayLike, blocks: Sequence[slice]) -> Array:
    """Repeat one value of each kernel for its features, (D,)."""
    return np.repeat(np.asarray(values, dtype=np.float64), [block.stop - block.start for block in blocks])


def lower_factor(matrix: Array) -> Array:
    """Return the lower Cholesky factor of a scatter with its ridge, a symmetric matrix, which is overwritten.

    Of an array in C order only the upper triangle is read, else only the lower one. Raises `SolverFailed` where the
    ridge is below the rounding errors of the scatter.
    """
    try:
        # LAPACK reads columns: the transpose of an array in C order needs no copy
        columns = matrix.T if matrix.flags.c_contiguous else matrix
        return np.asarray(cho_factor(columns, lower=True, overwrite_a=True, check_finite=False)[0])
    except LinAlgError:
        raise SolverFailed(
            "the ridge is smaller than the rounding errors of the features' scatter: raise it (`ridge`, of a ridge "
            "classifier `alpha`), or take features in double precision (dtype float64)"
        ) from None


@dataclass(eq=False)
class LandmarkProblem:
    """Scatters of features in blocks, with the span of the samples' coefficients."""

    n: int  # samples
    blocks: Sequence[slice]  # columns of each kernel's features; together all D of them, in order
    total: Array  # (D, D), S_T, exactly symmetric
    between: Array | None  # (D, c), B with S_T - BB' = S_W: the LDA graph. None: L = 0 and L' = I - J, the PCA graph
    offset: Array  # (D,), the mean of features that are not centred, else 0: C = S_T + n offset offset'
    _last: tuple[Array, tuple[Array, Array]] | None = field(default=None, init=False, repr=False)

    @property
    def n_kernels(self) -> int:
        """M."""
        return len(self.blocks)

    def spread(self, weights: Array) -> Array:
        """Return kernel weights repeated for the features of each kernel, the diagonal of D."""
        return per_feature(weights, self.blocks)

    @cached_property
    def within(self) -> Array:
        """S_W, the scatter of the graph L, (D, D)."""
        if self.between is None:
            return np.zeros_like(self.total)
        scatter = self.between @ self.between.T
        return np.subtract(self.total, scatter, out=scatter)

    @cached_property
    def gram(self) -> Array:
        """C = Phi'Phi, (D, D)."""
        return np.asarray(self.total + self.n * np.outer(self.offset, self.offset)) if self.offset.any() else self.total

    @property
    def basis(self) -> Array:
        """E of shape (D, r): V = E a, with A'A = a'a."""
        return self._factor[0]

    @cached_property
    def _factor(self) -> tuple[Array, NDArray[np.intp], Array]:
        """E, the r rows of it that are a lower triangle, and this triangle."""
        diagonal = np.diagonal(self.gram)
        lowest = RANK_TOLERANCE * float(diagonal.max())
        factor, failed = dpotrf(self.gram.T, lower=1, clean=1)
        if not failed and float(np.diagonal(factor).min()) ** 2 > lowest:
            return factor, np.arange(len(factor)), factor
        factor, order, rank, _ = dpstrf(self.gram.T, tol=lowest, lower=1)
        basis = np.empty((len(order), rank))
        basis[order - 1] = np.tril(factor)[:, :rank]
        rows = order[:rank] - 1
        return basis, rows, np.asfortranarray(basis[rows])

    @cached_property
    def traces(self) -> Array:
        """T of shape (M, M), T_mn = tr(K_m L' K_n)."""
        return self._cross_traces(self.total)

    @cached_property
    def _sizes(self) -> Array:
        """tr(K_m K_n), (M, M)."""
        return self.traces if self.gram is self.total else self._cross_traces(self.gram)

    # ------------------------------------------------------------------------------------------------ A-step

    def ridge_amount(self, weights: Array, ridge: float) -> float:
        """Compute rho = ridge * tr(2 K L' K) / n; raise `NotApplicable` for kernels that are constant."""
        trace = 2.0 * float(weights @ self.traces @ weights)
        size = 2.0 * float(weights @ self._sizes @ weights)
        if not trace > 10.0 * self.n * float(np.finfo(np.float64).eps) * size:
            raise NotApplicable(
                "tr(K L' K) = 0: the combined kernel is constant over the samples, so no class can be discriminated. "
                "Check the bandwidth and the kernel weights."
            )
        return ridge * trace / self.n

    def ratio_trace_step(self, weights: Array, n_components: int, *, ridge: float) -> Projection:
        """Solve the problem of `graph_embedding.ratio_trace_step` for kernel weights; coefficients are a, (r, p).

        With labels and a ridge, S' = S + FF' for F = sqrt(2) E'D B, and S^-1 F is all that is needed of S.
        """
        rho = self.ridge_amount(weights, ridge)
        spread = self.spread(weights)[:, None]
        if self.between is not None and rho > 0:
            F = np.sqrt(2.0) * _times(self.basis.T, spread * self.between)
            solved = self._solved_by_features(weights, F, rho)
            if solved is None:
                S = self._scatter(self.within, spread * self.basis, rho)
                solved = cho_solve((lower_factor(S), True), F, check_finite=False)
            values, vectors = between_directions(solved, F, n_components)
            return Projection(vectors, values, rho)
        scaled = spread * self.basis
        S = self._scatter(self.within, scaled, rho)
        S_prime = self._scatter(self.total, scaled, rho)
        most = n_components if self.between is None else min(n_components, self.between.shape[1] - 1)
        values, vectors = smallest_of_pencil(S, S_prime, most, rho)
        return Projection(vectors, values, rho)

    def trace_ratio_step(self, weights: Array, n_components: int, *, ridge: float) -> Projection:
        """Minimise tr(A'SA) / tr(A'S'A) with A'A = I, see `graph_embedding.trace_ratio_step`."""
        rho = self.ridge_amount(weights, ridge)
        scaled = self.spread(weights)[:, None] * self.basis
        S, S_prime = (self._scatter(side, scaled, rho) for side in (self.within, self.total))
        A = np.asarray(trace_ratio(S, S_prime, n_components).components, dtype=np.float64)
        values = np.einsum("ip,ip->p", A, S @ A) / np.einsum("ip,ip->p", A, S_prime @ A)
        return Projection(A, values, rho)

    def projected_scatters(self, weights: Array, coefficients: Array, rho: float) -> tuple[Array, Array]:
        """Compute A'SA and A'S'A, (p, p)."""
        both, penalty = np.outer(weights, weights), rho * (coefficients.T @ coefficients)
        above, below = (2.0 * np.tensordot(both, forms, 2) + penalty for forms in self._forms_of(coefficients))
        return symmetrized(above), symmetrized(below)

    def sample_coefficients(self, V: Array) -> Array:
        """Return a of shape (r, p), the coordinates of the shortest A with Phi'A = V."""
        _, rows, triangle = self._factor
        return np.asarray(solve_triangular(triangle, V[rows], lower=True, check_finite=False))

    def feature_coefficients(self, weights: Array, coefficients: Array) -> Array:
        """Return D V of shape (D, p): the embedding of a sample is its features times it, less that of the mean."""
        return np.asarray(self.spread(weights)[:, None] * _times(self.basis, coefficients))

    # ------------------------------------------------------------------------------------------------ beta-step

    def weight_matrices(self, coefficients: Array, ridge: float) -> tuple[Array, Array]:
        """Compute the matrices of the beta-step for a, (r, p), ridge included: beta'S beta / beta'S'beta = f."""
        penalty = (2.0 * ridge / self.n) * float(np.vdot(coefficients, coefficients)) * self.traces
        above, below = (2.0 * np.trace(forms, axis1=2, axis2=3) for forms in self._forms_of(coefficients))
        return symmetrized(above + penalty), symmetrized(below + penalty)

    def initial_weight_matrices(self, ridge: float) -> tuple[Array, Array]:
        """Compute them for AA' = I, the paper's start."""
        penalty = 2.0 * ridge * self.traces
        return 2.0 * self._cross_traces(self.within) + penalty, 2.0 * self.traces + penalty

    # ------------------------------------------------------------------------------------------------ inside

    def _scatter(self, scatter: Array, scaled: Array, rho: float) -> Array:
        """Compute 2 E'D S D E + rho I."""
        matrix = symmetrized(2.0 * scaled.T @ (scatter @ scaled))
        matrix[np.diag_indices_from(matrix)] += rho
        return matrix

    def _solved_by_features(self, weights: Array, F: Array, rho: float) -> Array | None:
        """Solve S a = F, S = 2 E'D S_W D E + rho I, in the coordinates V of the features; None where that fails.

        For V the matrix is 2 D S_W D + rho C^-1: it needs no product of matrices, so that a step costs a twelfth. The
        inverse costs digits where C is nearly singular. Residuals are therefore computed in the coordinates a.
        """
        E, rows, triangle = self._factor
        if E.shape[0] != E.shape[1]:
            return None
        spread = self.spread(weights)[:, None]

        def to_features(a: Array) -> Array:
            V = np.empty_like(a)
            V[rows] = solve_triangular(triangle, a, lower=True, trans=1, check_finite=False)
            return V

        # S_W is symmetric: its transpose is in the order of the other two.
        within, matrix = self.within.T, self._step_matrix
        for columns in _column_blocks(len(matrix)):
            lower = slice(columns.start, None)
            part = np.multiply(within[lower, columns], spread[columns].T * (2.0 / rho), out=matrix[lower, columns])
            part *= spread[lower]
            part += self._gram_inverse[lower, columns]
        try:
            factor = lower_factor(matrix), True
        except SolverFailed:
            return None
        solved, residual = np.zeros_like(F), F / rho
        for _ in range(_REFINEMENTS):
            solved = solved + self.sample_coefficients(cho_solve(factor, to_features(residual), check_finite=False))
            V = spread * _times(E, solved)
            residual = (F - 2.0 * _times(E.T, spread * _times(self.within, V))) / rho - solved
            if np.linalg.norm(residual) <= _SOLVED * np.linalg.norm(F) / rho:
                return solved
        return None

    @cached_property
    def _step_matrix(self) -> Array:
        """The matrix of the last step, (D, D) in Fortran order: memory that every step overwrites."""
        return np.empty_like(self._gram_inverse)

    @cached_property
    def _gram_inverse(self) -> Array:
        """The lower triangle of C^-1, (D, D) in Fortran order, for C of full rank."""
        _, rows, triangle = self._factor
        inverse = dpotri(triangle, lower=1)[0]
        if np.array_equal(rows, np.arange(len(rows))):
            return np.asarray(inverse)
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        back = np.argsort(rows)
        return np.asfortranarray(inverse[np.ix_(back, back)])

    def _cross_traces(self, scatter: Array) -> Array:
        """Compute <C[m,n], S[m,n]>_F for all pairs of blocks."""

        def product(m: slice, n: slice) -> float:
            return float(np.einsum("de,de->", self.gram[m, n], scatter[m, n]))

        return symmetrized(np.array([[product(m, n) for n in self.blocks] for m in self.blocks]))

    def _forms_of(self, coefficients: Array) -> tuple[Array, Array]:
        """Compute V_m' S[m,n] V_n for V = E a and all pairs of blocks, of S_W and of S_T, each (M, M, p, p).

        All quadratic forms of a follow from them, for any weights: those of the last a are kept.
        """
        if self._last is None or self._last[0] is not coefficients:
            V = _times(self.basis, coefficients)
            above = self._products(self.within, V)
            if self.between is None:
                below = self._products(self.total, V)
            else:
                means = [self.between[block].T @ V[block] for block in self.blocks]
                below = above + np.einsum("mcp,ncq->mnpq", means, means)
            self._last = coefficients, (above, below)
        return self._last[1]

    def _products(self, scatter: Array, V: Array) -> Array:
        """Compute V_m' S[m,n] V_n for all pairs of blocks, (M, M, p, p)."""
        rows = [V[block].T @ scatter[block] for block in self.blocks]
        return np.array([[row[:, block] @ V[block] for block in self.blocks] for row in rows])


def _times(matrix: Array, V: Array) -> Array:
    """Compute matrix V: BLAS multiplies few rows faster than few columns."""
    return np.asarray((V.T @ matrix.T).T)


def _column_blocks(n_columns: int) -> Iterator[slice]:
    """Yield slices of columns: of a lower triangle, little above the diagonal is in one."""
    for start in range(0, n_columns, _COLUMNS):
        yield slice(start, min(start + _COLUMNS, n_columns))
