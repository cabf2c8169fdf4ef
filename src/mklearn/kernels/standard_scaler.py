"""Standardisation of features that ignores those which are constant up to rounding errors."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn import preprocessing

from mklearn.kernels.feature_scaling import constant_features


class StandardScaler(preprocessing.StandardScaler):
    """scikit-learn's ``StandardScaler``, in which features that are constant up to rounding errors become zero.

    See `mklearn.kernels.feature_scaling.constant_features`. scikit-learn divides 0 and 1.5e-16 by their standard
    deviation, and leaves what is constant undivided, so that one value of a new sample can outweigh all others.
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to features of shape (n, d)."""
        super().fit(X, y, sample_weight)
        counted = np.asarray(X) if sample_weight is None else np.asarray(X)[np.asarray(sample_weight) > 0]
        self.scale_ = np.where(constant_features(counted), np.inf, self.scale_)  # type: ignore[has-type]
        return self
