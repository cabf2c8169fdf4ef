"""Problems and reference computations that tests of several embeddings share."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

LABELS = np.arange(36) % 3
"""Labels of `features` and `gaussian_kernels`."""


def features(seed: int, *, n: int = 36, strength: float = 0.6) -> list[NDArray[np.float64]]:
    """Three feature sets of growing quality, for the labels arange(n) % 3."""
    rng, y = np.random.default_rng(seed), np.arange(n) % 3
    return [rng.normal(size=(n, 4)) + strength * m * rng.normal(size=(3, 4))[y] for m in range(3)]


def gaussian_kernels(seed: int, **shape: Any) -> NDArray[np.float64]:
    """Gaussian kernels of `features`, samples first: (n, n, 3)."""
    distances = [((X[:, None] - X[None]) ** 2).sum(-1) for X in features(seed, **shape)]
    return np.stack([np.exp(-d2 / d2.mean()) for d2 in distances], axis=-1)


def gaussian(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """A Gaussian kernel of X."""
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 8.0)


def scatters(X: NDArray[np.float64], y: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """S_b and S_w, class by class."""
    d, m = X.shape[1], X.mean(axis=0)
    S_b, S_w = np.zeros((d, d)), np.zeros((d, d))
    for k in np.unique(y):
        own = X[y == k]
        S_b += len(own) * np.outer(own.mean(axis=0) - m, own.mean(axis=0) - m)
        S_w += (own - own.mean(axis=0)).T @ (own - own.mean(axis=0))
    return S_b, S_w
