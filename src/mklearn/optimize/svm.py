"""Soft-margin support vector machine on one kernel matrix, solved by scikit-learn (LIBSVM)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.svm import SVC

Array = NDArray[np.floating[Any]]

# Iteration limit: LIBSVM may never reach a tight tolerance on a singular kernel, and scikit-learn has no default limit.
_MAX_ITER = 300_000


@dataclass(frozen=True, eq=False)
class SVMSolution:
    """Result of `solve_svm`: c = alpha y with 0 <= alpha_i <= C w_i, where w_i is the sample weight or 1."""

    dual: Array  # (n,), c; decisions are K c + intercept
    support: NDArray[np.intp]  # positions where alpha > 0, ascending
    intercept: float
    value: float  # the dual objective sum(alpha) - c'K c / 2


def solve_svm(
    kernel: Array, signs: Array, C: float, tol: float = 1e-3, *, sample_weight: Array | None = None
) -> SVMSolution:
    """Maximise ``sum(alpha) - c'K c / 2`` over 0 <= alpha_i <= C w_i with c = alpha y and sum(c) = 0.

    K (n, n) is symmetric positive semidefinite. The labels y (n,) are -1 and 1, and the weights w >= 0 (n,) are
    positive for some samples of both classes. ``tol`` is the largest violation of the optimality conditions, in units
    of the margin; the relative error of the objective is about tol^2. A convergence warning is issued if ``tol`` is not
    reached in 300,000 iterations.

    References
    ----------
    Cortes, Vapnik, "Support-vector networks", Machine Learning 20, 1995.
    """
    svc = SVC(C=C, kernel="precomputed", tol=tol, cache_size=1000, max_iter=_MAX_ITER)
    dual, kept = np.zeros(len(signs)), None
    if sample_weight is not None and not sample_weight.all():
        # scikit-learn 1.9 drops samples of weight 0 itself, but for precomputed kernels it then uses wrong columns
        # (`support_` contains such samples).
        kept = np.flatnonzero(sample_weight)
        kernel, signs, sample_weight = kernel[np.ix_(kept, kept)], signs[kept], sample_weight[kept]
    with config_context(assume_finite=True, skip_parameter_validation=True):  # a tenth of the time; callers check both
        svc.fit(kernel, signs, sample_weight)
    order = np.argsort(svc.support_)
    support, c = svc.support_[order].astype(np.intp), svc.dual_coef_[0][order]
    value = float(np.abs(c).sum() - 0.5 * c @ kernel[np.ix_(support, support)] @ c)
    if kept is not None:
        support = kept[support]
    dual[support] = c
    return SVMSolution(dual, support, float(svc.intercept_[0]), value)
