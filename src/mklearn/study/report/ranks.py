"""Comparison of methods over data sets: mean ranks, Friedman's test, and Nemenyi's critical difference.

J. Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006. Data sets are the samples of
these tests, so the scores of a data set are averaged over its protocols and training sizes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike, NDArray

from mklearn.study.evaluation.headline import NOT_SHOWN
from mklearn.study.report import wording
from mklearn.study.report.charts import Chart, chart, field, names, tooltip
from mklearn.study.report.parts import PartFigure, ReportPart
from mklearn.study.report.results import Results
from mklearn.study.report.tables import Table, number, words

FEWEST_SETS, FEWEST_METHODS = 5, 3
DECIMALS = 9
"""Number of decimals to which scores are rounded before ranking; equal ones are ties."""
ALPHA = 0.05


@dataclass(frozen=True)
class Ranks:
    """The ranks of k methods on N data sets, best mean rank first.

    Larger ``scores`` (N, k) are better. In ``mean_ranks`` (k,), rank 1 is the best, and ties share the mean of their
    ranks. ``chi_squared`` and ``p_value`` are Friedman's, corrected for ties. Methods differ if their mean ranks differ
    by more than the ``critical_difference`` of Nemenyi's test at 5 %.
    """

    methods: list[str]
    scores: NDArray[np.float64]
    mean_ranks: NDArray[np.float64]
    chi_squared: float
    p_value: float
    critical_difference: float

    @property
    def least_apart(self) -> float:
        """Smallest significant difference of mean ranks; infinite if Friedman's test shows no difference."""
        return self.critical_difference if self.p_value < ALPHA else math.inf

    def cliques(self) -> list[tuple[int, int]]:
        """Return the first and last position of each maximal group of methods that do not differ significantly."""
        groups: list[tuple[int, int]] = []
        for first, rank in enumerate(self.mean_ranks):
            last = int(np.searchsorted(self.mean_ranks, rank + self.least_apart)) - 1
            if last > first and (not groups or last > groups[-1][1]):
                groups.append((first, last))
        return groups


def ranks(methods: Sequence[str], scores: ArrayLike) -> Ranks:
    """Rank k methods by their scores on N data sets, shape (N, k); larger is better."""
    values = np.asarray(scores, dtype=np.float64).round(DECIMALS)
    mean_ranks = scipy.stats.rankdata(-values, axis=1).mean(axis=0)
    order = np.argsort(mean_ranks, kind="stable")
    level = bool((values == values[:, :1]).all())
    test = (0.0, 1.0) if level else scipy.stats.friedmanchisquare(*values.T)
    return Ranks(
        [methods[k] for k in order], values[:, order], mean_ranks[order], float(test[0]), float(test[1]),
        critical_difference(values.shape[1], values.shape[0]),
    )  # fmt: skip


def critical_difference(n_methods: int, n_sets: int) -> float:
    """Return the difference of mean ranks above which two methods differ at 5 % by Nemenyi's test."""
    critical_value = scipy.stats.studentized_range.isf(ALPHA, n_methods, np.inf) / np.sqrt(2)
    return float(critical_value * np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))


def ranks_of(results: Results) -> Ranks | None:
    """Rank the methods that have a score on every data set; None for too few data sets or methods."""
    rows = results.headline_rows.dropna(subset=["mean"])
    table = rows.pivot_table(index="dataset", columns="label", values="mean", aggfunc="mean", sort=False)
    n_settings = rows.groupby(["dataset", "label"], sort=False).size().unstack()
    complete = n_settings.eq(n_settings.max(axis=1), axis=0).all() if len(table) else pd.Series(dtype=bool)
    kept = [label for label in results.labels if complete.get(label, False)]
    if len(table) < FEWEST_SETS or len(kept) < FEWEST_METHODS:
        return None
    scores = results.metric.sign * table[kept].to_numpy()
    return ranks(kept, scores if results.metric.in_percent else scores / np.abs(scores).max(axis=1, keepdims=True))


