"""Prediction intervals from the errors of left-out outputs: the jackknife."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]


def jackknife_radius(errors: Array, coverage: float, sample_weight: Array | None = None) -> float:
    """Return r such that an output plus or minus r holds a new value with about the probability ``coverage``.

    It is the smallest absolute error that a share of ``coverage (1 + 1/n)`` of the left-out samples do not exceed.

    Parameters
    ----------
    errors : array of shape (n,)
        Values less left-out outputs, in units of the target; NaN are left out.
    coverage : float
        Above 0, below 1.
    sample_weight : array of shape (n,), optional
        A sample of weight 2 counts as two.

    Returns
    -------
    float
        Infinite with fewer than ``coverage / (1 - coverage)`` samples: no interval follows from so few.

    References
    ----------
    Barber, Candes, Ramdas, Tibshirani, "Predictive inference with the jackknife+", Annals of Statistics 49, 2021, eq.
    (1.2). Deviation: their jackknife+ puts the outputs of all n refits in place of the one output. For a method that
    changes little when a sample is left out, such as ridge regression, both agree (their section 5); the jackknife
    needs no more memory than n numbers.
    """
    known = ~np.isnan(errors)
    sizes = np.abs(errors[known])
    weights = np.ones(len(sizes)) if sample_weight is None else sample_weight[known]
    order = np.argsort(sizes)
    reached = np.cumsum(weights[order]) >= coverage * (weights.sum() + 1.0) * (1.0 - 1e-12)
    return float(sizes[order][np.argmax(reached)]) if reached.any() else float("inf")
