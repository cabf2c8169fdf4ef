"""Comparison of methods over data sets: mean ranks, Friedman's test, and Nemenyi's critical difference.

J. Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006. Data sets are the samples of
these tests, so the scores of a data set are averaged over its protocols and training sizes.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

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


def scores_of(results: Results) -> pd.DataFrame | None:
    """Return the scores of the methods that have one on every data set, larger is better; None for too few of them."""
    rows = results.headline_rows.dropna(subset=["mean"])
    table = rows.pivot_table(index="dataset", columns="label", values="mean", aggfunc="mean", sort=False)
    n_settings = rows.groupby(["dataset", "label"], sort=False).size().unstack()
    complete = n_settings.eq(n_settings.max(axis=1), axis=0).all() if len(table) else pd.Series(dtype=bool)
    kept = [label for label in results.labels if complete.get(label, False)]
    if len(table) < FEWEST_SETS or len(kept) < FEWEST_METHODS:
        return None
    scores = results.metric.sign * table[kept]
    return scores if results.metric.in_percent else scores.div(scores.abs().max(axis=1), axis=0)


def ranks(scores: pd.DataFrame) -> pd.DataFrame:
    """Rank the methods (columns) on each data set (row), 1 for the largest score; the best mean rank comes first."""
    ranked = scores.round(DECIMALS).rank(axis=1, ascending=False)
    return ranked[ranked.mean().sort_values(kind="stable").index]


def friedman(ranked: pd.DataFrame) -> tuple[float, float]:
    """Return chi-squared of Friedman's test, corrected for ties, and the p-value."""
    level = ranked.eq(ranked.iloc[:, 0], axis=0).all(axis=None)
    return (0.0, 1.0) if level else scipy.stats.friedmanchisquare(*ranked.to_numpy().T)


def critical_difference(n_methods: int, n_sets: int) -> float:
    """Return the difference of mean ranks from which two methods differ at 5 % by Nemenyi's test."""
    critical_value = scipy.stats.studentized_range.isf(ALPHA, n_methods, np.inf) / np.sqrt(2)
    return float(critical_value * np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))


def least_apart(ranked: pd.DataFrame) -> float:
    """Return the smallest significant difference of mean ranks; infinite if Friedman's test shows no difference."""
    return critical_difference(*ranked.shape[::-1]) if friedman(ranked)[1] < ALPHA else math.inf


def cliques(means: ArrayLike, apart: float) -> list[tuple[int, int]]:
    """Return the first and last position of each maximal group of sorted mean ranks that are less than ``apart``."""
    values, groups = np.asarray(means), list[tuple[int, int]]()
    for first, rank in enumerate(values):
        last = int(np.searchsorted(values, rank + apart)) - 1
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return groups


def ranks_part(results: Results) -> list[ReportPart]:
    """Return the part with the table and figure of ranks; empty for too few data sets or methods."""
    scores = scores_of(results)
    if scores is None:
        return []
    ranked = ranks(scores)
    alt = "Dots: mean rank of each method over data sets. Bars: methods that the critical difference does not separate."
    figure = PartFigure("Critical differences over data sets", alt, partial(critical_difference_diagram, ranked))
    left_out = wording.enumeration([label for label in results.labels if label not in ranked])
    text = f"Left out, as they lack a value: {left_out}." if left_out else ""
    return [ReportPart([figure], [ranks_table(ranked)], text=text)]


def ranks_table(ranked: pd.DataFrame) -> Table:
    """Return a table of the mean ranks, with the results of the tests in its note."""
    (n_sets, n_methods), means = ranked.shape, ranked.mean()
    chi_squared, p = friedman(ranked)
    p_value = wording.p_value(p)
    note = (
        f"Ranks of {n_methods} methods on {n_sets} data sets. Friedman's test: chi-squared {chi_squared:.2f} "
        f"with {n_methods - 1} degrees of freedom, p {'' if '<' in p_value else '= '}{p_value}. "
        f"{'' if p < ALPHA else 'No method is shown to differ from another. '}"
        f"Nemenyi's critical difference at 5 % is {critical_difference(n_methods, n_sets):.2f}: methods whose mean "
        "ranks are less far apart are not shown to differ."
    )
    apart = means - means.iloc[0] >= least_apart(ranked)
    against = ["worse" if differs else NOT_SHOWN if k else wording.DASH for k, differs in enumerate(apart)]
    columns = [
        words("Method"), number("Mean rank", "rank", "{:.2f}".format, "1 is best; ties share the mean of their ranks"),
        number("First", "first", f"{{}} of {n_sets}".format, "data sets on which it alone is best"),
        replace(words("Against the first", "against"), note="by Nemenyi's critical difference at 5 %"),
    ]  # fmt: skip
    rows = pd.DataFrame({"label": ranked.columns, "rank": [*means], "first": [*ranked.eq(1).sum()], "against": against})
    return Table.of("Mean ranks over data sets", columns, rows.to_dict("records"), note=note)


def critical_difference_diagram(ranked: pd.DataFrame) -> Chart:
    """Draw the mean ranks, the critical difference, and a bar for each group of methods that do not differ."""
    (n_sets, n_methods), means = ranked.shape, ranked.mean()
    end = 1.0 + critical_difference(n_methods, n_sets)
    bars = [{"s": "critical difference", "from": 1.0, "to": end}]
    for place, (first, last) in enumerate(cliques(means, least_apart(ranked)), 1):
        bars.append({"s": f"no difference shown, {place}", "from": means.iloc[first], "to": means.iloc[last]})
    dots = [{"s": name, "x": rank} for name, rank in means.items()]
    order = [str(row["s"]) for row in [*bars, *dots]]
    scale = {"domain": [1, max(n_methods, end)], "nice": False}
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
