"""The soft-margin support vector machine on one kernel matrix, solved by scikit-learn (LIBSVM)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.svm import SVC

from mklearn.checks import as_float_array, check_positive, checked_sample_weight
from mklearn.errors import DataError, NotApplicable

Array = NDArray[np.floating[Any]]

# LIBSVM may never reach a tight tolerance on a singular kernel; scikit-learn sets no limit of its own.
_MAX_ITER = 300_000


@dataclass(frozen=True, eq=False)
class SVMSolution:
    """Result of `solve_svm`: c = alpha y with 0 <= alpha <= C, or C times the sample weight."""

    dual: Array  # (n,), c; decisions are K c + intercept
    support: NDArray[np.intp]  # positions where alpha > 0, ascending
    intercept: float
    value: float  # the dual objective sum(alpha) - c'K c / 2


def solve_svm(
    kernel: Array, signs: Array, C: float, tol: float = 1e-3, *, sample_weight: Array | None = None
) -> SVMSolution:
    """Maximise ``sum(alpha) - c'K c / 2`` over 0 <= alpha_i <= C w_i with c = alpha y and sum(c) = 0.

    K, (n, n), is symmetric positive semidefinite; see `checked_signs` of y, `sign_weights` of w. ``tol`` is the largest
    violation of the optimality conditions, in units of the margin: the relative error of the objective is about tol^2.
    Warns of convergence if it is not reached in 300,000 iterations.

    References
    ----------
    Cortes, Vapnik, "Support-vector networks", Machine Learning 20, 1995.
    """
    svc = SVC(C=C, kernel="precomputed", tol=tol, cache_size=1000, max_iter=_MAX_ITER)
    with config_context(assume_finite=True, skip_parameter_validation=True):  # a tenth of the time; callers check both
        kept = fit_svc(svc, kernel, signs, sample_weight)
    coefficients = svc.dual_coef_[0]
    support = svc.support_.astype(np.intp) if kept is None else kept[svc.support_]
    order = np.argsort(support)
    support, coefficients = support[order], coefficients[order]
    dual = np.zeros(len(signs))
    dual[support] = coefficients
    value = float(np.abs(coefficients).sum() - 0.5 * coefficients @ kernel[np.ix_(support, support)] @ coefficients)
    return SVMSolution(dual, support, float(svc.intercept_[0]), value)


def checked_signs(signs: ArrayLike, n: int) -> Array:
    """Return n labels as an array of -1 and 1; raise `DataError` for others, `NotApplicable` for one class only."""
    array = np.asarray(signs, dtype=np.float64)
    if array.shape != (n,) or not np.isin(array, (-1.0, 1.0)).all():
        raise DataError(f"Invalid signs of shape {array.shape}: expected {n} labels, each -1 or 1.")
    if abs(array.sum()) == n:
        raise NotApplicable("All labels are of one class: a support vector machine needs two.")
    return array


def sign_weights(sample_weight: ArrayLike | None, signs: Array) -> Array | None:
    """Check sample weights of binary labels, see `mklearn.checks.checked_sample_weight`."""
    return checked_sample_weight(sample_weight, (signs > 0).astype(np.intp), np.array([-1, 1]))


def fit_svc(svc: SVC, kernel: Array, targets: NDArray[Any], sample_weight: Array | None) -> NDArray[np.intp] | None:
    """Fit scikit-learn's SVC to a kernel, without the samples of weight 0; return the positions of the others.

    Of precomputed kernels it mistakes the columns where it leaves out such samples itself (scikit-learn 1.9: `support_`
    then has samples of weight 0). Its `support_` counts the positions that are returned; None: all.
    """
    if sample_weight is None or sample_weight.all():
        svc.fit(kernel, targets, sample_weight)
        return None
    kept = np.flatnonzero(sample_weight)
    svc.fit(kernel[np.ix_(kept, kept)], targets[kept], sample_weight[kept])
    return kept


def checked_kernels(kernels: ArrayLike) -> NDArray[Any]:
    """Return kernels as one C-contiguous finite array (P, n, n) of float32 or float64; raise `DataError` otherwise."""
    array = as_float_array(kernels, "The stack of kernels", ndim=3)
    if array.shape[1] != array.shape[2]:
        raise DataError(f"The stack of kernels has shape {array.shape}: expected (P, n, n), square matrices.")
    return np.ascontiguousarray(array)


def check_svm_parameters(C: float, svm_tol: float) -> None:
    """Raise `ConfigError` unless both are finite numbers > 0."""
    check_positive(C, "C")
    check_positive(svm_tol, "svm_tol")
