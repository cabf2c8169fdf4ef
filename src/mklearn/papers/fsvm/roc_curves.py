"""Figure 5 of the paper: mean ROC curves of methods that verify pairs."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from mklearn.study.report import charts
from mklearn.study.report.charts import Chart, field, tooltip
from mklearn.study.report.parts import PartFigure, ReportPart, StudyResults

GRID = np.linspace(0.0, 1.0, 201)
"""False acceptance rates at which curves are averaged."""


def roc_curves(results: StudyResults) -> ReportPart:
    """Draw, for each protocol of pairs, the mean ROC curve of each method that has decision values."""
    curves: dict[str, list[pd.DataFrame]] = {}
    for record in results.fits:
        keys = {"dataset": record.dataset, "protocol": record.protocol, "train_size": record.train_size}
        curve = mean_roc(results.predictions.by_rule({**keys, "method": record.method, "neighbour": ""}))
        if curve is not None:
            curves.setdefault(record.protocol, []).append(curve.assign(label=record.method_title))
    alt = "Lines: accepted pairs of the same class against accepted pairs of different classes."
    return ReportPart([
        PartFigure(f"ROC curves, {protocol}", alt, partial(chart, pd.concat(parts), f"ROC curves, {protocol}"))
        for protocol, parts in curves.items()
    ])  # fmt: skip


def mean_roc(predicted: pd.DataFrame | None) -> pd.DataFrame | None:
    """Average the ROC curves of one method's predictions over all splits, at equal false acceptance rates.

    Returns ``accepted, mean``, the shares of accepted pairs of different classes and of the same class; None without
    decision values, or where a split lacks a class.
    """
    from sklearn.metrics import roc_curve

    if predicted is None or not len(predicted) or predicted["decision_value"].isna().any():
        return None
    curves = []
    for _, rows in predicted.groupby(["repeat", "fold"], sort=True):
        true = rows["true"].to_numpy()
        if len(np.unique(true)) < 2:
            return None
        accepted, detected, _ = roc_curve(true == 1, rows["decision_value"].to_numpy(), drop_intermediate=False)
        curves.append(np.interp(GRID, accepted, detected))
    return pd.DataFrame({"accepted": GRID, "mean": np.mean(curves, axis=0)})


def chart(curves: pd.DataFrame, title: str) -> Chart:
    """Draw mean ROC curves: ``label, accepted, mean`` in fractions, a line for each label."""
    shown = charts.in_percent(curves, "accepted", "mean")
    labels = list(dict.fromkeys(shown["label"]))
    encoding = {
        "x": field("x:Q", title="accepted pairs of different classes, %", axis={"tickCount": 6}),
        "y": field("y:Q"),
        "color": field("k:N", scale=charts.class_scale(labels), legend={"title": None}),
        "tooltip": tooltip(("k:N", "method"), ("x:Q", "different, %", ".1f"), ("y:Q", "same, %", ".1f")),
    }
    rows = charts.rows_of(shown, k="label", x="accepted", y="mean")
    line, below = {"mark": {"type": "line", "strokeWidth": 1.5}}, "accepted pairs of the same class, %"
    return charts.chart(line, encoding=encoding, height=360, title=title, rows=rows, subtitle=below)
