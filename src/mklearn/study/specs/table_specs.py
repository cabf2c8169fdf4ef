"""Sections of a study about its tables: published values and their calibration, remarks, claims, comparisons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from mklearn.study.specs.fit_spec import Rule
from mklearn.study.specs.model import Count, NonNegative, Positive, Slug, Strict, as_list

Percent = Annotated[float, Field(ge=0, le=100)]

_BY_SIZE = ("train_size", "value", "std", "dimension")
"""Keys of an entry that may hold lists, which then refer to the same cells in the same order."""


class Published(Strict):
    """Values that a paper reports for cells of this study's table: one value, or a row of values.

    ``{train_size: [2, 3, 4], value: [70.67, 78.88, 84.21], dimension: [79, 118, 152], ...}`` defines three cells; a
    scalar applies to all of them.
    """

    dataset: Slug
    """Data set of this study to which the values belong."""
    train_size: Count | Annotated[list[Count], Field(min_length=1)] | None = None
    """Training size: one number, or a list with one number per value."""
    method: Slug | Annotated[list[Slug], Field(min_length=1)]
    """Method of this study that is compared with the values; each method of a list is compared with all values."""
    protocol: Slug | None = None
    """Protocol of this study that the paper used; needed if a data set has several with one training size."""
    neighbour: Rule | None = None
    """Nearest-neighbour rule of the paper; by default every rule of the study is compared with the value."""
    metric: str = "accuracy"
    """Published metric: one of the study's metrics with values from 0 to 1."""
    value: Percent | Annotated[list[Percent], Field(min_length=1)]
    """Published value in per cent."""
    std: NonNegative | Annotated[list[NonNegative | None], Field(min_length=1)] | None = None
    """Standard deviation of the value over splits, in percentage points."""
    dimension: Count | Annotated[list[Count | None], Field(min_length=1)] | None = None
    """Number of components at which the value was reached."""
    repeats: Count | None = None
    """Number of random splits behind the mean; by default the study's ``published_repeats``."""
    source: str
    """Paper and table of the values; the report has one table per source."""

    @model_validator(mode="after")
    def _one_length(self) -> Published:
        lengths = {name: len(value) for name in _BY_SIZE if isinstance(value := getattr(self, name), list)}
        if lengths and (not {"train_size", "value"} <= lengths.keys() or len(set(lengths.values())) > 1):
            found = ", ".join(f"{name} has {length}" for name, length in lengths.items())
            raise ValueError(f"expected train_size and value to be both one number, or lists of one length: {found}.")
        return self

    def cells(self, repeats: int | None = None) -> Iterator[dict[str, Any]]:
        """Yield every cell with its value as a fraction; ``repeats`` is the study's default.

        See :func:`mklearn.study.evaluation.summary.summarise` for the keys.
        """
        values, number = [getattr(self, name) for name in _BY_SIZE], len(as_list(self.value))
        by_size = [value if isinstance(value, list) else [value] * number for value in values]
        for method in as_list(self.method):
            for size, value, std, dimension in zip(*by_size, strict=True):
                protocol = f"{self.protocol}-p{size}" if self.protocol and size is not None else self.protocol
                yield {
                    "dataset": self.dataset, "train_size": size, "method": method, "protocol": protocol,
                    "neighbour": self.neighbour, "metric": self.metric, "value": value / 100,
                    "std": None if std is None else std / 100, "dimension": dimension,
                    "repeats": self.repeats or repeats, "source": self.source,
                }  # fmt: skip


class Calibration(Strict):
    """Method whose published values must be reproduced before other methods are compared.

    It verifies that the data are the same as in the papers. A full-rank PCA suits: it preserves distances, so its
    accuracy equals the accuracy on raw pixels, which differs by tens of points on another crop of the same images.
    """

    method: Slug
    """Method whose published values must be reproduced on every data set."""
    tolerance: Positive = 3
    """Largest accepted difference in any cell, in units of split noise, the standard error of the difference."""


class Tolerance(Strict):
    """Largest difference at which a published value counts as reproduced; the larger of the two limits applies."""

    noise: Positive = 3
    """Limit in units of split noise, the standard error of the difference."""
    points: NonNegative = 0
    """Limit in percentage points."""


class Remark(Strict):
    """A plain sentence about methods, such as why a published value is not reproduced."""

    method: Slug | Annotated[list[Slug], Field(min_length=1)]
    """Method or methods that the remark is about."""
    text: Annotated[str, Field(min_length=1)]
    """Text of the remark, as the report shows it."""


class Claim(Strict):
    """A statement of a paper, with the verdict of this study."""

    source: str
    """Paper, and the place in it."""
    text: Annotated[str, Field(min_length=1)]
    """Statement of the paper."""
    verdict: Literal["holds", "holds in part", "does not hold", "not decided", "not tested"]
    """Verdict of this study; "not decided" where its intervals leave both answers open."""
    evidence: Annotated[str, Field(min_length=1)]
    """Numbers behind the verdict, or the reason why the statement was not tested."""


class Comparison(Strict):
    """Comparison of pairs of methods in every setting, with the wins that a paper reports."""

    title: Annotated[str, Field(min_length=1)]
    """Heading of the table."""
    pairs: Annotated[list[Annotated[list[Slug], Field(min_length=2, max_length=2)]], Field(min_length=1)]
    """Pairs of methods; differences are the first minus the second."""
    protocols: Annotated[list[Slug], Field(min_length=1)] | None = None
    """Protocols to use: for each data set, the first in which both methods of a pair have a value. By default all."""
    published: list[Annotated[int, Field(ge=0)]] = []
    """Number of data sets on which the first method is better in the paper, for each pair."""
    published_of: Count | None = None
    """Number of data sets in the paper."""

    @model_validator(mode="after")
    def _one_number_each(self) -> Comparison:
        if self.published and (len(self.published) != len(self.pairs) or self.published_of is None):
            raise ValueError("published: expected one number for each of the pairs, and their total in published_of.")
        return self
