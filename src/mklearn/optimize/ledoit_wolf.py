"""Ledoit and Wolf's shrinkage of a covariance, from inner products of few samples of many features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]


def ledoit_wolf_shrinkage(residuals: Array, n_features: int | None = None) -> tuple[float, float]:
    """Ledoit and Wolf's shrinkage intensity of samples of mean zero, and the level that is shrunk to.

    Parameters
    ----------
    residuals : array of shape (n, r)
        Centred samples, in feature space or in coordinates of an orthonormal basis of their span.
    n_features : int, optional
        d, the dimension of the whole space; by default r.

    Returns
    -------
    shrinkage : float
        s, from 0 to 1.
    level : float
        mu, the mean variance of a feature.

    Notes
    -----
    With S = R'R/n: s = min(b, D) / D for D = |S|^2 - d mu^2 and b = (mean of |x|^4 - |S|^2) / n, in Frobenius norms.
    Inner products among the samples suffice: |S| = |RR'|/n.
    """
    n, r = residuals.shape
    d = n_features or r
    gram = residuals @ residuals.T
    lengths = gram.diagonal()
    level = float(lengths.sum()) / (n * d)
    norm = float((gram**2).sum()) / n**2
    spread = norm - d * level**2
    noise = (float((lengths**2).mean()) - norm) / n
    if not spread > 1e-14 * norm:
        return 1.0, level  # S is a multiple of the identity already
    return min(max(noise, 0.0), spread) / spread, level
