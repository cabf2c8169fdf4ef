"""Logistic regression on standardised features, a baseline without kernels."""

from __future__ import annotations

from typing import Any

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

from mklearn.base.parameters import CLASS_WEIGHT, POSITIVE, constrained
from mklearn.kernels.standard_scaler import StandardScaler


@constrained(C=[POSITIVE], class_weight=CLASS_WEIGHT)
def logistic_regression(C: float = 1.0, class_weight: Any = None) -> Pipeline:
    """Build multinomial logistic regression on features of mean 0 and variance 1.

    Every feature counts the same: of several descriptors side by side, one with more features counts more.

    Parameters
    ----------
    C : float
        Inverse of the ridge penalty, as in :class:`sklearn.linear_model.LogisticRegression`.
    class_weight : None, "balanced" or dict
        Weights of the classes, by label; "balanced" gives all classes the same sum.
    """
    return make_pipeline(StandardScaler(), LogisticRegression(C=C, class_weight=class_weight, max_iter=10_000))
