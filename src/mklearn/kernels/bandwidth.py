"""Bandwidths of Gaussian kernels, derived from the distances among the training samples."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from mklearn.checks import Array, as_distances, check_choice, check_positive
from mklearn.errors import ConstantKernel, DataError

BandwidthRule = Literal["squared_mean_distance", "mean_squared_distance", "absolute"]


def resolve_bandwidth(
    d_train: ArrayLike, multiple: float = 1.0, rule: BandwidthRule = "mean_squared_distance"
) -> float:
    """Compute the bandwidth gamma of ``exp(-d / gamma)``: a multiple of a statistic of the training distances.

    Parameters
    ----------
    d_train : array_like, shape (n, n)
        Squared Euclidean or chi-squared distances among the training samples only.
    multiple : float
        > 0; with rule ``"absolute"`` the bandwidth itself.
    rule : {"squared_mean_distance", "mean_squared_distance", "absolute"}
        The statistic: the square of the mean of the square roots (MKMMC), the mean of the entries (the usual choice
        for MKL-DR; the rule of the paper itself is not known), or 1.

    Returns
    -------
    float
        In units of `d_train`.

    Raises
    ------
    ConfigError
        Unknown rule, or a multiple that is not positive.
    DataError
        Not a distance matrix, fewer than two samples, or all samples equal.
    """
    check_choice(rule, "bandwidth_rule", get_args(BandwidthRule))
    multiple = check_positive(multiple, "bandwidth")
    if rule == "absolute":
        return multiple
    return bandwidth_of(as_distances(d_train, "the distance matrix"), multiple, rule)


def bandwidth_of(distances: Array, multiple: float, rule: BandwidthRule) -> float:
    """Compute `resolve_bandwidth` of valid parameters and valid distances, (n, n), which are not checked again."""
    if rule == "absolute":
        return multiple
    n = len(distances)
    if n < 2:
        raise DataError("a bandwidth needs at least two training samples, got 1")
    squared_mean = rule == "squared_mean_distance"
    entries = np.sqrt(distances) if squared_mean else distances
    # the mean of the entries i < j, without an index of the pairs
    mean = (float(entries.sum(dtype=np.float64)) - float(np.trace(entries, dtype=np.float64))) / (n * (n - 1))
    reference = mean**2 if squared_mean else mean
    if reference <= 0:
        raise ConstantKernel(
            "all training samples have distance zero to each other, so no bandwidth can be derived from them; "
            "set one with bandwidth_rule='absolute' or leave this descriptor out"
        )
    return multiple * reference
