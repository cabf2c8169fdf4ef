"""The maximum margin criterion of `margin` for kernels that are products of explicit features, from their scatters.

With K = Phi Theta Phi', D = Theta^(1/2), C = Phi'Phi and N = S_B - lambda S_W, coefficients A of the samples enter
through V = Phi'A: A'K L K A = V'Theta N Theta V. From the eigenvectors W of D C D, with eigenvalues s,

    A'KA = I:    V = C D W s^(-1) u,      u the eigenvectors of W'D N D W,
    A'K^2A = I:  V = C D W s^(-3/2) u,    u those of s^(-1/2) W'D N D W s^(-1/2),
    A'A = I:     V = E u,                 u those of E'Theta N Theta E, with EE' = C.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from mklearn.checks import symmetrized
from mklearn.optimize.eigen import fix_signs, generalized_eigh
from mklearn.optimize.landmark_embedding import LandmarkProblem
from mklearn.optimize.margin import Constraint, checked_trace_ratio, smooth_first

Array = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class LandmarkMargin:
    """The criterion's steps for one training set, under a constraint of `margin.margin_step`.

    Eigenvalues not above ``cutoff``, relative to the largest, are rounding.
    """

    problem: LandmarkProblem
    constraint: Constraint
    cutoff: float

    def solve(self, weights: Array, n_components: int, trade_off: float) -> tuple[Array, Array]:
        """Maximise tr(V'Theta N Theta V) for kernel weights.

        Returns values (p,), descending, and V (D, p): an embedded sample is its features times Theta V. p is
        ``n_components`` or less, where the kernel has a smaller rank.
        """
        self.problem.ridge_amount(weights, 0.0)  # refuses constant kernels
        theta, gram, margin = self.problem.spread(weights), self.problem.gram, self.margin(trade_off)
        if self.constraint == "coef":
            spectrum, basis = self._kept(gram)
            E = basis * np.sqrt(spectrum)
            scaled = theta[:, None] * E
            values, u = generalized_eigh(scaled.T @ margin @ scaled, None, min(n_components, E.shape[1]), "largest")
            return values, E @ fix_signs(u)
        root = np.sqrt(theta)
        spectrum, W = self._kept(root[:, None] * gram * root)
        directions = root[:, None] * W
        if self.constraint == "sample":
            directions = directions / np.sqrt(spectrum)
        inside = symmetrized(directions.T @ margin @ directions)
        if self.constraint == "rkhs":
            values, u = generalized_eigh(inside, None, min(n_components, len(spectrum)), "largest")
        else:
            values, u = generalized_eigh(inside, which="largest")
            values, u = values[:n_components], smooth_first(values, u, 1.0 / spectrum)[:, :n_components]
        return values, gram @ ((directions / spectrum) @ fix_signs(u))

    def quadratic_forms(self, V: Array, trade_off: float) -> Array:
        """Compute Q_st = v_s' N[s, t] v_t for each column v of V and all pairs of blocks, (p, M, M): the theta-step."""
        margin, blocks = self.margin(trade_off), self.problem.blocks
        starts = [block.start for block in blocks]
        columns = [np.add.reduceat(V * (margin[:, block] @ V[block]), starts, axis=0) for block in blocks]
        Q = np.stack(columns, axis=-1).swapaxes(0, 1)
        return np.asarray((Q + Q.swapaxes(1, 2)) / 2.0)

    def margin(self, trade_off: float) -> Array:
        """Return N = S_B - lambda S_W, (D, D)."""
        return np.asarray(self.problem.total - (1.0 + trade_off) * self.problem.within)

    def trace_ratio(self, weights: Array) -> float:
        """Compute tr(K L_b) / tr(K L_w); raise `NotApplicable` if the within-class scatter is zero."""
        theta = self.problem.spread(weights)
        total, within = (float(theta @ np.diagonal(side)) for side in (self.problem.total, self.problem.within))
        return checked_trace_ratio(total - within, within)

    def _kept(self, matrix: Array) -> tuple[Array, Array]:
        spectrum, basis = eigh(matrix, check_finite=False)
        kept = spectrum > self.cutoff * spectrum[-1]
        return spectrum[kept], basis[:, kept]
