"""Kernel weights of EasyMKL: each kernel's share in the distance between the closest distributions over two classes.

With K = sum_m K_m, Y = diag(y) for labels y, and gamma a probability distribution over the samples of each class,

    gamma* = argmin (1 - lambda) gamma'Y K Y gamma + lambda ||gamma||^2,    weights_m ~ gamma*'Y K_m Y gamma*.

For lambda near 0, gamma* gives the nearest points of the convex hulls of the classes; for lambda = 1, the class means.
It is the solution of a support vector machine with a hard margin on (1 - lambda) K + lambda I, up to its length.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, solve
from sklearn.exceptions import ConvergenceWarning

from mklearn.checks import weighted_sum
from mklearn.errors import NotApplicable, SolverFailed
from mklearn.kernels.matrices import centre_kernel, has_cholesky_factor
from mklearn.optimize.svm import solve_svm

Array = NDArray[np.floating[Any]]

# Penalty and tolerance of the machine, which finds the support; the weights then follow in closed form.
_HARD = 1e10
_SVM_TOL = 1e-8


@dataclass(frozen=True, eq=False)
class EasyMKLWeights:
    """Result of `easy_mkl_weights`."""

    weights: Array  # (P,), sum 1
    gamma: Array  # (n,), nonnegative, sum 1 over each class
    value: float  # the objective at gamma
    gap: float  # upper bound of value - optimum, relative to value


def easy_mkl_weights(kernels: NDArray[Any], y: Array, *, trade_off: float = 0.1, tol: float = 1e-8) -> EasyMKLWeights:
    """Compute EasyMKL's kernel weights (see the module) from the support vectors of one machine.

    ``kernels`` (P, n, n) are symmetric positive semidefinite; the paper scales each to trace n. The labels ``y`` (n,)
    are -1 and 1, both present. ``trade_off`` is lambda in (0, 1], and ``tol`` is the tolerance of the relative gap.

    Raises `NotApplicable` if no kernel separates the classes, so that all weights would be 0, and `SolverFailed` if the
    gap stays above ``tol``: kernels far from positive semidefinite or of a large scale, or a very small ``trade_off``.

    References
    ----------
    Aiolli, Donini, "EasyMKL: a scalable multiple kernel learning algorithm", Neurocomputing 169, 2015.
    """
    total = weighted_sum(list(kernels), np.ones(len(kernels)), len(y))
    Q = (1.0 - trade_off) * total
    Q[np.diag_indices_from(Q)] += trade_off
    gamma = _minimiser(Q, y)
    slope = y * (Q @ (y * gamma))
    value = float(gamma @ slope)
    # The tangent plane at gamma bounds the minimum.
    gap = 2.0 * (1.0 - sum(float(slope[y == sign].min()) for sign in (-1.0, 1.0)) / value) if value > 0 else np.inf
    if not (gamma.min() >= 0 and gap <= tol):
        raise SolverFailed(
            f"EasyMKL stopped at a value of {value:.1e} and a relative gap of {gap:.1e} instead of {tol:.1e}: expected "
            "positive semidefinite kernels of trace n; scale them, raise `trade_off` or repair them (psd_repair)."
        )
    c = y * gamma
    separation = np.maximum([float(c @ matrix @ c) for matrix in kernels], 0.0)
    if not separation.sum() > 1e-16 * total.diagonal().max():  # less is rounding
        raise NotApplicable("No kernel separates the classes: EasyMKL has no weights.")
    return EasyMKLWeights(separation / separation.sum(), gamma, value, gap)


def _minimiser(Q: Array, y: Array) -> Array:
    """Minimise gamma'YQY gamma over gamma >= 0 with sum 1 over each class; zero if Q does not determine it.

    On the support it is Q^-1 A (A'Q^-1 A)^-1 1, where A holds the class indicators and Q is YQY there.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the gap decides
        support = solve_svm(Q, y, _HARD, _SVM_TOL).support
    signs, block = y[support], Q[np.ix_(support, support)]
    if not has_cholesky_factor(block):  # Y gamma sums to 0, and Q may be positive definite on such vectors only
        block = centre_kernel(block) + np.abs(block).max()
    classes = np.array([signs == sign for sign in (-1.0, 1.0)], dtype=np.float64).T
    gamma = np.zeros(len(y))
    try:
        solved = solve(signs[:, None] * block * signs, classes, assume_a="pos")
        gamma[support] = solved @ np.linalg.solve(classes.T @ solved, np.ones(2))
    except LinAlgError:
        pass
    return gamma
