"""Kernel weights that maximise the margin of a support vector machine (multiple kernel learning), by Newton's method.

With K = sum_m theta_m K_m of P kernels, labels y = +-1 and c = alpha y, the objective of the SVM is

    J(theta) = max over alpha of sum(alpha) - c'K c / 2,    0 <= alpha <= C, sum(c) = 0,

a maximum of linear functions of theta: J is convex and nonincreasing. At the optimal c,
dJ/dtheta_m = -q_m / 2 with q_m = c'K_m c. With F the support vectors below the bound and b_m = (K_m c)_F,

    d2J/dtheta_m dtheta_l = b_m' Z (Z'K_FF Z)^-1 Z' b_l,    Z a basis of the vectors that sum to 0,

as long as F does not change.

**Feasible set.** theta >= 0 and ||theta||_p <= P^(1/p - 1): equal weights 1/P lie on its boundary for every p >= 1.
p = 1 is the simplex.

**Certificate.** For the same alpha, sum(alpha) - max over theta' of q'theta' / 2 is a lower bound of J over the
feasible set. The duality gap is J minus this bound: (max over theta' of q'theta' / 2) - q'theta / 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from mklearn.checks import symmetrized, weighted_sum
from mklearn.optimize.norm_ball import Point, Status, maximise
from mklearn.optimize.svm import SVMSolution, solve_svm

Array = NDArray[np.floating[Any]]

# Ridge on K_FF, relative to its mean diagonal.
_RIDGE = 1e-8


@dataclass(frozen=True, eq=False)
class SVMWeights:
    """Result of `svm_weights`."""

    theta: Array  # (P,), the kernel weights, with ||theta||_p = P^(1/p - 1)
    weights: Array  # (P,), theta / sum(theta)
    solution: SVMSolution  # the SVM on sum_m theta_m K_m; its value is J
    gap: float  # relative to J, from the largest lower bound over all SVMs solved, so at most that of `solution` alone
    history: Array  # (steps + 1,), J at equal weights and after every step, nonincreasing up to the SVM's precision
    n_svm: int  # number of SVMs solved
    status: Status  # "optimal": gap <= tol; "stalled": no step decreases J beyond the precision of the SVM, see the gap


def svm_weights(
    kernels: NDArray[Any], y: Array, C: float, *, p: float = 1.0, tol: float = 1e-3, max_iter: int = 100,
    svm_tol: float = 1e-3,
) -> SVMWeights:  # fmt: skip
    """Minimise the objective J of a support vector machine over kernel weights (see the module).

    The method is that of `mklearn.optimize.norm_ball.maximise` for -J; the start is equal weights.

    ``kernels`` (P, n, n) are symmetric positive semidefinite. ``y``, ``C`` and ``svm_tol`` are labels -1 and 1, penalty
    and tolerance of each SVM (`mklearn.optimize.svm.solve_svm`); a gap below 1e-4 needs an ``svm_tol`` of 1e-5 or less.
    ``p`` is the norm, from 1 (sparse weights) to infinity (equal weights). ``tol`` is the tolerance of the relative
    duality gap: with a small C, equal weights may already meet it, and the weights are then not informative.
    ``max_iter`` is the largest number of steps.

    References
    ----------
    .. [1] Lanckriet, Cristianini, Bartlett, El Ghaoui, Jordan, "Learning the kernel matrix with semidefinite
       programming", JMLR 5, 2004; Bach, Lanckriet, Jordan, "Multiple kernel learning, conic duality, and the SMO
       algorithm", ICML 2004: the problem for p = 1, stated as a QCQP in alpha.
    .. [2] Rakotomamonjy, Bach, Canu, Grandvalet, "SimpleMKL", JMLR 9, 2008: J, its gradient and the gap. The paper uses
       a reduced gradient method; the Newton steps here need fewer SVMs.
    .. [3] Kloft, Brefeld, Sonnenburg, Zien, "lp-norm multiple kernel learning", JMLR 12, 2011: p > 1. Their radius is 1
       instead of P^(1/p - 1), which only rescales C.
    """
    objective = _NegativeObjective(kernels, y, C, svm_tol)
    found = maximise(
        objective.evaluate, objective.hessian, len(kernels), p, precision=max(10.0 * svm_tol**2, 1e-12), tol=tol,
        max_iter=max_iter,
    )  # fmt: skip
    at = found.point
    weights, gap = at.theta / at.theta.sum(), 1.0 + found.bound / at.solution.value
    return SVMWeights(at.theta, weights, at.solution, gap, -found.history, objective.n_svm, found.status)


@dataclass(frozen=True, eq=False)
class _Machine(Point):
    """SVM at one theta, with K_m c on the support vectors, (P, n_support)."""

    solution: SVMSolution
    products: Array


class _NegativeObjective:
    """-J with its derivatives; counts the SVMs solved."""

    def __init__(self, kernels: NDArray[Any], signs: Array, C: float, svm_tol: float) -> None:
        self.kernels, self.signs, self.C, self.svm_tol = kernels, signs, C, svm_tol
        self.n_svm = 0

    def evaluate(self, theta: Array) -> _Machine:
        """Solve the SVM at theta."""
        kernel = weighted_sum(list(self.kernels), theta, len(self.signs))
        solution = solve_svm(kernel, self.signs, self.C, self.svm_tol)
        self.n_svm += 1
        S = solution.support
        c = solution.dual[S]
        products = np.array([matrix[np.ix_(S, S)] @ c for matrix in self.kernels], dtype=np.float64)
        return _Machine(theta, -solution.value, 0.5 * products @ c, solution, products)

    def hessian(self, at: _Machine) -> Array:
        """Compute -d2J/dtheta^2, (P, P), for the current set F of support vectors below the bound."""
        S = at.solution.support
        free = np.abs(at.solution.dual[S]) < self.C * (1.0 - 1e-8)
        F, B = S[free], at.products[:, free].T
        if len(F) < 2:
            return np.zeros((len(at.theta), len(at.theta)))
        K = np.zeros((len(F), len(F)))
        for weight, matrix in zip(at.theta, self.kernels, strict=True):
            if weight != 0:
                K += weight * matrix[np.ix_(F, F)]
        mean = float(np.trace(K)) / len(F)
        K += mean  # no change on vectors that sum to 0; makes K_FF regular if it is regular on them
        # Kernels in single precision are positive semidefinite only up to its rounding errors.
        K[np.diag_indices_from(K)] += max(_RIDGE, 10 * len(F) * float(np.finfo(self.kernels.dtype).eps)) * mean
        try:
            factor = cho_factor(K, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return np.zeros((len(at.theta), len(at.theta)))
        right = np.column_stack([B, np.ones(len(F))])
        solved = cho_solve(factor, right, check_finite=False)
        inverse_ones = solved[:, -1]
        hessian = B.T @ solved[:, :-1] - np.outer(B.T @ inverse_ones, B.T @ inverse_ones) / inverse_ones.sum()
        return -symmetrized(hessian)
