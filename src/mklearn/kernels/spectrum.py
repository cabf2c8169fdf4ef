"""A kernel's spectrum in a few points: what a log-log plot of its eigenvalues needs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

MOST_POINTS = 48
"""Ranks that are kept of a long spectrum."""


def spectrum_curve(eigenvalues: ArrayLike) -> list[tuple[int, float]]:
    """Eigenvalues as shares of the sum of their absolute values, at ranks about evenly spaced on a logarithmic scale.

    Parameters
    ----------
    eigenvalues : array-like of shape (n,)
        Largest first. Negative ones keep their sign.

    Returns
    -------
    list of (rank, share)
        Ranks from 1 to n; every rank where there are no more than ``MOST_POINTS``. Empty for a kernel that is zero.
    """
    values = np.asarray(eigenvalues, dtype=np.float64)
    total = float(np.abs(values).sum())
    if not total > 0:
        return []
    spaced = np.geomspace(1, values.size, MOST_POINTS).round().astype(int)
    ranks = np.arange(1, values.size + 1) if values.size <= MOST_POINTS else np.unique(spaced)
    return [(int(rank), float(values[rank - 1] / total)) for rank in ranks]
