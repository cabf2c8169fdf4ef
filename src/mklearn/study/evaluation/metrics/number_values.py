"""Values of single test samples whose mean is a metric of numbers: what its interval is computed from.

See :mod:`mklearn.study.evaluation.metrics.sample_values`: a value is ``T + IF``, with the influence IF of the sample on
the metric T. Those of R² (whose denominator is of the training samples) and of the absolute error are exact; that of a
root is its derivative; those of correlations are of Devlin et al. (1975) and, for ranks, of Croux, Dehon (2010).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from mklearn.study.evaluation.metrics.numbers import pearson, rmse, spearman, standardised

Values = NDArray[np.float64]


def r2_values(y_train: Any, y: Any, labels: Any) -> Values:
    """Return one minus each squared error by the variance of the training samples, (m,)."""
    return np.asarray(1.0 - (labels - y) ** 2 / np.var(y_train))


def mae_values(y: Any, labels: Any) -> Values:
    """Return the absolute errors, (m,)."""
    return np.asarray(np.abs(labels - y))


def rmse_values(y: Any, labels: Any) -> Values:
    """Return values (m,) with the root of the mean squared error as their mean."""
    error = rmse(y, labels)
    return np.full(len(y), error) if error == 0 else np.asarray(error + ((labels - y) ** 2 / error - error) / 2.0)


def pearson_values(y: Any, labels: Any) -> Values:
    """Return values (m,) with the correlation as their mean: r + z w - r (z² + w²)/2 of standardised z and w."""
    r, z, w = pearson(y, labels), standardised(y), standardised(labels)
    return np.asarray(r + z * w - r * (z**2 + w**2) / 2.0)


def spearman_values(y: Any, labels: Any) -> Values:
    """Return values (m,) with the rank correlation as their mean.

    The influence is ``12 (F(x) G(y) + E[F(X) 1(Y >= y)] + E[G(Y) 1(X >= x)]) - 9 - 3 rho`` with the distribution
    functions F and G, of which ranks are estimates.
    """
    rho, m = spearman(y, labels), len(y)
    one, other = ((rankdata(values) - 0.5) / m for values in (y, labels))
    influence = 12.0 * (one * other + _mean_above(one, labels) + _mean_above(other, y))
    return np.asarray(rho + influence - influence.mean())


def _mean_above(values: Values, keys: Any) -> Values:
    """Return for each sample the mean over all of their values where their key is not below its own, else 0; (m,)."""
    order = np.argsort(keys, kind="stable")
    above = np.cumsum(values[order][::-1])[::-1]
    first = np.searchsorted(np.asarray(keys)[order], keys, side="left")
    return np.asarray(above[first] / len(values))
