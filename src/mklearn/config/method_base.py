"""What all methods have in common in a study file."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from mklearn.contract.model import Registered

Positive = Annotated[float, Field(gt=0)]
Tuned = Positive | Annotated[list[Positive], Field(min_length=1)]
TunedCount = Annotated[int, Field(ge=1)] | Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1)]
TradeOff = Literal["trace_ratio"] | Tuned
InnerFolds = Annotated[int, Field(ge=2)] | Literal["leave_one_out"]


class Method(Registered):
    """What every method has. A list in place of a number is a grid that inner cross-validation chooses from."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset({"label", "inner_folds", "time_limit", "sizes", "iterations_at"})
    takes: ClassVar[Literal["kernels", "features", "images"]] = "kernels"
    """What it is fitted on."""

    label: str | None = None
    """Name in tables and figures; by default the method's key."""
    inner_folds: InnerFolds | None = None
    """Of its own inner cross-validation; by default the study's."""
    time_limit: Positive | Literal["none"] | None = None
    """Minutes that each of its fits may take, or "none"; by default the study's limit."""

    def sweep(self) -> dict[str, Any]:
        """How its dimensions are gone through; see :mod:`mklearn.evaluation.sweep`."""
        return {"kind": "leading"}

    def iterations(self) -> dict[str, Any]:
        """Where accuracy after each iteration is recorded, and by what; see :mod:`mklearn.evaluation.iterations`."""
        return {}


class Embedding(Method):
    """What every method has whose leading dimensions are its embedding in fewer dimensions."""

    n_components: Annotated[int, Field(ge=1)] | None = None
    """Dimensions of the embedding; by default all that the method has."""


class Deciding(Method):
    """What every method has that predicts labels itself, and has no dimensions to go through."""

    def sweep(self) -> dict[str, Any]:
        """One accuracy, by its own labels."""
        return {"kind": "labels"}
