"""Specifications of the jobs after the fits: the tables, the record of the run and the report."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from mklearn.study.specs.final_spec import FinalEntry
from mklearn.study.specs.fit_spec import Setting
from mklearn.study.specs.model import Count, NonNegative, Positive, Slug, Spec, Strict


class PublishedValue(Spec):
    """A value that a paper reports for one cell of the study's table, as a fraction."""

    dataset: str
    train_size: int | None
    method: str
    protocol: str | None
    neighbour: str | None
    metric: str
    value: float
    std: float | None
    dimension: int | None
    repeats: int | None
    source: str


class Calibration(Strict):
    """A method whose published values show that the data are the papers' before other methods are compared.

    A full-rank PCA changes no distance, so its accuracy is that of the raw pixels: on another crop of the same images
    it is tens of points off, and so is every other method.
    """

    method: Slug
    """Method whose published values have to be met on every data set."""
    tolerance: Positive = 3
    """Largest difference in any cell, in units of split noise."""


class Tolerance(Strict):
    """The difference up to which a published value counts as reproduced: the larger of the two."""

    noise: Positive = 3
    """In units of split noise."""
    points: NonNegative = 0
    """In percentage points."""


class Remark(Strict):
    """A plain sentence about methods, such as why a published value is not reproduced."""

    method: Slug | Annotated[list[Slug], Field(min_length=1)]
    """The method or methods that it is about."""
    text: Annotated[str, Field(min_length=1)]
    """The sentence, as the page shows it."""


class Claim(Strict):
    """A statement of a paper, with the verdict of this study."""

    source: str
    """The paper, and where in it."""
    text: Annotated[str, Field(min_length=1)]
    """The statement."""
    verdict: Literal["holds", "holds in part", "does not hold", "not tested"]
    """Whether our numbers agree."""
    evidence: Annotated[str, Field(min_length=1)]
    """Numbers behind the verdict, or why it was not tested."""


class Comparison(Strict):
    """Pairs of methods, compared in every setting, and on how many data sets a paper has the first one above."""

    title: Annotated[str, Field(min_length=1)]
    """Head of its table."""
    pairs: Annotated[list[Annotated[list[Slug], Field(min_length=2, max_length=2)]], Field(min_length=1)]
    """Two methods each, of which the second is subtracted from the first."""
    protocols: Annotated[list[Slug], Field(min_length=1)] | None = None
    """For each data set the first of these in which both methods of a pair have a value; by default all of them."""
    published: list[Annotated[int, Field(ge=0)]] = []
    """On how many data sets the paper's first method is above the second, one number for each pair."""
    published_of: Count | None = None
    """Number of the paper's data sets."""

    @model_validator(mode="after")
    def _one_number_each(self) -> Comparison:
        if self.published and (len(self.published) != len(self.pairs) or self.published_of is None):
            raise ValueError("published: expected one number for each of the pairs, and their total in published_of.")
        return self


class CatalogueEntry(Spec):
    """A descriptor, kernel or method of the study, with its paper."""

    id: str
    title: str
    reference: str


class ReportFit(Spec):
    """A fit as the report names it."""

    dataset: str
    settings: list[Setting]
    method: str
    title: str


class ReportFile(Spec):
    """A file that a data set was read from."""

    name: str
    path: str
    source: str


class ReportDataset(Spec):
    """A data set as the report shows it."""

    id: str
    title: str
    about: dict[str, str]
    files: list[ReportFile]


class ReportFinal(Spec):
    """The final model as the report names it."""

    dataset: str
    chosen: bool
    """Whether the method was chosen as the best, not named by the study."""
    entries: list[FinalEntry]
    given_splits: bool = False
    """As in :class:`mklearn.study.specs.final_spec.FinalSpec`."""


class ReportSpec(Spec):
    """Step ``report``: the page of a study."""

    study: str
    title: str
    description: str
    reference: str
    thumbnails: int
    metric: str = "accuracy"
    """Metric of the headline, and of the choice of the final model."""
    score: str = "accuracy"
    """Metric of tables and figures."""
    neighbour: str = ""
    """Nearest-neighbour rule of both; empty: the reference's first one."""
    gain_that_matters: NonNegative = 1
    """In percentage points."""
    final: ReportFinal | None = None
    fits: list[ReportFit] = []
    datasets: list[ReportDataset] = []
    calibration: Calibration | None = None
    tolerance: Tolerance = Tolerance()
    remarks: list[Remark] = []
    claims: list[Claim] = []
    comparisons: list[Comparison] = []
    learned: list[str] = []
    """Methods that learn kernel weights."""
    parts: list[str] = []
    """Functions, ``"module:name"``, that make parts of the study's own, see :mod:`mklearn.study.report.parts`."""
    descriptors: list[CatalogueEntry] = []
    kernels: list[CatalogueEntry] = []
    methods: list[CatalogueEntry] = []
