"""Kernels that the user brings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mklearn.checks import Array
from mklearn.kernels.base import Kernel


@dataclass(kw_only=True, eq=False)
class PrecomputedKernel(Kernel):
    """A matrix of kernel values, which may be indefinite.

    Parameters
    ----------
    measure : {"kernel"}
    centre, normalise, psd, name
        See `mklearn.kernels.base.Kernel`.
    """

    kind: ClassVar[str] = "precomputed"
    measures: ClassVar[tuple[str, ...]] = ("kernel",)

    def kernel_function(self, blocks: Sequence[Array]) -> Array:
        """Return the kernel values."""
        return blocks[0]
