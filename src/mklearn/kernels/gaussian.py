"""Gaussian kernels of distances, with chi-squared distances the chi-squared exponential kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from mklearn.checks import (
    Array,
    as_distances,
    as_float_matrix,
    as_nonnegative,
    cached_rows,
    check_choice,
    check_positive,
)
from mklearn.errors import ConstantKernel, DataError
from mklearn.kernels.base import Kernel

BandwidthRule = Literal["squared_mean_distance", "mean_squared_distance", "absolute"]


@dataclass(kw_only=True, eq=False)
class GaussianKernel(Kernel):
    """Gaussian kernel ``exp(-d^2 / gamma)``.

    Parameters
    ----------
    bandwidth : float
        Multiple of the value that `bandwidth_rule` gives. In a study a list makes one kernel of each.
    bandwidth_rule : {"mean_squared_distance", "squared_mean_distance", "absolute"}
        gamma = multiple x mean squared distance of the training samples, multiple x (mean distance)^2, or the number
        itself; see `mklearn.kernels.gaussian.resolve_bandwidth`.
    measure : {"squared_euclidean", "chi2", "point_set", "distance"}
        "distance" is a plain distance d, which is squared (in a study `measure: distance` of a data set of matrices
        says so); the others go into the exponent as they are. In a study by default the one that suits the descriptor,
        of scaled features "squared_euclidean".
    centre, normalise, psd, name
        See `mklearn.kernels.base.Kernel`.

    Attributes
    ----------
    bandwidth_ : float
        gamma, in the units of the exponent.
    """

    kind: ClassVar[str] = "gaussian"
    measures: ClassVar[tuple[str, ...]] = ("squared_euclidean", "chi2", "point_set", "distance")
    psd_measures: ClassVar[frozenset[str]] = frozenset({"squared_euclidean", "chi2"})

    bandwidth: float = 1.0
    bandwidth_rule: BandwidthRule = "mean_squared_distance"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.bandwidth = check_positive(self.bandwidth, "bandwidth")
        check_choice(self.bandwidth_rule, "bandwidth_rule", get_args(BandwidthRule))

    def exponent(self, block: Array) -> Array:
        """Return d^2: plain distances squared, other measures as they are."""
        return np.square(block) if self.measure == "distance" else block

    def fit_parameters(self, blocks: Sequence[Array]) -> None:
        """Fit the bandwidth."""
        self.bandwidth_ = _bandwidth(self.exponent(blocks[0]), self.bandwidth, self.bandwidth_rule)

    def kernel_function(self, blocks: Sequence[Array]) -> Array:
        """Compute ``exp(-d^2 / gamma)``."""
        return _exponential(self.exponent(blocks[0]), self.bandwidth_)

    def parameter_info(self) -> dict[str, Any]:
        """Return the bandwidth and how it was found."""
        return {
            "bandwidth": self.bandwidth_,
            "bandwidth_multiple": self.bandwidth,
            "bandwidth_rule": self.bandwidth_rule,
        }


def gaussian_kernel(d2: ArrayLike, gamma: float) -> Array:
    """Compute the Gaussian kernel ``exp(-d2 / gamma)`` of squared distances, shape (n, m).

    Parameters
    ----------
    d2 : array_like, shape (n, m)
        Squared distances, >= 0.
    gamma : float
        Bandwidth, > 0, in the units of `d2`: the distances are divided by it (not by ``2 gamma^2``), as in MKMMC (Gu
        and Zhou), section 2.2, and in MKL-DR (Lin, Liu and Fuh, NIPS 2008), equation 8.

    Raises
    ------
    ConfigError
        `gamma` is not a positive finite number.
    DataError
        `d2` is not a finite matrix of non-negative numbers.
    """
    return _exponential(as_nonnegative(as_float_matrix(d2, "d2"), "d2"), check_positive(gamma, "gamma"))


def _exponential(d2: Array, gamma: float, out: Array | None = None) -> Array:
    kernel = np.empty_like(d2) if out is None else out
    for part in cached_rows(d2):
        np.divide(d2[part], d2.dtype.type(-gamma), out=kernel[part])
        np.exp(kernel[part], out=kernel[part])
    return kernel


def resolve_bandwidth(
    d_train: ArrayLike, multiple: float = 1.0, rule: BandwidthRule = "mean_squared_distance"
) -> float:
    """Compute the bandwidth gamma of ``exp(-d / gamma)``: a multiple of a statistic of the training distances.

    It is in their units.

    Parameters
    ----------
    d_train : array_like, shape (n, n)
        Squared Euclidean or chi-squared distances among the training samples only.
    multiple : float
        > 0; with rule ``"absolute"`` the bandwidth itself.
    rule : {"squared_mean_distance", "mean_squared_distance", "absolute"}
        The statistic: the square of the mean of the square roots (MKMMC), the mean of the entries (the usual choice
        for MKL-DR; the rule of the paper itself is not known), or 1.

    Raises
    ------
    ConfigError
        Unknown rule, or a multiple that is not positive.
    DataError
        Not a distance matrix, fewer than two samples, or all samples equal.
    """
    check_choice(rule, "bandwidth_rule", get_args(BandwidthRule))
    multiple = check_positive(multiple, "bandwidth")
    return multiple if rule == "absolute" else _bandwidth(as_distances(d_train, "the distance matrix"), multiple, rule)


def _bandwidth(distances: Array, multiple: float, rule: BandwidthRule) -> float:
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
