"""Table of the kernels that studies and specs can name, one row for each name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mklearn.rows import Row


@dataclass(frozen=True)
class KernelRow(Row):
    """Table row of a kernel, a subclass of :class:`mklearn.kernels.base.Kernel`."""

    measures: Sequence[str] = ()
    """Measures from which the kernel can be computed, as in its class; the first one is the default."""

    @property
    def of(self) -> Literal["descriptor", "matrix", "kernels"]:
        """Kind of the kernel's input: a descriptor, a matrix of the data set, or other kernels."""
        return (
            "kernels" if self.measures == ("product",) else "matrix" if self.measures == ("kernel",) else "descriptor"
        )


KERNELS: dict[str, KernelRow] = {
    "gaussian": KernelRow(
        "mklearn.kernels.functions:GaussianKernel",
        "Gaussian, and chi2-exponential",
        reference='Lin, Liu, Fuh 2008, eq. (8); Gu, Zhou 2009, "Multiple kernel maximum margin criterion", section 2.2',
        measures=("squared_euclidean", "chi2", "point_set", "distance"),
        defaults={"bandwidth": 1.0, "bandwidth_rule": "mean_squared_distance"},
    ),
    "laplacian": KernelRow(
        "mklearn.kernels.functions:LaplacianKernel",
        "Laplacian",
        reference="Chapelle, Haffner, Vapnik 1999",
        measures=("manhattan",),
        defaults={"bandwidth": 1.0, "bandwidth_rule": "mean_squared_distance"},
    ),
    "linear": KernelRow(
        "mklearn.kernels.functions:LinearKernel",
        "linear",
        measures=("inner_product",),
    ),
    "matern": KernelRow(
        "mklearn.kernels.functions:MaternKernel",
        "Matern",
        reference="Rasmussen, Williams 2006, eq. (4.16) and (4.17)",
        measures=("squared_euclidean", "distance"),
        defaults={"bandwidth": 1.0, "bandwidth_rule": "mean_squared_distance"},
    ),
    "polynomial": KernelRow(
        "mklearn.kernels.functions:PolynomialKernel",
        "polynomial",
        measures=("inner_product",),
    ),
    "precomputed": KernelRow(
        "mklearn.kernels.functions:PrecomputedKernel",
        "precomputed",
        measures=("kernel",),
    ),
    "product": KernelRow(
        "mklearn.kernels.functions:ProductKernel",
        "Product of Gaussian kernels",
        reference="Gehler, Nowozin 2009",
        measures=("product",),
    ),
    "tanimoto": KernelRow(
        "mklearn.kernels.functions:TanimotoKernel",
        "Tanimoto",
        reference="Ralaivola, Swamidass, Saigo, Baldi 2005",
        measures=("tanimoto", "distance"),
    ),
}
