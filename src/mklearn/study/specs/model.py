"""The base of the models of study files and specifications, and types of their fields."""

from __future__ import annotations

from typing import Annotated, Any

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


class Spec(Strict):
    """The specification of a job: the plan makes it, its rule has it as a dictionary, its script validates it again."""

    def as_dict(self) -> dict[str, Any]:
        """Return builtin types only: the parameters of a rule. Keys of files are made from them.

        Fields that were not set are left out, so that a new optional field changes no key.
        """
        return self.model_dump(mode="json", exclude_unset=True)
