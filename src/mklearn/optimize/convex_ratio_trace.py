"""Kernel weights that maximise a ratio trace: a concave problem, solved to its global optimum with a certificate.

With K = sum_m theta_m K_m (K_m positive semidefinite), Phi the samples in the feature space of K, a numerator
L1 = GG', a denominator Q that projects (the within- or total-scatter operator of classes) and lambda > 0,

    F(theta) = max over V of tr((V'(Phi Q Phi' + lambda I)V)^-1 V'Phi L1 Phi'V)
             = tr(L1 (K^-1 + Q/lambda)^-1) / lambda = tr(G'K B) / lambda,    B = (I + QK/lambda)^-1 G.

The second form is a parallel sum, so F is concave and nondecreasing in theta:

    F(theta) = min over Y of sum_m theta_m tr(Y'K_m Y)/lambda + tr((G - Y)'Q^+(G - Y)),    attained at Y = B,   (*)

with derivatives dF/dtheta_m = tr(B'K_m B)/lambda and, for W = (I + QK/lambda)^-1 Q,
d2F/dtheta_m dtheta_l = -2 tr(B'K_m W K_l B)/lambda^2. All of them need only one Cholesky factorisation of
S = I + QKQ/lambda. F and its gradient solve for r right-hand sides, the columns of G; the Hessian solves for M r.

**Feasible set.** theta >= 0 and ||theta||_p <= M^(1/p - 1): equal weights 1/M lie on its boundary for every p >= 1.
p = 1 is the simplex; p = infinity makes the weights equal.

**Certificate.** By (*) F lies below its tangents: F(theta') <= F(theta) + g'(theta' - theta). The maximum of a tangent
over the feasible set bounds the optimum; it exceeds F(theta) by the duality gap M^(1/p - 1) ||g||_q - g'theta.

**Explicit features.** For K = Phi Theta Phi', Theta = blockdiag(theta_m I), D = Theta^(1/2), the scatter S_d = Phi'Q
Phi, H = Phi'G and M = lambda I + D S_d D,

    F(theta) = tr(H'D M^-1 D H),    Phi'B = lambda D^-1 M^-1 D H,    Phi'W Phi = lambda D^-1 M^-1 D S_d,

so F and its derivatives need one factorisation of a matrix with one row per feature. In blocks with theta_m = 0, where
D has no inverse, Phi'B and Phi'W Phi are computed as H - S_d D M^-1 D H and S_d - S_d D M^-1 D S_d.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh, solve_triangular

from mklearn.checks import not_positive_semidefinite, symmetrized, weighted_sum
from mklearn.errors import NotApplicable
from mklearn.graphs import ClassStructure, LaplacianOperator
from mklearn.optimize.eigen import lower_factor
from mklearn.optimize.graph_embedding import with_ridge
from mklearn.optimize.landmark_embedding import per_feature
from mklearn.optimize.norm_ball import Point, Status, maximise

Array = NDArray[np.floating[Any]]

# Relative precision of F.
_ROUNDING = 1e-12


def between_factor(classes: ClassStructure) -> Array:
    """Return a factor G of shape (n, c) of the between-class operator, GG' = P - J.

    Its columns are the centred class indicators, divided by the square roots of the class counts.
    """
    indicator = classes.indicator()
    return (indicator - indicator.mean(axis=0)) / np.sqrt(classes.counts)


@dataclass(frozen=True, eq=False)
class Evaluation(Point):
    """Value and gradient of F at one theta, with the intermediate results that the Hessian needs."""

    B: Array  # (n, r), (I + QK/lambda)^-1 G
    cross: Array  # (r, r), G'K B / lambda: its eigenvalues are the ratios omega of the directions, its trace is F
    factor: Array  # (n, n), lower Cholesky factor of S
    products: Sequence[Array] = ()  # M of shape (n, r), K_m B; none for explicit features


def leading_directions(at: Evaluation, n_components: int, ridge_amount: float) -> tuple[Array, Array]:
    """Compute the directions V = Phi A that attain F: K L1 K a = omega (K Q K + lambda K) a.

    Return the ratios omega (p,), descending, and A (n, p) with A'(K Q K + lambda K)A = I; for explicit features the
    second array is Phi'A (d, p). The ratios of all directions sum to F. p is at most ``n_components``, less if fewer
    ratios exceed rounding errors.
    """
    omega, U = eigh(at.cross, check_finite=False)
    omega, U = omega[::-1], U[:, ::-1]
    p = min(n_components, int(np.sum(omega > 1e-10 * max(omega[0], 0.0)))) if omega[0] > 0 else 0
    omega = omega[:p]
    return omega, (at.B @ U[:, :p]) / (ridge_amount * np.sqrt(omega))


@dataclass(eq=False)
class RatioTraceObjective:
    """Objective F of this module for kernel matrices."""

    kernels: Sequence[NDArray[Any]]  # M of shape (n, n), positive semidefinite; float32 is summed in double precision
    numerator: Array  # (n, r), G
    denominator: LaplacianOperator  # Q, a projector: the within- or total-scatter operator of classes
    ridge_amount: float  # lambda > 0

    def __post_init__(self) -> None:
        # G = QG + outside: solving for QG only avoids the difference of nearly equal matrices.
        self._inside = self.denominator.apply(self.numerator)
        self._outside = self.numerator - self.denominator.apply(self._inside)

    @property
    def n_kernels(self) -> int:
        """Number of kernels M."""
        return len(self.kernels)

    def evaluate(self, theta: ArrayLike) -> Evaluation:
        """Compute F(theta) and its gradient, in O(n^3/3 + M n^2 r); raise `DataError` if S is not positive definite."""
        point = np.array(theta, dtype=np.float64)
        project = self.denominator.apply
        K = weighted_sum(self.kernels, point, self.denominator.n)
        S = project(project(K).T) / self.ridge_amount
        S[np.diag_indices_from(S)] += 1.0
        try:
            factor = cho_factor(S, lower=True, overwrite_a=True, check_finite=False)[0]
        except LinAlgError:
            raise not_positive_semidefinite("ridge") from None
        right = self._inside - project(K @ self._outside) / self.ridge_amount
        B = self._outside + project(cho_solve((factor, True), right, check_finite=False))
        cross = self.numerator.T @ (K @ B) / self.ridge_amount
        products = [np.asarray(matrix @ B, dtype=np.float64) for matrix in self.kernels]
        gradient = np.array([np.vdot(B, product) for product in products]) / self.ridge_amount
        return Evaluation(point, float(np.trace(cross)), gradient, B, (cross + cross.T) / 2.0, factor, products)

    def hessian(self, at: Evaluation) -> Array:
        """Compute the negative semidefinite Hessian (M, M), in O(M n^2 r)."""
        half = np.stack(
            [
                solve_triangular(at.factor, self.denominator.apply(product), lower=True, check_finite=False).ravel()
                for product in at.products
            ]
        )
        half /= self.ridge_amount
        return half @ half.T * -2.0


@dataclass(frozen=True, eq=False)
class LandmarkRatioTrace:
    """Objective F of this module for explicit features, with one block of columns for each kernel."""

    blocks: Sequence[slice]  # columns of each kernel's features, in order; together they cover all d columns
    scatter: Array  # (d, d), S_d, the within-class or total scatter
    between: Array  # (d, c), H, with HH' the scatter between classes
    ridge_amount: float  # lambda > 0

    @property
    def n_kernels(self) -> int:
        """Number of kernels."""
        return len(self.blocks)

    def evaluate(self, theta: ArrayLike) -> Evaluation:
        """Compute F(theta) and its gradient, in O(d^3/3 + d^2 c); ``B`` of the result holds Phi'B (d, c).

        Errors are as in `lower_factor`.
        """
        point = np.array(theta, dtype=np.float64)
        root = per_feature(np.sqrt(point), self.blocks)
        factor = lower_factor(with_ridge(root[:, None] * self.scatter * root, self.ridge_amount))
        scaled = root[:, None] * self.between
        solved = cho_solve((factor, True), scaled, check_finite=False)
        cross = symmetrized(scaled.T @ solved)
        B = self._outside(root, solved, self.between)
        gradient = np.add.reduceat(np.einsum("dc,dc->d", B, B), self._starts) / self.ridge_amount
        return Evaluation(point, float(np.trace(cross)), gradient, B, cross, factor)

    def hessian(self, at: Evaluation) -> Array:
        """Compute the negative semidefinite Hessian of F, in O(M d^2 c) for M kernels."""
        root = per_feature(np.sqrt(at.theta), self.blocks)
        hessian = np.empty((self.n_kernels, self.n_kernels))
        for number, block in enumerate(self.blocks):
            right = self.scatter[:, block] @ at.B[block]
            solved = cho_solve((at.factor, True), root[:, None] * right, check_finite=False)
            products = np.einsum("dc,dc->d", at.B, self._outside(root, solved, right))
            hessian[:, number] = np.add.reduceat(products, self._starts)
        return symmetrized(hessian) * (-2.0 / self.ridge_amount**2)

    @property
    def _starts(self) -> list[int]:
        return [block.start for block in self.blocks]

    def _outside(self, root: Array, solved: Array, right: Array) -> Array:
        """Compute right - S_d D M^-1 D right; ``solved`` is M^-1 D right.

        Rows with theta > 0 use the equal lambda D^-1 ``solved``, which avoids the cancellation of the difference.
        """
        result = right - self.scatter @ (root[:, None] * solved) if not root.all() else np.empty_like(right)
        inside = root > 0
        result[inside] = self.ridge_amount * solved[inside] / root[inside, None]
        return np.asarray(result)


Objective = RatioTraceObjective | LandmarkRatioTrace


@dataclass(frozen=True, eq=False)
class ConvexRatioTrace:
    """Result of `convex_ratio_trace`."""

    theta: Array  # (M,), the maximiser, with ||theta||_p = M^(1/p - 1)
    weights: Array  # (M,), theta / sum(theta)
    value: float  # F(theta)
    bound: float  # upper bound of F over the feasible set: the smallest of the tangents' maxima
    gap: float  # (bound - value) / value >= 0
    history: Array  # (steps + 1,), F at equal weights and after every step, nondecreasing but for rounding
    status: Status  # "optimal": gap <= tol; "stalled": no step increases F beyond rounding, see the gap
    evaluation: Evaluation  # intermediate results at theta
    ridge_amount: float  # lambda


def convex_ratio_trace(
    objective: Objective, *, p: float = 1.0, max_iter: int = 50, tol: float = 1e-6
) -> ConvexRatioTrace:
    """Maximise the ratio trace F over the feasible set given in the module docstring.

    The method is that of `mklearn.optimize.norm_ball.maximise`; the start is equal weights.

    ``p`` is the norm, from 1 (sparse weights) to infinity (equal weights). ``tol`` is the tolerance of the relative
    duality gap. Raises `NotApplicable` if F is zero at equal weights: the class means coincide in every kernel.

    References
    ----------
    .. [1] Vemulapalli, Boda, Chellappa, "MKL-RT: multiple kernel learning for ratio-trace problems via convex
       optimization", arXiv 1410.4470, 2014: the problem. The formulas here are derived independently.
    .. [2] Ye, Ji, Chen, "Multi-class discriminant kernel learning via convex programming", JMLR 9, 2008: Q the total
       scatter, p = 1.
    .. [3] Yan, Kittler, Mikolajczyk, Tahir, "Non-sparse multiple kernel Fisher discriminant analysis", JMLR 13, 2012:
       p > 1.
    """
    found = maximise(
        objective.evaluate, objective.hessian, objective.n_kernels, p, precision=_ROUNDING, tol=tol, max_iter=max_iter
    )
    at = found.point
    if not found.history[0] > 0:
        raise NotApplicable(
            "The ratio trace is zero at equal kernel weights: the class means coincide in every kernel, so no class can"
            " be discriminated."
        )
    return ConvexRatioTrace(
        theta=at.theta,
        weights=at.theta / at.theta.sum(),
        value=at.value,
        bound=found.bound,
        gap=max(found.bound / at.value - 1.0, 0.0),
        history=found.history,
        status=found.status,
        evaluation=at,
        ridge_amount=objective.ridge_amount,
    )
