"""GAUSS4: samples drawn from four Gaussians in the plane, two of each class."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mklearn.checks import check_integer
from mklearn.errors import ConfigError
from mklearn.study.data.samples import SampleSet

MEANS = np.array([[-3.0, 1.0], [1.0, 1.0], [-1.0, -2.2], [3.0, -2.2]])
VARIANCES = np.array([[0.8, 2.0], [0.8, 2.0], [0.8, 4.0], [0.8, 4.0]])
CLASSES = np.array(["positive", "positive", "negative", "negative"])
"""Means and variances of the two independent features of each Gaussian, and its class."""


def read(paths: Mapping[str, Path] | None = None, *, seed: int = 0, n: int = 1600) -> SampleSet:
    """Draw the samples; `paths` is ignored, because there are no files.

    Parameters
    ----------
    seed : int
        The generator is ``default_rng(seed)``; the Gaussians are drawn one after the other.
    n : int
        Number of samples, a quarter from each Gaussian; `ConfigError` unless it is a positive multiple of four.

    Returns
    -------
    SampleSet
        ids "1", ..., "n" in the order of the Gaussians; classes "negative" and "positive"; tables "features" (n, 2) and
        "quadratic" (n, 5), the features with their squares and their product, for quadratic gates.

    Notes
    -----
    Gonen and Alpaydin (Localized Multiple Kernel Machines for Image Recognition, figure 1) show such data. The means
    and variances here are our own choice.
    """
    if check_integer(n, "n", 4) % 4:
        raise ConfigError(f"reader gauss4: n is {n}; expected a positive multiple of 4")
    check_integer(seed, "seed", 0)
    rng = np.random.default_rng(seed)
    parts = [
        mean + np.sqrt(variance) * rng.standard_normal((n // 4, 2))
        for mean, variance in zip(MEANS, VARIANCES, strict=True)
    ]
    ids = [str(number) for number in range(1, n + 1)]
    features = np.concatenate(parts)
    tables = {"features": features, "quadratic": quadratic(features)}
    return SampleSet(np.array(ids), np.repeat(CLASSES, n // 4), tables=tables)


def quadratic(X: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return x1, x2, x1 x1, x1 x2 and x2 x2 of samples (n, 2)."""
    first, second = X.T
    return np.column_stack([X, first * first, first * second, second * second])


def best_rule(X: NDArray[np.floating]) -> NDArray[np.floating]:
    """Compute the log ratio of the class densities, shape (n,), above 0 where "positive" is likelier."""
    squares = (np.asarray(X)[:, None] - MEANS) ** 2 / VARIANCES
    densities = np.exp(-squares.sum(axis=2) / 2) / np.sqrt(VARIANCES.prod(axis=1))
    ratio: NDArray[np.floating] = np.log(densities[:, CLASSES == "positive"].sum(axis=1))
    return ratio - np.log(densities[:, CLASSES == "negative"].sum(axis=1))
