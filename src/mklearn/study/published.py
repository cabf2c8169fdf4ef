"""What papers report for cells of a study's table, which method shows that the data are theirs, and remarks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, model_validator

from mklearn.contract.model import Slug, Strict

Count = Annotated[int, Field(ge=1)]
Percent = Annotated[float, Field(ge=0, le=100)]
Spread = Annotated[float, Field(ge=0)]

_BY_SIZE = ("train_size", "value", "std", "dimension")
"""Keys of an entry whose lists stand for the same cells, in the same order."""


class PublishedCell(NamedTuple):
    """One published value, as a short form or a list stands for several."""

    dataset: str
    train_size: int | None
    method: str
    protocol: str | None
    neighbour: str | None
    value: float
    std: float | None
    dimension: int | None
    repeats: int | None
    source: str


class Published(Strict):
    """Values that a paper reports for cells of this study's table: one value, or a row of them.

    ``{train_size: [2, 3, 4], value: [70.67, 78.88, 84.21], dimension: [79, 118, 152], ...}`` is three cells; what is no
    list holds for all of them.
    """

    dataset: Slug
    train_size: Count | Annotated[list[Count], Field(min_length=1)] | None = None
    """One, or a list with a value for each."""
    method: Slug | Annotated[list[Slug], Field(min_length=1)]
    """The method of this study that the values are held against; of a list, each method against all of them."""
    protocol: Slug | None = None
    """The protocol of this study that the paper's is, where a data set has several of one training size."""
    neighbour: Literal["cosine", "euclidean"] | None = None
    """The paper's rule, where the study has several; by default every rule is held against the value."""
    value: Percent | Annotated[list[Percent], Field(min_length=1)]
    """Accuracy in per cent."""
    std: Spread | Annotated[list[Spread | None], Field(min_length=1)] | None = None
    """Its standard deviation over splits, in points."""
    dimension: Count | Annotated[list[Count | None], Field(min_length=1)] | None = None
    """The dimension at which it was reached."""
    repeats: Count | None = None
    """How many random splits it is the mean of; by default the study's ``published_repeats``."""
    source: str
    """The paper and its table; there is a table in the report for each."""

    @model_validator(mode="after")
    def _one_length(self) -> Published:
        lengths = {name: len(value) for name in _BY_SIZE if isinstance(value := getattr(self, name), list)}
        several = isinstance(self.value, list)
        if several != isinstance(self.train_size, list) or (lengths and not several):
            raise ValueError(
                "train_size and value are both one number or both lists of one length, with a value for each training "
                f"size, and std and dimension are lists only then; lists here: {', '.join(lengths)}."
            )
        if len(set(lengths.values())) > 1:
            found = ", ".join(f"{name} has {length}" for name, length in lengths.items())
            raise ValueError(f"lists stand for the same cells and differ in length: {found}.")
        return self

    def cells(self, repeats: int | None = None) -> Iterator[PublishedCell]:
        """Every cell that the entry stands for; ``repeats`` is the study's default."""
        number = len(self.value) if isinstance(self.value, list) else 1
        by_size: dict[str, list[Any]] = {}
        for name in _BY_SIZE:
            value = getattr(self, name)
            by_size[name] = value if isinstance(value, list) else [value] * number
        for method in self.method if isinstance(self.method, list) else [self.method]:
            for size, value, std, dimension in zip(*by_size.values(), strict=True):
                protocol = f"{self.protocol}-p{size}" if self.protocol and size is not None else self.protocol
                yield PublishedCell(
                    self.dataset, size, method, protocol, self.neighbour, value, std, dimension,
                    self.repeats or repeats, self.source,
                )  # fmt: skip


class Calibration(Strict):
    """A method whose published values show that the data are the papers' before anything else is compared.

    A full-rank PCA changes no distance, so its accuracy is that of the raw pixels: on another crop of the same pictures
    it is tens of points off, and so is everything else.
    """

    method: Slug
    """Its published cells have to be met on every data set."""
    tolerance: Annotated[float, Field(gt=0)] = 3
    """How many units of split noise it may be off in any cell."""


class Remark(Strict):
    """A plain sentence about a method, such as why a published value does not come out."""

    method: Slug | Annotated[list[Slug], Field(min_length=1)]
    """The method or methods that it is about."""
    text: Annotated[str, Field(min_length=1)]

    @property
    def methods(self) -> list[str]:
        """The methods as a list."""
        return self.method if isinstance(self.method, list) else [self.method]
