"""The ratio trace of `convex_ratio_trace` for kernels that are products of explicit features, from their scatters.

With K = Phi Theta Phi', Theta = blockdiag(theta_m I), D = Theta^(1/2), the scatter S_d = Phi'Q Phi, H = Phi'G and
M = lambda I + D S_d D,

    F(theta) = tr(H'D M^-1 D H),    Phi'B = lambda D^-1 M^-1 D H,    Phi'W Phi = lambda D^-1 M^-1 D S_d,

so that F, its gradient and its Hessian need one factorisation of the size of the features. In blocks with theta_m = 0,
where D has no inverse, the same two products are H - S_d D M^-1 D H and S_d - S_d D M^-1 D S_d.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_solve

from mklearn.checks import check_positive, symmetrized
from mklearn.optimize.convex_ratio_trace import Evaluation, leading_directions
from mklearn.optimize.landmark_embedding import lower_factor, per_feature

Array = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class LandmarkRatioTrace:
    """F for features in blocks, as `convex_ratio_trace.RatioTraceObjective` is for kernels."""

    blocks: Sequence[slice]  # columns of each kernel's features; together all d of them, in order
    scatter: Array  # (d, d), S_d, the within-class or total scatter
    between: Array  # (d, c), H, with HH' the scatter between classes
    ridge_amount: float  # lambda > 0

    def __post_init__(self) -> None:
        check_positive(self.ridge_amount, "ridge_amount")

    @property
    def n_kernels(self) -> int:
        """The number of kernels."""
        return len(self.blocks)

    def evaluate(self, theta: ArrayLike) -> Evaluation:
        """Compute F(theta), in O(d^3/3 + d^2 c); ``B`` of the result is Phi'B, (d, c); errors as in `lower_factor`."""
        point = np.array(theta, dtype=np.float64)
        root = per_feature(np.sqrt(point), self.blocks)
        M = root[:, None] * self.scatter * root
        M[np.diag_indices_from(M)] += self.ridge_amount
        factor = lower_factor(M)
        scaled = root[:, None] * self.between
        solved = cho_solve((factor, True), scaled, check_finite=False)
        cross = symmetrized(scaled.T @ solved)
        B = self._outside(root, solved, self.between)
        return Evaluation(point, float(np.trace(cross)), B, cross, factor)

    def derivatives(self, at: Evaluation) -> tuple[Array, Array]:
        """Compute the gradient and the negative semidefinite Hessian of F, in O(M d^2 c) for M kernels."""
        root, scale = per_feature(np.sqrt(at.theta), self.blocks), self.ridge_amount
        starts = [block.start for block in self.blocks]
        gradient = np.add.reduceat(np.einsum("dc,dc->d", at.B, at.B), starts) / scale
        hessian = np.empty((self.n_kernels, self.n_kernels))
        for number, block in enumerate(self.blocks):
            right = self.scatter[:, block] @ at.B[block]
            solved = cho_solve((at.factor, True), root[:, None] * right, check_finite=False)
            products = np.einsum("dc,dc->d", at.B, self._outside(root, solved, right))
            hessian[:, number] = np.add.reduceat(products, starts)
        return gradient, symmetrized(hessian) * (-2.0 / scale**2)

    def directions(self, at: Evaluation, n_components: int) -> tuple[Array, Array]:
        """Compute omega (p,), descending, and Phi'A (d, p) of the directions that attain F."""
        return leading_directions(at, n_components, self.ridge_amount)

    def _outside(self, root: Array, solved: Array, right: Array) -> Array:
        """Compute right - S_d D solved, for solved = M^-1 D right: where D has an inverse, without the difference."""
        result = right - self.scatter @ (root[:, None] * solved) if not root.all() else np.empty_like(right)
        inside = root > 0
        result[inside] = self.ridge_amount * solved[inside] / root[inside, None]
        return np.asarray(result)
