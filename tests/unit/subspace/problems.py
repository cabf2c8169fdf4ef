"""Problems and reference computations that tests of several embeddings share."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

LABELS = np.arange(36) % 3
"""Labels of `features` and `gaussian_kernels`."""


def features(
    seed: int, *, n: int = 36, count: int = 3, classes: int = 3, strength: float = 0.6
) -> list[NDArray[np.float64]]:
    """Feature sets of growing quality, for the labels arange(n) % classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return [rng.normal(size=(n, 4)) + strength * m * rng.normal(size=(classes, 4))[y] for m in range(count)]


def gaussian_kernels(seed: int, **shape: Any) -> NDArray[np.float64]:
    """Gaussian kernels of `features`, samples first: (n, n, count)."""
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


def fit_changed(method: Any, change: dict[str, Any], X: NDArray[Any], y: NDArray[Any]) -> None:
    """Fit with changed parameters, or with changed samples and labels: the entries "X" and "y"."""
    parameters = {key: value for key, value in change.items() if key not in ("X", "y")}
    method(**parameters).fit(change.get("X", X), change.get("y", y))
