"""Polynomial kernels of inner products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mklearn.checks import Array, check_integer, check_nonnegative, check_positive
from mklearn.errors import ConstantKernel
from mklearn.kernels.base import Kernel


@dataclass(kw_only=True, eq=False)
class PolynomialKernel(Kernel):
    """Polynomial kernel ``(scale <x, y> + offset)^degree``.

    Parameters
    ----------
    degree : int
        >= 1.
    scale : float, optional
        > 0, in one over the units of the inner products. Default: one over the mean self-similarity of the training
        samples.
    offset : float
        >= 0: with a negative offset the kernel is indefinite.
    measure : {"inner_product"}
    centre, normalise, psd, name
        See `mklearn.kernels.base.Kernel`.

    Attributes
    ----------
    scale_ : float
    """

    kind: ClassVar[str] = "polynomial"
    measures: ClassVar[tuple[str, ...]] = ("inner_product",)
    psd_measures: ClassVar[frozenset[str]] = frozenset({"inner_product"})

    degree: int = 2
    scale: float | None = None
    offset: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.degree = check_integer(self.degree, "degree")
        self.scale = None if self.scale is None else check_positive(self.scale, "scale")
        self.offset = check_nonnegative(self.offset, "offset")

    def fit_parameters(self, blocks: Sequence[Array]) -> None:
        """Fit the scale, unless it is given."""
        gram = blocks[0]
        if self.scale is not None:
            self.scale_ = self.scale
            return
        mean = float(np.trace(gram, dtype=np.float64)) / len(gram)
        if mean <= 0:
            raise ConstantKernel(
                f"the mean self-similarity of the training samples is {mean:.3g}, so no scale of the polynomial kernel "
                "can be derived from it; set `scale` to a number"
            )
        self.scale_ = 1 / mean

    def kernel_function(self, blocks: Sequence[Array]) -> Array:
        """Compute ``(scale <x, y> + offset)^degree``."""
        gram = blocks[0]
        base = gram * gram.dtype.type(self.scale_) + gram.dtype.type(self.offset)
        power: Array = base**self.degree
        return power

    def parameter_info(self) -> dict[str, Any]:
        """Return degree, scale and offset."""
        return {"degree": self.degree, "scale": self.scale_, "offset": self.offset}
