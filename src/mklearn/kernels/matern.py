"""Matern kernels of Euclidean distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mklearn.checks import Array, check_choice
from mklearn.kernels.gaussian import GaussianKernel

SMOOTHNESS = (0.5, 1.5, 2.5)


@dataclass(kw_only=True, eq=False)
class MaternKernel(GaussianKernel):
    """Matern kernel of r = d / l, the Euclidean distance over the length scale l.

    ``exp(-r)`` for nu = 1/2, ``(1 + 3^(1/2) r) exp(-3^(1/2) r)`` for 3/2, and ``(1 + 5^(1/2) r + 5 r^2 / 3)
    exp(-5^(1/2) r)`` for 5/2.

    Parameters
    ----------
    nu : {0.5, 1.5, 2.5}
        Smoothness: 0.5 is ``exp(-r)``, and larger ones are nearer to the Gaussian kernel.
    bandwidth : float
        Multiple of the value that `bandwidth_rule` gives. In a study a list makes one kernel of each.
    bandwidth_rule : {"mean_squared_distance", "squared_mean_distance", "absolute"}
        l^2 = multiple x mean squared distance of the training samples, multiple x (mean distance)^2, or the number
        itself; see `mklearn.kernels.gaussian.resolve_bandwidth`.
    measure : {"squared_euclidean", "distance"}
        Squared Euclidean distances, or plain distances, which are squared.
    centre, normalise, psd, name
        See `mklearn.kernels.base.Kernel`.

    References
    ----------
    Rasmussen, Williams, "Gaussian processes for machine learning", 2006, eq. (4.16) and (4.17).
    """

    kind: ClassVar[str] = "matern"
    measures: ClassVar[tuple[str, ...]] = ("squared_euclidean", "distance")
    psd_measures: ClassVar[frozenset[str]] = frozenset({"squared_euclidean"})

    nu: float = 1.5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self.nu, "nu", SMOOTHNESS)

    def kernel_function(self, blocks: Sequence[Array]) -> Array:
        """Compute the kernel of distances."""
        exponent = self.exponent(blocks[0])
        r = np.sqrt(exponent * exponent.dtype.type(2 * self.nu / self.bandwidth_))
        polynomial = {0.5: 1.0, 1.5: 1 + r, 2.5: 1 + r + r * r / 3}[self.nu]
        return np.asarray(polynomial * np.exp(-r))

    def parameter_info(self) -> dict[str, Any]:
        """Return nu beside the bandwidth and how it was found."""
        return {**super().parameter_info(), "nu": self.nu}
