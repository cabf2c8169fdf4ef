"""Models of the bilinear methods: the fields that a study file may set."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from mklearn.contract.fit_spec import Implementation
from mklearn.contract.method import Count, ImageMethod, Method, NonNegative, Projection, Scaling, TradeOff


class Bilinear(ImageMethod, Projection):
    """A projection of the rows and one of the columns, fitted anew for each number of components l1 = l2."""

    sizes: list[Count] = Field(default=list(range(1, 21)), min_length=1)
    """Numbers of components l1 = l2 to sweep."""
    max_iter: Count = 20
    iterations_at: list[Count] = Field(default=[])
    """Numbers of components l1 = l2 at which accuracy after each iteration is recorded, for the figure."""

    def sweep(self) -> Implementation:
        """Return the sweep over ``sizes`` with their common work done once."""
        parameters = {"sizes": list(self.sizes), "at_most": "image_side", "path": "mklearn.bilinear.path:fit_path"}
        return Implementation(implementation="mklearn.evaluation.sweeps:Refit", parameters=parameters)

    def iterations(self) -> Implementation | None:
        """Return the function that fits 1, 2, ... ``max_iter`` iterations at the cost of one fit."""
        if not self.iterations_at:
            return None
        parameters = {"sizes": list(self.iterations_at)}
        return Implementation(implementation="mklearn.bilinear.path:fit_iterations", parameters=parameters)


class GLRAM(Bilinear):
    """Generalised low rank approximations of matrices."""

    title = "GLRAM"
    reference = "Ye 2005"
    implementation = "mklearn.bilinear.glram:GLRAM"
    advice = "Compression of images without labels; the unsupervised baseline of 2DMMC."

    kind: Literal["glram"]
    centre: bool = False


class TwoDLDA(Bilinear):
    """Two-dimensional linear discriminant analysis."""

    title = "2DLDA"
    reference = "Ye, Janardan, Li 2004"
    implementation = "mklearn.bilinear.two_d_lda:TwoDLDA"
    advice = "To reproduce the tables of 2DMMC. It depends on a ridge and a scale that its paper does not state."

    kind: Literal["two_d_lda"]
    ridge: NonNegative = 1.0
    scaling: Scaling = "within"


class TwoDMMC(Bilinear):
    """Two-dimensional maximum margin criterion."""

    title = "2DMMC"
    reference = "Gu, Zhou 2009"
    implementation = "mklearn.bilinear.two_d_mmc:TwoDMMC"
    advice = (
        "To reproduce the paper. It can't be told from mmc on the same pixels; ledoit_wolf_lda is above it in "
        "every cell."
    )

    kind: Literal["two_d_mmc"]
    trade_off: TradeOff = "trace_ratio"


METHODS: tuple[type[Method], ...] = (
    GLRAM,
    TwoDLDA,
    TwoDMMC,
)
"""The methods of this room that a study can name: a new one adds its line."""
