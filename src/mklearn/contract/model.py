"""Base classes of every model that a study file can name: strict, frozen, and registered with its paper and code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

Slug = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$", max_length=60)]
"""Name of a data set, descriptor, kernel, method, protocol or study."""
NamePattern = Annotated[str, Field(pattern=r"^[a-z0-9*]([a-z0-9._*-]*[a-z0-9*])?$", max_length=60)]
"""A name, or several: ``*`` stands for any characters."""
Count = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0)]
NonNegative = Annotated[float, Field(ge=0)]


def as_list(value: Any) -> list[Any]:
    """Return a list as it is, and anything else as a list of one entry."""
    return value if isinstance(value, list) else [value]


class Strict(BaseModel):
    """A frozen model that refuses unknown keys. A string below a field says what it is: see `field_texts`."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        defer_build=True,  # base classes are never validated, and every job imports all models
    )


class Registered(Strict):
    """A model of something that mklearn, or an installed package, implements.

    ``mklearn list kernels|methods|descriptors`` lists the class attributes. ``implementation`` is
    ``"module:name"``; it is imported only when a step runs.
    """

    implementation: ClassVar[str] = ""
    title: ClassVar[str] = ""
    reference: ClassVar[str] = ""
    advice: ClassVar[str] = ""
    """When to use it, for listings and the documentation."""

    targets: ClassVar[Sequence[str]] = ("classes", "numbers")
    """The kinds of target that it is for, see :data:`mklearn.contract.specs.TargetKind`."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset()
    """Fields that the study uses itself, beside ``datasets``: they are not passed to the implementation."""

    datasets: Annotated[list[Slug], Field(min_length=1)] | None = None
    """Only for these data sets of the study; by default for all of them."""

    def applies_to(self, dataset: str) -> bool:
        """Return whether the study uses it on a data set."""
        return self.datasets is None or dataset in self.datasets

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that the implementation is called with."""
        return self.model_dump(exclude={*self.bookkeeping, "datasets", "kind"})

    def specification(self) -> dict[str, Any]:
        """Return the implementation with its parameters: the key of its results is made from it."""
        kind = getattr(self, "kind")  # noqa: B009 - every registered model has one, of its own literal type
        return {"kind": kind, "implementation": self.implementation, "parameters": self.parameters()}
