"""The Tanimoto kernel of bit vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mklearn.checks import Array
from mklearn.kernels.base import Kernel


@dataclass(kw_only=True, eq=False)
class TanimotoKernel(Kernel):
    """Tanimoto (Jaccard) kernel ``<x, y> / (|x|^2 + |y|^2 - <x, y>)``, 1 for two samples without any bit.

    It is positive semidefinite for features of any values, dense or sparse.

    Parameters
    ----------
    measure : {"tanimoto", "distance"}
        One less the kernel.
    centre, normalise, psd, name
        See `mklearn.kernels.base.Kernel`.

    References
    ----------
    Ralaivola, Swamidass, Saigo, Baldi, "Graph kernels for chemical informatics", Neural Networks 18, 2005.
    """

    kind: ClassVar[str] = "tanimoto"
    measures: ClassVar[tuple[str, ...]] = ("tanimoto", "distance")
    psd_measures: ClassVar[frozenset[str]] = frozenset({"tanimoto"})

    def kernel_function(self, blocks: Sequence[Array]) -> Array:
        """Compute one less the distance."""
        return 1 - blocks[0]
