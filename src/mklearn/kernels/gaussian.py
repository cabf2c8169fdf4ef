"""Gaussian kernels of distances, with chi-squared distances the chi-squared exponential kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, get_args

import numpy as np
from numpy.typing import ArrayLike

from mklearn.checks import Array, as_float_matrix, as_nonnegative, cached_rows, check_choice, check_positive
from mklearn.errors import DataError
from mklearn.kernels.bandwidth import BandwidthRule, bandwidth_of
from mklearn.kernels.base import Kernel


@dataclass(kw_only=True, eq=False)
class GaussianKernel(Kernel):
    """Gaussian kernel ``exp(-d^2 / gamma)``.

    Parameters
    ----------
    bandwidth : float
        Multiple of the value that `bandwidth_rule` gives. In a study a list makes one kernel of each.
    bandwidth_rule : {"mean_squared_distance", "squared_mean_distance", "absolute"}
        gamma = multiple x mean squared distance of the training samples, multiple x (mean distance)^2, or the number
        itself; see `mklearn.kernels.bandwidth.resolve_bandwidth`.
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
        self.bandwidth_ = bandwidth_of(self.exponent(blocks[0]), self.bandwidth, self.bandwidth_rule)

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


def gaussian_kernel(d2: ArrayLike, gamma: float, *, out: Array | None = None) -> Array:
    """Compute the Gaussian kernel ``exp(-d2 / gamma)`` of squared distances.

    Parameters
    ----------
    d2 : array_like, shape (n, m)
        Squared distances, >= 0.
    gamma : float
        Bandwidth, > 0, in the units of `d2`: the distances are divided by it (not by ``2 gamma^2``).
    out : ndarray, shape (n, m), optional
        Where the kernel is written to; may be `d2`, which then needs no memory for a second matrix. Default: a new
        array.

    Returns
    -------
    ndarray, shape (n, m)
        Entries in [0, 1]; the dtype of `d2`.

    Raises
    ------
    ConfigError
        `gamma` is not a positive finite number.
    DataError
        `d2` is not a finite matrix of non-negative numbers, or `out` has another shape or dtype.

    References
    ----------
    MKMMC (Gu and Zhou), section 2.2, and MKL-DR (Lin, Liu and Fuh, NIPS 2008), equation 8, use this form.
    """
    gamma = check_positive(gamma, "gamma")
    distances = as_nonnegative(as_float_matrix(d2, "d2"), "d2")
    if out is not None and (out.shape, out.dtype) != (distances.shape, distances.dtype):
        raise DataError(f"`out` is {out.dtype} {out.shape}; the kernel is {distances.dtype} {distances.shape}")
    return _exponential(distances, gamma, out)


def _exponential(d2: Array, gamma: float, out: Array | None = None) -> Array:
    """Compute ``exp(-d2 / gamma)`` of valid distances."""
    kernel = np.empty_like(d2) if out is None else out
    for part in cached_rows(d2):
        np.divide(d2[part], d2.dtype.type(-gamma), out=kernel[part])
        np.exp(kernel[part], out=kernel[part])
    return kernel
