"""Laplacian kernels of Manhattan distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mklearn.cards import POSITIVE, KernelCard, list_of
from mklearn.kernels.gaussian import GaussianKernel


@KernelCard(
    kind="laplacian",
    title="Laplacian",
    reference="Chapelle, Haffner, Vapnik 1999",
    about="exp(-d / gamma) of Manhattan distances: less smooth than a Gaussian kernel, and one feature at a time.",
    valid={"bandwidth": [POSITIVE, list_of(POSITIVE)]},
)
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

    measures: ClassVar[tuple[str, ...]] = ("manhattan",)
    psd_measures: ClassVar[frozenset[str]] = frozenset({"manhattan"})
