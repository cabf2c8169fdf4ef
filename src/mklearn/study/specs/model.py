"""Base classes of the models of study files and specifications, and types of their fields."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Slug = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$", max_length=60)]
"""Name of a data set, descriptor, kernel, method, protocol or study."""
NamePattern = Annotated[str, Field(pattern=r"^[a-z0-9*]([a-z0-9._*-]*[a-z0-9*])?$", max_length=60)]
"""A name, or a pattern in which ``*`` matches any characters."""
Count = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0)]
NonNegative = Annotated[float, Field(ge=0)]


def as_list(value: Any) -> list[Any]:
    """Return a list unchanged, and any other value as a list of one."""
    return value if isinstance(value, list) else [value]


class Strict(BaseModel):
    """Frozen model that rejects unknown keys. A string below a field documents it; see `field_texts`."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        defer_build=True,  # base classes are never validated, and every job imports all models
    )


class Spec(Strict):
    """Specification of a job. The plan makes it, the rule passes it as a dictionary, and the script validates it."""

    def as_dict(self) -> dict[str, Any]:
        """Return the specification in builtin types, for the parameters of a rule and the keys of files.

        Defaults are omitted, so that a new optional field changes no key.
        """
        return self.model_dump(mode="json", exclude_defaults=True)
