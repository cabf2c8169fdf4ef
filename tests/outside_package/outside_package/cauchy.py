"""A kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mklearn.checks import Array, check_positive
from mklearn.kernels.base import Kernel


@dataclass(kw_only=True, eq=False)
class CauchyKernel(Kernel):
    """Cauchy kernel ``1 / (1 + d^2 / (scale * mean d^2))``.

    Parameters
    ----------
    scale : float
        Multiple of the mean squared training distance.
    """

    kind: ClassVar[str] = "cauchy"
    measures: ClassVar[tuple[str, ...]] = ("squared_euclidean",)

    scale: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self.scale, "scale")

    def fit_parameters(self, blocks: Sequence[Array]) -> None:
        """Fit the scale to the training distances."""
        self.scale_ = self.scale * float(blocks[0].mean())

    def kernel_function(self, blocks: Sequence[Array]) -> Array:
        """Compute the kernel of squared distances."""
        return 1 / (1 + blocks[0] / self.scale_)
