"""Results of a study by setting, and small frames for single figures and tables."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd

from mklearn.study.evaluation.headline import MATTERS, headline_rows
from mklearn.study.evaluation.metrics.metric import Metric, metric_named
from mklearn.study.evaluation.reproduction import plain_records
from mklearn.study.report.records import FitRecord
from mklearn.study.report.wording import setting_title
from mklearn.study.specs.fit_spec import RULE

MAX_POINTS = 1200
"""Maximum number of points in a figure."""


@dataclass(frozen=True)
class Setting:
    """A data set, protocol and training size, the unit of result tables and groups of figures."""

    dataset: str
    protocol: str
    train_size: int | None
    dataset_title: str
    family: str
    """Protocol without the suffix of its training size; "" if the data set has one such protocol only."""

    @property
    def title(self) -> str:
        return setting_title(self.dataset_title, self.train_size, self.family)

    def of(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of a score or summary table that belong to this setting."""
        size = frame["train_size"]
        same_size = size.isna() if self.train_size is None else size.eq(self.train_size).fillna(False).astype(bool)
        return frame[frame["dataset"].eq(self.dataset) & frame["protocol"].eq(self.protocol) & same_size]


@dataclass(frozen=True)
class Results:
    """The results of a study by one metric, compared with the method ``reference``."""

    score_table: pd.DataFrame
    """Score rows of all metrics."""
    summary_table: pd.DataFrame
    """Summary rows of all metrics."""
    fits: Sequence[FitRecord]
    reference: str = "average"
    learned: Sequence[str] = ()
    """Ids of the methods that learn kernel weights."""
    metric: Metric = field(default_factory=partial(metric_named, "accuracy"))
    """Metric of headline, tables and figures."""
    neighbour: str = RULE
    """Nearest-neighbour rule of the headline's embeddings."""
    matters: float = MATTERS
    """Smallest gain that matters, as a fraction."""
    of_groups: Collection[str] = ()
    """Protocols that hold out whole groups."""

    @cached_property
    def label_of(self) -> dict[str, str]:
        """Unique names of the methods by id: the reference first, the others in order of first appearance."""
        table = self.summary_table
        titles = dict(zip(table["method"], table["method_title"].astype(str), strict=True))
        first = {title: method for method, title in reversed(titles.items())}
        return {
            method: titles[method] if first[titles[method]] == method else f"{titles[method]} ({method})"
            for method in sorted(titles, key=lambda method: method != self.reference)
        }

    @cached_property
    def scores(self) -> pd.DataFrame:
        """Score rows of the metric, with the ``label`` of each method."""
        return self._of_metric(self._labelled(self.score_table))

    @cached_property
    def summary(self) -> pd.DataFrame:
        """Summary rows of the metric, with the ``label`` of each method."""
        return self._of_metric(self.all_metrics)

    @cached_property
    def all_metrics(self) -> pd.DataFrame:
        """Summary rows of all metrics, with the ``label`` of each method."""
        return self._labelled(self.summary_table)

    def _of_metric(self, frame: pd.DataFrame) -> pd.DataFrame:
        return frame[frame["metric"].isin([self.metric.kind, ""])]

    def _labelled(self, frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(label=[self.label_of.get(method, method) for method in frame["method"]])

    @cached_property
    def settings(self) -> list[Setting]:
        """Settings of the metric, in order of first appearance."""
        table = self.summary[["dataset", "protocol", "train_size", "dataset_title"]].drop_duplicates()
        families = [protocol_family(*each) for each in zip(table["protocol"], table["train_size"], strict=True)]
        table = table.assign(family=families)
        several = table.groupby("dataset")["family"].transform("nunique").gt(1)
        table["family"] = table["family"].where(several, "")
        table["train_size"] = table["train_size"].astype("Int64")
        return [Setting(**row) for row in plain_records(table)]

    def settings_in(self, rows: pd.DataFrame) -> list[Setting]:
        """Return the settings that have rows in a score or summary table."""
        return [setting for setting in self.settings if len(setting.of(rows))]

    @property
    def labels(self) -> list[str]:
        """Names of all methods."""
        return list(self.label_of.values())

    @property
    def reference_title(self) -> str:
        """Name of the reference method."""
        return self.label_of.get(self.reference, self.reference)

    @cached_property
    def headline_rows(self) -> pd.DataFrame:
        """Inner-CV summary rows of all classifiers, and of embeddings by the headline's nearest-neighbour rule."""
        return headline_rows(self.summary, self.metric.kind, self.neighbour)

    @property
    def one_rule(self) -> list[str]:
        """Nearest-neighbour rule of the headline, and "" for classifiers."""
        return sorted({"", *self.headline_rows["neighbour"]})

    @cached_property
    def below_majority(self) -> list[Setting]:
        """Settings in which the reference is worse than the majority class, and thus no valid reference."""
        rows = self.headline_rows
        base = rows[rows["method"].eq(self.reference) & rows["mean"].notna() & rows["majority"].notna()]
        behind = self.metric.sign * base["mean"] < self.metric.sign * base["majority"]
        return self.settings_in(base[behind])

    def families(self) -> list[tuple[str, list[Setting]]]:
        """Group the settings that differ only in training size; titles include the protocol if there are several."""
        groups: dict[tuple[str, str], list[Setting]] = {}
        for setting in self.settings:
            groups.setdefault((setting.dataset, setting.family), []).append(setting)
        return [
            (setting_title(members[0].dataset_title, None, family), members) for (_, family), members in groups.items()
        ]

    def largest_settings(self) -> list[Setting]:
        """Return the setting with the largest training size of each family."""
        return [max(settings, key=lambda setting: setting.train_size or 0) for _, settings in self.families()]

    def of_fits(self, setting: Setting, attribute: str) -> dict[str, pd.DataFrame]:
        """Return an attribute of the fits in a setting by method, of those that have it."""
        key = (setting.dataset, setting.protocol, setting.train_size)
        fits = [fit for fit in self.fits if (fit.dataset, fit.protocol, fit.train_size) == key]
        frames = {fit.method: getattr(fit, attribute) for fit in fits}
        return {method: frame for method, frame in frames.items() if frame is not None and len(frame)}

    def shown(self, setting: Setting, attribute: str) -> dict[str, pd.DataFrame]:
        """Return an attribute of fits by label, of the best method and the reference or of the two best methods.

        Methods without an inner-CV value, such as a method whose kernel is chosen on the test samples, are left out.
        """
        means = setting.of(self.headline_rows).dropna(subset=["mean"]).groupby("method")["mean"].max()
        of_fits = self.of_fits(setting, attribute)
        present = [method for method in of_fits if method in means]
        ranked = sorted(present, key=lambda method: means[method], reverse=self.metric.larger_is_better)
        # the best and the reference; the second best if the reference is the best or absent
        best = [*ranked[:1], *sorted(ranked[1:], key=lambda method: method != self.reference)[:1]]
        return {self.label_of[method]: of_fits[method] for method in best}


def protocol_family(protocol: str, train_size: Any) -> str:
    """Return the protocol without the suffix for its training size: ``faces`` for ``faces-p2`` with size 2."""
    return protocol if pd.isna(train_size) else protocol.removesuffix(f"-p{int(train_size)}")


def thinned(points: pd.DataFrame, most: int = MAX_POINTS) -> pd.DataFrame:
    """Return at most ``most`` rows, evenly spaced, including the first and the last."""
    places = np.linspace(0, len(points) - 1, min(len(points), most))
    return points.iloc[np.unique(places.round().astype(int))]
