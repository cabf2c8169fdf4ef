"""Section with the metric within each group of samples, such as a site or a person."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from mklearn.base.statistics import exact_share, sample_interval
from mklearn.study.evaluation.headline import winner
from mklearn.study.evaluation.metrics.metric import Metric, metric_named
from mklearn.study.evaluation.predictions import VALUE, Predictions
from mklearn.study.evaluation.reproduction import plain_records
from mklearn.study.report import wording
from mklearn.study.report.parts import ReportPart, Section
from mklearn.study.report.results import Results, Setting
from mklearn.study.report.tables import Cell, Column, Table, number_cell
from mklearn.study.specs.final_spec import FinalSpec

MOST_GROUPS, ENDS, FEWEST = 30, 5, 5
"""Maximum number of groups in a table, number at each end of longer ones, and minimum number of samples of these groups
and for an interval."""


def groups_section(results: Results, predictions: Predictions | None, final: FinalSpec | None) -> Section:
    """Return the section with a table for each setting whose samples have groups, and a CSV file of all methods."""
    parts, frames = list[ReportPart](), []
    survival = any(fit.survival is not None for fit in results.fits)  # metrics that are no means over samples
    for setting in [] if survival else results.largest_settings():
        values = {}
        for row in plain_records(setting.of(results.headline_rows)):
            rows = None if predictions is None else predictions.by_rule(row)
            if rows is not None and "group" in rows and rows["group"].notna().any():
                frame = values_by_group(rows, results.metric)
                if 0 < len(frame) <= MOST_GROUPS or frame["n_samples"].max() >= FEWEST:
                    values[row["method"]] = frame
                    place = {name: row[name] for name in ("dataset", "protocol", "train_size", "method")}
                    frames.append(frame.reset_index().assign(**place))
        parts += [_part(values, setting, results, final)] if values else []
    lead = parts[0].text if len(parts) == 1 else ""
    parts = [replace(parts[0], text="")] if lead else parts
    files = [ReportPart(files={"groups.csv": pd.concat(frames, ignore_index=True)})] if frames else []
    note = (
        "A sample counts once, by its mean over repeats. Brackets are 95 % intervals for other samples of the same "
        "group; groups.csv has all methods and groups."
    )
    return Section("groups", "By group", [*parts, *files], note, lead)


def values_by_group(rows: pd.DataFrame, metric: Metric) -> pd.DataFrame:
    """Compute the metric of a method and its interval within each group, from the method's predictions.

    A metric that is neither a mean over samples nor the RMSE is replaced by the accuracy, for numbers by the MAE.
    """
    rows = rows[rows["predicted"].notna()]
    error = (rows["true"] - rows["predicted"]).astype(np.float64).abs()
    means: dict[str, pd.Series] = {"accuracy": error.eq(0), "mae": error, "rmse": error**2}
    means |= {name: rows[VALUE + name] for name in ("r2", "log_loss") if VALUE + name in rows}
    numbers = rows["true"].dtype.kind == "f"
    kind = metric.kind if metric.kind in means else "mae" if numbers else "accuracy"
    each = rows.assign(value=means[kind].astype(np.float64)).groupby(["group", "sample"], observed=True)
    lines = []
    for group, part in each.agg({"value": "mean", "true": "first"}).groupby("group", observed=True):
        n, values = len(part), part["value"].to_numpy()
        ends = (math.nan, math.nan)
        if kind == "accuracy":
            ends = exact_share(float(values.sum()), n)
        elif n >= FEWEST:
            ends = sample_interval(values[None], 1.0, bounds=metric_named(kind).bounds)[1:]
        shown = np.array([values.mean(), *ends]) ** (0.5 if kind == "rmse" else 1)
        lines.append([str(group), kind, n, None if numbers else part["true"].nunique(), *shown])
    columns = ["group", "metric", "n_samples", "n_classes", "value", "ci_low", "ci_high"]
    return pd.DataFrame(lines, columns=columns).set_index("group")


def _part(
    values: dict[str, pd.DataFrame], setting: Setting, results: Results, final: FinalSpec | None
) -> ReportPart:  # fmt: skip
    """Return the table of the final model's method or the best one, beside the reference or the second best."""
    entries = [(name, setting.protocol, setting.train_size) for name in values]
    if final is not None and final.dataset == setting.dataset:
        entries = [fit.largest for fit in final.candidates]
    best = winner(results.headline_rows, results.metric.kind, setting.dataset, entries)
    by_mean = setting.of(results.headline_rows).sort_values("mean", ascending=results.metric.sign < 0)
    ranked = [*([] if best is None else [best.row["method"]]), results.reference, *by_mean["method"]]
    names = [name for name in dict.fromkeys(map(str, ranked)) if name in values][:2]
    front, metric = values[names[0]], metric_named(values[names[0]]["metric"].iloc[0])
    groups, texts = (metric.sign * front["value"]).sort_values(kind="stable").index, []
    for name in names[1:]:
        gains = metric.sign * (front["value"] - values[name]["value"]).dropna().round(9)
        counts = f"in {(gains > 0).sum()} of {wording.plural(len(gains), 'group')}, and behind in {(gains < 0).sum()}"
        texts = [f"{results.label_of[names[0]]} is ahead of {results.label_of[name]} {counts}."]
    note = "The worst groups come first."
    if len(groups) > MOST_GROUPS:
        large = groups[front["n_samples"][groups] >= FEWEST]
        note = f"The {ENDS} worst and {ENDS} best of {len(large):,} groups with {FEWEST} or more samples."
        groups = large if len(large) <= 2 * ENDS else large[:ENDS].append(large[-ENDS:])
    percent, sizes = ", %" if metric.in_percent else "", front["n_samples"]
    columns = [
        Column("Group", numeric=False, cell=lambda group: Cell(group)),
        Column("Samples", cell=lambda group: number_cell(wording.count(sizes[group]), sizes[group])),
        *(Column(f"{results.label_of[name]}: {metric.name}{percent}", cell=partial(_cell, values[name], metric))
          for name in names),
    ]  # fmt: skip
    return ReportPart(tables=[Table.of(setting.title, columns, groups, note=note)], text="".join(texts))


def _cell(values: pd.DataFrame, metric: Metric, group: str) -> Cell:
    if group not in values.index:
        return number_cell(wording.DASH, None)
    row: Any = values.loc[group]
    text = wording.value_and_interval(row, metric.in_percent, "value")
    if metric.kind == "accuracy" and (row.n_classes == 1 or row.n_samples < FEWEST):
        text = f"{row.value * row.n_samples:.3g} of {row.n_samples} right{', one class' if row.n_classes == 1 else ''}"
    return number_cell(text, row.value)
