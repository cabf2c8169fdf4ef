"""Frozen specification of the jobs that methods with landmarks share.

Not in ``specs``, which imports nothing of fits: a change there would make data and descriptors anew.
"""

from __future__ import annotations

from typing import Any

from mklearn.contract.fit_spec import Landmarks
from mklearn.contract.specs import Spec

SAMPLE = 20_000
"""Training samples at most, drawn at random, that landmarks are chosen from and kernels' parameters are fitted to."""


class LandmarkSetSpec(Spec):
    """Steps ``landmarks`` and ``moments``: the kernels and landmarks of methods that share their features."""

    kernels: list[dict[str, Any]]
    """On features."""
    landmarks: Landmarks
    seed: int
    inner_folds: int
    """Folds of the inner cross-validation, each with moments of its own."""
    part: str | None = None
    """``"2of8"``: the second eighth of the samples."""

    @property
    def descriptors(self) -> list[str]:
        """Keys of the descriptors whose features the kernels take, in order."""
        return sorted({kernel["view"] for kernel in self.kernels})
