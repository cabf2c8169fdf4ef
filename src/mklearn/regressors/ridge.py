"""Ridge regression on standardised features, a baseline without kernels."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import Pipeline, make_pipeline

from mklearn.kernels.standard_scaler import StandardScaler

ALPHAS = np.logspace(-3, 6, 19)
"""Ridges to choose from: for standardised features, from hardly any to one above their number."""


def ridge() -> Pipeline:
    """Build ridge regression on features of mean 0 and variance 1."""
    return make_pipeline(StandardScaler(), RidgeCV(alphas=ALPHAS))
