"""Methods on images as matrices: a projection of the rows and one of the columns."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from mklearn.config.method_base import Method, TradeOff

Count = Annotated[int, Field(ge=1)]


class ImageMethod(Method):
    """What every two-dimensional method has. It is fitted anew for each number of dimensions l1 = l2."""

    takes = "images"

    sizes: Annotated[list[Count], Field(min_length=1)] = list(range(1, 21))
    """Dimensions l1 = l2 to go through."""
    max_iter: Count = 20
    iterations_at: list[Count] = []
    """Dimensions l1 = l2 at which accuracy after each iteration is recorded, for the figure."""

    def sweep(self) -> dict[str, Any]:
        """A fit for each size, with what they share computed once."""
        return {"kind": "refit", "sizes": list(self.sizes), "implementation": "mklearn.bilinear.path:fit_path"}

    def iterations(self) -> dict[str, Any]:
        """The fits after 1, 2, ... ``max_iter`` iterations, at the cost of one."""
        if not self.iterations_at:
            return {}
        return {"sizes": list(self.iterations_at), "implementation": "mklearn.bilinear.path:fit_iterations"}


class GLRAM(ImageMethod):
    """Generalised low rank approximations of matrices."""

    title = "GLRAM"
    reference = "Ye 2005"
    implementation = "mklearn.bilinear.glram:GLRAM"

    kind: Literal["glram"]
    centre: bool = False


class TwoDLDA(ImageMethod):
    """Two-dimensional linear discriminant analysis."""

    title = "2DLDA"
    reference = "Ye, Janardan, Li 2004"
    implementation = "mklearn.bilinear.two_d_lda:TwoDLDA"

    kind: Literal["two_d_lda"]
    ridge: Annotated[float, Field(ge=0)] = 1.0
    scaling: Literal["total", "within", "unit", "orthonormal"] = "within"


class TwoDMMC(ImageMethod):
    """Two-dimensional maximum margin criterion."""

    title = "2DMMC"
    reference = "Gu, Zhou 2009"
    implementation = "mklearn.bilinear.two_d_mmc:TwoDMMC"

    kind: Literal["two_d_mmc"]
    trade_off: TradeOff = "trace_ratio"