def ranks_part(results: Results) -> list[ReportPart]:
    """Return the part with the table, figure and CSV file of ranks; empty for too few data sets or methods."""
    ranked = ranks_of(results)
    if ranked is None:
        return []
    alt = "Dots: mean rank of each method over data sets. Bars: methods that the critical difference does not separate."
    figure = PartFigure("Critical differences over data sets", alt, partial(critical_difference_diagram, ranked))
    frame = pd.DataFrame({"method": ranked.methods, "mean_rank": ranked.mean_ranks})
    left_out = wording.enumeration([label for label in results.labels if label not in ranked.methods])
    text = f"Left out, as they lack a value: {left_out}." if left_out else ""
    return [ReportPart([figure], [ranks_table(ranked)], {"ranks.csv": frame}, text=text)]


def ranks_table(ranked: Ranks) -> Table:
    """Return a table of the mean ranks, with the results of the tests in its note."""
    n_sets, n_methods = ranked.scores.shape
    p_value = wording.p_value(ranked.p_value)
    note = (
        f"Ranks of {n_methods} methods on {n_sets} data sets. Friedman's test: chi-squared {ranked.chi_squared:.2f} "
        f"with {n_methods - 1} degrees of freedom, p {'' if '<' in p_value else '= '}{p_value}. "
        f"{'' if ranked.p_value < ALPHA else 'No method is shown to differ from another. '}"
        f"Nemenyi's critical difference at 5 % is {ranked.critical_difference:.2f}: methods whose mean ranks are less "
        "far apart are not shown to differ."
    )
    first = (scipy.stats.rankdata(-ranked.scores, axis=1) == 1).sum(axis=0)
    apart = ranked.mean_ranks - ranked.mean_ranks[0] >= ranked.least_apart
    against = ["worse" if differs else NOT_SHOWN if k else wording.DASH for k, differs in enumerate(apart)]
    columns = [
        words("Method"), number("Mean rank", "rank", "{:.2f}".format, "1 is best; ties share the mean of their ranks"),
        number("First", "first", f"{{}} of {n_sets}".format, "data sets on which it alone is best"),
        replace(words("Against the first", "against"), note="by Nemenyi's critical difference at 5 %"),
    ]  # fmt: skip
    rows = pd.DataFrame({"label": ranked.methods, "rank": ranked.mean_ranks, "first": first, "against": against})
    return Table.of("Mean ranks over data sets", columns, rows.to_dict("records"), note=note)


def critical_difference_diagram(ranked: Ranks) -> Chart:
    """Draw the mean ranks, the critical difference, and a bar for each group of methods that do not differ."""
    bars = [{"s": "critical difference", "from": 1.0, "to": 1.0 + ranked.critical_difference}]
    for place, (first, last) in enumerate(ranked.cliques(), 1):
        low, high = ranked.mean_ranks[[first, last]]
        bars.append({"s": f"no difference shown, {place}", "from": low, "to": high})
    dots = [{"s": name, "x": rank} for name, rank in zip(ranked.methods, ranked.mean_ranks, strict=True)]
    order = [str(row["s"]) for row in [*bars, *dots]]
    scale = {"domain": [1, max(len(ranked.methods), 1.0 + ranked.critical_difference)], "nice": False}
    x = {"title": "mean rank, 1 is best", "scale": scale}
    line = {
        "data": {"values": bars},
        "mark": {"type": "rule", "strokeWidth": 5},
        "encoding": {"x": field("from:Q", **x), "x2": {"field": "to"},
                     "tooltip": tooltip(("s:N", "line"), ("from:Q", "from", ".2f"), ("to:Q", "to", ".2f"))},
    }  # fmt: skip
    dot = {
        "data": {"values": dots},
        "mark": {"type": "point", "filled": True, "size": 64},
        "encoding": {"x": field("x:Q", **x), "tooltip": tooltip(("s:N", "method"), ("x:Q", "mean rank", ".2f"))},
    }
    return chart(
        line, dot, encoding={"y": names("s:N", order)}, height=22 * len(order), title="Critical differences"
    )  # fmt: skip
