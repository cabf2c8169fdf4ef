"""Laplacian kernels of Manhattan distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mklearn.kernels.gaussian import GaussianKernel


@dataclass(kw_only=True, eq=False)
class LaplacianKernel(GaussianKernel):
    """Laplacian kernel ``exp(-|x - y|_1 / gamma)``.

    Parameters
    ----------
    bandwidth : float
        Multiple of the value that `bandwidth_rule` gives. In a study a list makes one kernel of each.
    bandwidth_rule : {"mean_squared_distance", "squared_mean_distance", "absolute"}
        gamma = multiple x mean distance of the training samples, multiple x (mean root of the distance)^2, or the
        number itself.
    measure : {"manhattan"}
    centre, normalise, psd, name
        See `mklearn.kernels.base.Kernel`.
    """

    kind: ClassVar[str] = "laplacian"
    measures: ClassVar[tuple[str, ...]] = ("manhattan",)
    psd_measures: ClassVar[frozenset[str]] = frozenset({"manhattan"})
