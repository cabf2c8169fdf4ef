"""The model of a protocol. mklearn imports this file to parse a study: nothing numerical is imported here."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from mklearn.study.config.protocols import Protocol


class FirstPerClass(Protocol):
    """The first samples of each class for training, the rest for the test."""

    title = "first samples of each class"
    implementation = "outside_package.first_per_class:first_per_class"

    kind: Literal["first_per_class"]
    train_size: Annotated[int, Field(ge=1)]
    """Training samples of each class."""

    def train_sizes(self) -> list[int | None]:
        """Return the single training size."""
        return [self.train_size]
