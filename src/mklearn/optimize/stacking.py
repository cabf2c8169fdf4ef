"""Weights of predictors from their predictions for left-out samples (stacking).

Predictors with left-out outputs F_e (n, c) of targets T are combined with the weights

    w = argmin over w >= 0, sum w = 1 of ||T - sum_e w_e F_e||^2 + s^2 (k ||w - w0||^2 + 2 sum_e d_e w_e).

s^2 is the smallest mean squared left-out error of a predictor, summed over the targets: an estimate of the noise.
Samples of a group with equal errors count as one (`LeftOut.squares`). With this noise, k is the precision of a normal
prior of the weights with mean w0. Predictors with equal outputs divide their weight in the proportions of w0. If d_e
parameters of a predictor were learned from the same samples, its squared left-out error at weight 1 is too small by
2 d_e s^2 (Mallows's C_p).

As the weights sum to 1, the objective is w'Qw up to a constant, with

    Q_ef = <T - F_e, T - F_f> + s^2 (k <i_e - w0, i_f - w0> + d_e + d_f),

where i_e are the unit vectors. Adding c 11' to Q adds a constant to the objective. The minimiser over the simplex is
u / sum u for ``u = argmin over u >= 0 of u'Qu + (1 - sum u)^2``, a nonnegative least-squares problem.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh

from mklearn.optimize.left_out import LeftOut

Array = NDArray[np.floating[Any]]
# Precision k of the prior weights; their standard deviation is 0.45.
PRECISION = 5.0


def stacking_weights(
    outputs: Array, targets: Array, prior: ArrayLike, n_parameters: ArrayLike = 0, *,
    sample_weight: Array | None = None, groups: ArrayLike | None = None, precision: float = PRECISION,
) -> Array:  # fmt: skip
    """Return the weights of predictors, shape (n_predictors,), nonnegative with sum 1.

    ``outputs`` (n_predictors, n, c) are the left-out outputs F of the targets (n, c), ``prior`` (n_predictors,) the
    weights w0, of sum 1, and ``n_parameters`` the numbers d of parameters that each predictor learned from the same
    samples, beyond its coefficients. ``precision`` is k. Samples of a group are left out together.

    References
    ----------
    Wolpert, "Stacked generalization", Neural Networks 1992. Breiman, "Stacked regressions", Machine Learning 1996
    (nonnegative weights). The prior and the correction for learned parameters are this library's own.
    """
    from scipy.optimize import nnls

    root = 1.0 if sample_weight is None else np.sqrt(sample_weight)[:, None]
    errors = (root * (targets - outputs)).reshape(len(outputs), -1)
    products = errors @ errors.T
    weights = np.ones(len(targets)) if sample_weight is None else sample_weight
    best = targets - outputs[np.diagonal(products).argmin()]
    noise = float(LeftOut(len(targets), groups).squares(best, weights).sum())
    from_prior = np.eye(len(outputs)) - np.asarray(prior, dtype=np.float64)
    learned = np.broadcast_to(np.asarray(n_parameters, dtype=np.float64), len(outputs))
    Q = products + noise * (precision * from_prior @ from_prior.T + learned[:, None] + learned)
    size = float(np.trace(Q))
    if not size > 0:  # all predictors are exact
        return np.asarray(prior, dtype=np.float64)
    # Two terms that do not move the minimiser beyond rounding make Q positive definite.
    values, vectors = eigh(Q / size + 1.0 + 1e-12 * np.eye(len(Q)))
    rows = np.vstack([(vectors * np.sqrt(np.maximum(values, 0.0))).T, np.ones(len(Q))])
    weights = nnls(rows, np.append(np.zeros(len(Q)), 1.0))[0]
    return np.asarray(weights / weights.sum())
