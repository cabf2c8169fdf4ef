"""Sections of a report, made of parts with figures, tables and CSV files.

A study adds its own parts by ``report: {parts: ["my_package.gate_maps:gate_maps"]}``. Such a function takes the
`StudyResults` and returns a `ReportPart`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pandas as pd

from mklearn.errors import ConfigError
from mklearn.study.data.samples import SampleSet
from mklearn.study.evaluation.predictions import Predictions
from mklearn.study.report.charts import Chart
from mklearn.study.report.records import FitRecord
from mklearn.study.report.tables import Table


@dataclass(frozen=True)
class StudyResults:
    """The input of a function that makes a part; the keys of ``samples`` are the study's names of data sets."""

    scores: pd.DataFrame
    predictions: Predictions
    samples: Mapping[str, SampleSet]
    fits: Sequence[FitRecord] = ()

    def dataset(self, name: str) -> SampleSet:
        """Return the samples of a data set; raise ConfigError if the study has no data set of this name."""
        if name not in self.samples:
            valid = ", ".join(self.samples)
            raise ConfigError(f"report.parts: a part needs a data set named {name!r}; the study has {valid}.")
        return self.samples[name]


class PartFigure(NamedTuple):
    """A figure: its caption, which also names its files, its alternative text, and the function that draws it."""

    caption: str
    alt: str
    draw: Callable[[], Chart]


@dataclass(frozen=True)
class ReportPart:
    """Figures, tables and CSV files (``{"differences.csv": frame}``), optionally with a heading above and text below.

    Figures and tables whose caption equals the heading are shown without caption.
    """

    figures: Sequence[PartFigure] = ()
    tables: Sequence[Table] = ()
    files: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    heading: str = ""
    text: str = ""


@dataclass(frozen=True)
class Section:
    """A section of the page; a section without parts is left out.

    The section is collapsed, with the ``lead`` beside its title. It is printed on paper only if ``printed``. The
    navigation links to its ``id``.
    """

    id: str
    title: str
    parts: Sequence[ReportPart]
    note: str = ""
    lead: str = ""
    printed: bool = False
