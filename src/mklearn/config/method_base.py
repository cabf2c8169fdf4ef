"""What all methods have in common in a study file."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from mklearn.config.base import Registered

Positive = Annotated[float, Field(gt=0)]
Tuned = Positive | Annotated[list[Positive], Field(min_length=1)]
TunedCount = Annotated[int, Field(ge=1)] | Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1)]
Lam = Literal["trace_ratio"] | Tuned


class MethodBase(Registered):
    """What every method has. A list in place of a number is a grid that inner cross-validation chooses from."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset({"label"})
    takes: ClassVar[Literal["kernels", "features", "images"]] = "kernels"
    """What it is fitted on."""

    label: str | None = None
    """Name in tables and figures; by default the method's key."""
    n_components: Annotated[int, Field(ge=1)] | None = None
    """Dimensions of the embedding; by default all that the method has."""

    def sweep(self) -> dict[str, Any]:
        """How its dimensions are gone through; see :mod:`mklearn.evaluation.sweep`."""
        return {"kind": "leading"}
