"""Graph embedding with kernels that are products of explicit features, computed from moments without (n, n) matrices.

With features Phi = [Phi_1 ... Phi_M], one block of columns for each kernel and K_m = Phi_m Phi_m', the combined kernel
is K = Phi D Phi' with D = blockdiag(beta_m I). All of `graph_embedding` depends on the coefficients A of the samples
only through V = Phi'A, and on the samples only through C = Phi'Phi and the scatters S_W and S_T of the features:

    A'K L K A = V'D S_W D V,    A'K L' K A = V'D S_T D V,    T_mn = tr(K_m L' K_n) = <C[m,n], S_T[m,n]>_F.

With C = EE', E of full column rank r, and V = E a, the ridge rho A'A on the coefficients is rho a'a, so the unknowns
are the r coordinates a (docs/explanation/landmarks.md). E is a pivoted Cholesky factor, which costs a thirtieth of an
eigendecomposition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_solve, solve_triangular
from scipy.linalg.lapack import dpotrf, dpstrf

from mklearn.checks import symmetrized
from mklearn.optimize.eigen import lower_factor
from mklearn.optimize.graph_embedding import EmbeddingProblem, with_ridge

Array = NDArray[np.floating[Any]]

RANK_TOLERANCE = 1e-12
"""Relative size below which pivots of C are rounding; their directions are dropped."""


def per_feature(values: ArrayLike, blocks: Sequence[slice]) -> Array:
    """Repeat the value of each kernel for all its features, shape (D,)."""
    return np.repeat(np.asarray(values, dtype=np.float64), [block.stop - block.start for block in blocks])


@dataclass(eq=False)
class LandmarkProblem(EmbeddingProblem):
    """Steps of MKL-DR for features in blocks; the coefficients are a (r, p), the coordinates of V."""

    n: int  # number of samples
    blocks: Sequence[slice]  # columns of each kernel's features, in order; together they cover all D columns
    total: Array  # (D, D), S_T, exactly symmetric
    between: Array | None  # (D, c), B with S_T - BB' = S_W (LDA graph); None for the PCA graph, L = 0 and L' = I - J
    offset: Array  # (D,), mean of features that are not centred, else 0: C = S_T + n offset offset'
    _last: tuple[Array, tuple[Array, Array]] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self.n_kernels = len(self.blocks)
        self.most_components = len(self.total) if self.between is None else self.between.shape[1] - 1

    def spread(self, weights: Array) -> Array:
        """Return the diagonal of D, the kernel weights repeated for the features of each kernel."""
        return per_feature(weights, self.blocks)

    @cached_property
    def within(self) -> Array:
        """Scatter S_W of the graph L, (D, D)."""
        if self.between is None:
            return np.zeros_like(self.total)
        scatter = self.between @ self.between.T
        return np.subtract(self.total, scatter, out=scatter)

    @cached_property
    def gram(self) -> Array:
        """Matrix C = Phi'Phi, (D, D)."""
        return np.asarray(self.total + self.n * np.outer(self.offset, self.offset)) if self.offset.any() else self.total

    @property
    def basis(self) -> Array:
        """Basis E of shape (D, r): V = E a, with A'A = a'a."""
        return self._factor[0]

    @cached_property
    def _factor(self) -> tuple[Array, NDArray[np.intp]]:
        """Basis E, and the positions of its r rows that form a lower triangle."""
        lowest = RANK_TOLERANCE * float(np.diagonal(self.gram).max())
        factor, failed = dpotrf(self.gram.T, lower=1, clean=1)
        if not failed and float(np.diagonal(factor).min()) ** 2 > lowest:
            return factor, np.arange(len(factor))
        factor, order, rank, _ = dpstrf(self.gram.T, tol=lowest, lower=1)
        basis = np.empty((len(order), rank))
        basis[order - 1] = np.tril(factor)[:, :rank]
        return basis, order[:rank] - 1

    @cached_property
    def traces(self) -> Array:
        """Traces T, see `EmbeddingProblem`."""
        return self._cross_traces(self.total)

    @cached_property
    def _sizes(self) -> Array:
        """Traces tr(K_m K_n), (M, M)."""
        return self.traces if self.gram is self.total else self._cross_traces(self.gram)

    def _squared_norm(self, weights: Array) -> float:
        return float(weights @ self._sizes @ weights)

    def _lda_scatter(self, weights: Array, rho: float) -> tuple[Array, Array] | None:
        if self.between is None:
            return None
        scaled = self.spread(weights)[:, None] * self.basis
        return self._scatter(self.within, scaled, rho), np.sqrt(2.0) * scaled.T @ self.between

    def _scatters(self, weights: Array, rho: float) -> tuple[Array, Array]:
        scaled = self.spread(weights)[:, None] * self.basis
        return self._scatter(self.within, scaled, rho), self._scatter(self.total, scaled, rho)

    def _scatter(self, scatter: Array, scaled: Array, rho: float) -> Array:
        """Compute 2 E'D S D E + rho I from S and D E."""
        return with_ridge(symmetrized(2.0 * scaled.T @ (scatter @ scaled)), rho)

    def sample_coefficients(self, V: Array) -> Array:
        """Return the coordinates a (r, p) of the shortest A with Phi'A = V."""
        basis, rows = self._factor
        return np.asarray(solve_triangular(basis[rows], V[rows], lower=True, check_finite=False))

    def feature_coefficients(self, weights: Array, coefficients: Array) -> Array:
        """Return D V (D, p), the matrix that multiplies the centred features of a sample to embed it."""
        return np.asarray(self.spread(weights)[:, None] * (self.basis @ coefficients))

    def ridge_regression(self, cross: Array, weights: Array, amount: float) -> Array:
        """Fit ridge regression of targets Y with penalty lambda tr(W'W), lambda = ``amount``, and a free intercept.

        With T = D^(1/2), the solution is W = (T S_T T + lambda I)^-1 T C. Here ``cross`` is C = Phi'Y (D, c), the
        products of centred features and centred targets. Returns T W (D, c), the coefficients of a sample's features.
        Raises `SolverFailed` if lambda is below the rounding errors of the scatter.
        """
        root = np.sqrt(self.spread(weights))
        system = with_ridge(root[:, None] * self.total * root, amount)
        solved = cho_solve((lower_factor(system), True), root[:, None] * cross, check_finite=False)
        return np.asarray(root[:, None] * solved)

    def _within_traces(self) -> Array:
        return self._cross_traces(self.within)

    def _cross_traces(self, scatter: Array) -> Array:
        """Compute <C[m,n], S[m,n]>_F for all pairs of blocks."""

        def product(m: slice, n: slice) -> float:
            return float(np.einsum("de,de->", self.gram[m, n], scatter[m, n]))

        return symmetrized(np.array([[product(m, n) for n in self.blocks] for m in self.blocks]))

    def _weight_forms(self, coefficients: Array) -> tuple[Array, Array]:
        above, below = (np.trace(forms, axis1=2, axis2=3) for forms in self._forms_of(coefficients))
        return above, below

    def _component_forms(self, weights: Array, coefficients: Array) -> tuple[Array, Array]:
        both = np.outer(weights, weights)
        above, below = (np.tensordot(both, forms, 2) for forms in self._forms_of(coefficients))
        return above, below

    def _forms_of(self, coefficients: Array) -> tuple[Array, Array]:
        """Compute V_m' S[m,n] V_n for V = E a and all pairs of blocks, for S = S_W and S = S_T, each (M, M, p, p).

        They give all quadratic forms in a, for any weights. The results for the last a are cached.
        """
        if self._last is None or self._last[0] is not coefficients:
            V = self.basis @ coefficients
            self._last = coefficients, (self._products(self.within, V), self._products(self.total, V))
        return self._last[1]

    def _products(self, scatter: Array, V: Array) -> Array:
        """Compute V_m' S[m,n] V_n for all pairs of blocks, (M, M, p, p)."""
        rows = [V[block].T @ scatter[block] for block in self.blocks]
        return np.array([[row[:, block] @ V[block] for block in self.blocks] for row in rows])
