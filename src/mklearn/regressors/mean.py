"""The mean of the training samples, whatever the sample: what every regression method has to beat."""

from __future__ import annotations

from sklearn.dummy import DummyRegressor


def mean_regressor() -> DummyRegressor:
    """Build a regressor that predicts the mean of the training samples."""
    return DummyRegressor()
