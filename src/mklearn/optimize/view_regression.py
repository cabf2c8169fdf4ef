"""Kernel ridge regression of one view on the other views, which completes samples without that view.

Let phi be the feature map of a kernel on one view, and S the combined kernel of the other views. For a sample x without
the view, phi(x) is estimated by kernel ridge regression of phi on S, fitted to the samples o that have the view:

    phi(x) = sum_i b_i(x) phi(x_i),    b(x) = 1/n + (s(x) - mean of S_oo) H (H S_oo H + lambda I)^-1 H,

H = I - 11'/n. No features are computed: any quantity that is linear in phi, such as a kernel row, is averaged with the
weights b(x), which sum to 1. The ridge minimises the leave-one-out error of phi; a larger ridge moves b(x) towards
equal weights. For a Gaussian process the estimate is the conditional mean, so linear functions of it have the least
squared error.

Samples may also lack some of the other views. S is a sum over views, to which a missing view contributes zero (the
mean). It is rescaled to ``S_ij / (pi_i pi_j)^(1/2)``, where pi_i is the share of S that is from the views of
sample i.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

Array = NDArray[np.floating[Any]]
Mask = NDArray[np.bool_]
# Candidate ridges, in units of the variance of the samples in S.
_RIDGES = 10.0 ** np.arange(-1.0, 1.6, 0.5)
# Lower bound of the share pi_i by which samples are scaled.
_LEAST_SHARE = 0.05


@dataclass(frozen=True, eq=False)
class ViewRegression:
    """Fitted regression of one view on the others, b(x) = s(x) slopes + constants."""

    others: Array  # (n_views,), sum 1: shares of the views in S, 0 for the view itself; all 0 if it is the only one
    slopes: Array  # (n, n), zeros for samples that lack the view; (n, q) after `of`
    constants: Array  # (n,); (q,) after `of`
    ridge: float

    def __call__(self, rows: Array, present: Mask) -> Array:
        """Compute b(x) for samples that lack the view, (m, n), or the completed values (m, q) after `of`.

        ``rows`` (m, n) are rows of the kernel summed over all views, in which a missing view is zero. ``present`` is
        (m, n_views).
        """
        scaled = rows / np.sqrt(presence(self.others, present))[:, None]
        return np.asarray(scaled @ self.slopes + self.constants)

    def of(self, values: Array) -> ViewRegression:
        """Return the regression for values (n, q) that are linear in phi; it estimates b(x)'values."""
        return replace(self, slopes=self.slopes @ values, constants=self.constants @ values)


def view_regression(view: int, kernels: Array, shares: Array, present: Mask) -> ViewRegression:
    """Fit the regression of the view at position ``view`` on all other views.

    ``kernels`` (n_views, n, n) are the terms of the sum over views: centred, and zero in rows and columns of samples
    that lack the view. ``shares`` (n_views,), sum 1, are the shares of the views in the variance of the sum.

    References
    ----------
    Allen, "The relationship between variable selection and data augmentation and a method for prediction",
    Technometrics 1974 (left-out errors). van Buuren, "Flexible imputation of missing data", 2018, section 1.3.4:
    imputation by regression, here in the feature space. Labels are not used, so training samples and new samples are
    completed in the same way.
    """
    n, rest = len(present), 1.0 - shares[view]
    others = np.where(np.arange(len(shares)) == view, 0.0, shares / rest if rest > 0 else 0.0)
    known = np.flatnonzero(present[:, view])
    slopes, constants = np.zeros((n, n)), np.zeros(n)
    constants[known] = 1.0 / max(len(known), 1)
    if not others.any() or not shares[view] or len(known) < 2:
        return ViewRegression(others, slopes, constants, np.inf)
    root = np.sqrt(presence(others, present[known]))
    S = sum(kernels[other][np.ix_(known, known)] for other in np.flatnonzero(others)) / np.outer(root, root) / rest
    mean = S.mean(axis=0)
    values, V = eigh(_centred(S), driver="evd", overwrite_a=True, check_finite=False)
    values = np.maximum(values, 0.0)
    own = _centred(kernels[view][np.ix_(known, known)])
    ridge = _smallest_error(values, V, own)
    inverse = _centred((V / (values + ridge)) @ V.T)
    slopes[np.ix_(known, known)] = inverse / root[:, None] / rest
    constants[known] -= mean @ inverse
    return ViewRegression(others, slopes, constants, ridge)


def presence(others: Array, present: Mask) -> Array:
    """Compute the share pi_i of the other views that each sample has, at least `_LEAST_SHARE`."""
    return np.maximum(present @ others, _LEAST_SHARE)


def _centred(K: Array) -> Array:
    rows = K.mean(axis=0)
    return np.asarray(K - rows - rows[:, None] + rows.mean())


def _smallest_error(values: Array, V: Array, own: Array) -> float:
    """Return the ridge with the smallest leave-one-out error of the features phi.

    The leave-one-out residuals are ``(R phi)_i / R_ii`` with ``R = V diag(lambda / (mu + lambda)) V' - 11'/n``. The
    squared norms of the rows of ``R phi`` are the diagonal of R K R, where K is the view's centred kernel.
    """
    n, G = len(V), V.T @ own @ V
    best, smallest = 0.0, np.inf
    for ridge in _RIDGES:
        W = V * (ridge / (values + ridge))
        squares = np.einsum("ij,ij->i", W @ G, W)
        diagonal = np.einsum("ij,ij->i", W, V) - 1.0 / n
        error = float(np.mean(squares / np.maximum(diagonal, 1e-9) ** 2))
        if error <= smallest * (1.0 + 1e-9):  # ridges increase: of equal errors, the largest
            best, smallest = float(ridge), error
    return best
