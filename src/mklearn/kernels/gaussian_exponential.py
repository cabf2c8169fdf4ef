"""Means of a Gaussian and an exponential kernel of the same distances: smooth functions and rough ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklearn.cards import POSITIVE, KernelCard, list_of
from mklearn.checks import Array, cached_rows
from mklearn.kernels.gaussian import GaussianKernel


@KernelCard(
    kind="gaussian_exponential",
    title="Gaussian and exponential",
    reference="Rasmussen, Williams 2006, eq. (4.18)",
    about="Mean of exp(-d^2 / gamma) and exp(-d / gamma^(1/2)): smooth functions and rough ones.",
    valid={"measure": [{"enum": ["squared_euclidean"]}, None], "bandwidth": [POSITIVE, list_of(POSITIVE)]},
)
@dataclass(kw_only=True, eq=False)
class GaussianExponentialKernel(GaussianKernel):
    """Mean of a Gaussian and an exponential kernel of one length scale, ``(exp(-r^2) + exp(-r)) / 2``.

    r = d / gamma^(1/2). A Gaussian kernel has smooth functions alone, which need many samples where classes or numbers
    change abruptly; the exponential kernel, that of Matern with nu = 1/2, has rough ones too.

    Parameters
    ----------
    bandwidth : float
        Multiple of the value that `bandwidth_rule` gives. In a study a list makes one kernel of each.
    bandwidth_rule : {"mean_squared_distance", "squared_mean_distance", "absolute"}
        gamma = multiple x mean squared distance of the training samples, multiple x (mean distance)^2, or the number
        itself; see `mklearn.kernels.bandwidth.resolve_bandwidth`.
    measure : {"squared_euclidean", "distance"}
        Squared Euclidean distances, or plain distances, which are squared.
    centre, normalise, psd, name
        See `mklearn.kernels.base.Kernel`.

    References
    ----------
    Rasmussen, Williams, "Gaussian processes for machine learning", 2006, eq. (4.18) with exponents 2 and 1.
    """

    measures: ClassVar[tuple[str, ...]] = ("squared_euclidean", "distance")
    psd_measures: ClassVar[frozenset[str]] = frozenset({"squared_euclidean"})

    def kernel_function(self, blocks: Sequence[Array]) -> Array:
        """Compute ``(exp(-r^2) + exp(-r)) / 2``."""
        d2 = self.exponent(blocks[0])
        kernel = np.empty_like(d2)
        for part in cached_rows(d2):
            square = np.divide(d2[part], d2.dtype.type(self.bandwidth_), out=kernel[part])
            root = np.sqrt(square)
            np.exp(np.negative(square, out=square), out=square)
            square += np.exp(np.negative(root, out=root), out=root)
            square *= d2.dtype.type(0.5)
        return kernel
