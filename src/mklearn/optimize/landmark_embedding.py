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

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpstrf

from mklearn.checks import symmetrized
from mklearn.optimize.graph_embedding import EmbeddingProblem

Array = NDArray[np.floating[Any]]

RANK_TOLERANCE = 1e-12
"""Pivots of C below this, relative to the largest, are rounding: their directions are left out."""


def per_feature(values: ArrayLike, blocks: Sequence[slice]) -> Array:
    """Repeat one value of each kernel for its features, (D,)."""
    return np.repeat(np.asarray(values, dtype=np.float64), [block.stop - block.start for block in blocks])


@dataclass(eq=False)
class LandmarkProblem(EmbeddingProblem):
    """The steps of MKL-DR for features in blocks; coefficients are a, (r, p), the coordinates of V."""

    n: int  # samples
    blocks: Sequence[slice]  # columns of each kernel's features; together all D of them, in order
    total: Array  # (D, D), S_T, exactly symmetric
    between: Array | None  # (D, c), B with S_T - BB' = S_W: the LDA graph. None: L = 0 and L' = I - J, the PCA graph
    offset: Array  # (D,), the mean of features that are not centred, else 0: C = S_T + n offset offset'
    _last: tuple[Array, tuple[Array, Array]] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self.n_kernels = len(self.blocks)
        self.most_components = len(self.total) if self.between is None else self.between.shape[1] - 1

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
    def _factor(self) -> tuple[Array, NDArray[np.intp]]:
        """E, and the r rows of it that are a lower triangle."""
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
        """T, see `EmbeddingProblem`."""
        return self._cross_traces(self.total)

    @cached_property
    def _sizes(self) -> Array:
        """tr(K_m K_n), (M, M)."""
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
        matrix = symmetrized(2.0 * scaled.T @ (scatter @ scaled))
        matrix[np.diag_indices_from(matrix)] += rho
        return matrix

    def sample_coefficients(self, V: Array) -> Array:
        """Return a of shape (r, p), the coordinates of the shortest A with Phi'A = V."""
        basis, rows = self._factor
        return np.asarray(solve_triangular(basis[rows], V[rows], lower=True, check_finite=False))

    def feature_coefficients(self, weights: Array, coefficients: Array) -> Array:
        """Return D V of shape (D, p): a sample is embedded by its centred features times it."""
        return np.asarray(self.spread(weights)[:, None] * (self.basis @ coefficients))

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
        """Compute V_m' S[m,n] V_n for V = E a and all pairs of blocks, of S_W and of S_T, each (M, M, p, p).

        All quadratic forms of a follow from them, for any weights: those of the last a are kept.
        """
        if self._last is None or self._last[0] is not coefficients:
            V = self.basis @ coefficients
            self._last = coefficients, (self._products(self.within, V), self._products(self.total, V))
        return self._last[1]

    def _products(self, scatter: Array, V: Array) -> Array:
        """Compute V_m' S[m,n] V_n for all pairs of blocks, (M, M, p, p)."""
        rows = [V[block].T @ scatter[block] for block in self.blocks]
        return np.array([[row[:, block] @ V[block] for block in self.blocks] for row in rows])
