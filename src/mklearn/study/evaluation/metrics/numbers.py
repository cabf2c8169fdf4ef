"""Metrics of predicted numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata

from mklearn.errors import NotApplicable

VALUES = "mklearn.study.evaluation.metrics.number_values:"


def r2(y_train: Any, y: Any, labels: Any) -> float:
    """Return the explained share of the variance, with the variance of the training samples.

    One minus the mean squared error by the variance of the target among the training samples: the Q² of Consonni,
    Ballabio, Todeschini (2009). With the variance of the test samples, as elsewhere, a fold of a few samples, such as
    those of one person, has any value and one of a single sample has none.
    """
    return float(1.0 - np.mean((labels - y) ** 2) / np.var(y_train))


def rmse(y: Any, labels: Any) -> float:
    """Return the root of the mean squared error, in the unit of the target."""
    return float(np.sqrt(np.mean((labels - y) ** 2)))


def mae(y: Any, labels: Any) -> float:
    """Return the mean absolute error, in the unit of the target."""
    return float(np.mean(np.abs(labels - y)))


def pearson(y: Any, labels: Any) -> float:
    """Return the correlation of predicted and true numbers."""
    one, other = standardised(y), standardised(labels)
    return float(np.clip(np.mean(one * other), -1.0, 1.0))


def spearman(y: Any, labels: Any) -> float:
    """Return the correlation of the ranks of predicted and true numbers."""
    return pearson(rankdata(y), rankdata(labels))


def standardised(values: Any) -> Any:
    """Return values with mean 0 and variance 1.

    Raises
    ------
    NotApplicable
        Fewer than three, or all the same.
    """
    if len(values) < 3:
        raise NotApplicable(f"a correlation needs three test samples or more; there are {len(values)}")
    centred = values - np.mean(values)
    spread = float(np.std(centred))
    if not spread > 1e-13 * float(np.abs(values).max()):
        raise NotApplicable("a correlation needs numbers that differ: they are the same for all test samples")
    return centred / spread
