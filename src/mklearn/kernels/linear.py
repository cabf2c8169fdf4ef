"""The linear kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mklearn.checks import Array
from mklearn.kernels.base import Kernel


@dataclass(kw_only=True, eq=False)
class LinearKernel(Kernel):
    """Linear kernel: the inner products themselves.

    Parameters
    ----------
    measure : {"inner_product"}
    centre, normalise, psd, name
        See `mklearn.kernels.base.Kernel`.
    """

    kind: ClassVar[str] = "linear"
    measures: ClassVar[tuple[str, ...]] = ("inner_product",)
    psd_measures: ClassVar[frozenset[str]] = frozenset({"inner_product"})
    of_features: ClassVar[bool] = True

    def kernel_function(self, blocks: Sequence[Array]) -> Array:
        """Return the inner products."""
        return blocks[0]
