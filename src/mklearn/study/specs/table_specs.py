"""Sections of a study about its tables: calibration and tolerance of published values, remarks, claims, comparisons."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from mklearn.study.specs.model import Count, NonNegative, Positive, Slug, Strict


class Calibration(Strict):
    """Method whose published values must be reproduced before other methods are compared.

    It verifies that the data are the same as in the papers. A full-rank PCA suits: it preserves distances, so its
    accuracy equals the accuracy on raw pixels, which differs by tens of points on another crop of the same images.
    """

    method: Slug
    """Method whose published values must be reproduced on every data set."""
    tolerance: Positive = 3
    """Largest accepted difference in any cell, in units of split noise."""


class Tolerance(Strict):
    """Largest difference at which a published value counts as reproduced; the larger of both limits applies."""

    noise: Positive = 3
    """Limit in units of split noise."""
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
    verdict: Literal["holds", "holds in part", "does not hold", "not tested"]
    """Verdict of this study."""
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
