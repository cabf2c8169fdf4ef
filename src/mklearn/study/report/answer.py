"""The answer of a study as a few lines of text, for the terminal at the end of a run."""

from __future__ import annotations

import textwrap
from typing import Any

import pandas as pd

from mklearn.study.report.findings import Findings, failed_splits, splits_of
from mklearn.study.report.frames import Results, Setting, records
from mklearn.study.report.wording import change_and_interval, plural, spread, value

WIDTH = 100
BEST = 5


def answer(results: Results, found: Findings) -> str:
    """Return the headline, the best methods of the first setting by the headline's rows, and what the model is of."""
    metric, rows = results.metric, results.headline_rows.dropna(subset=["mean"])
    headline = textwrap.fill(found.headline, WIDTH)
    setting = next((setting for setting in results.settings if len(setting.of(rows))), None)
    if setting is None:
        return f"{headline}\n"
    own = setting.of(rows).sort_values("mean", ascending=not metric.larger_is_better, kind="stable")
    best, share = records(own.head(BEST)), metric.in_percent
    count = f"best {BEST} of {plural(len(own), 'method')}" if len(own) > BEST else plural(len(own), "method")
    title = f"{setting.title}, {metric.name}{' in %' if share else ''} {splits_of(setting, results)}, {count}:"
    width = max(len(str(row["label"])) for row in best)
    table = []
    for row in best:
        shown = spread(row["mean"], row["std"] if share else None, share)
        against = f"{_against(row, setting, results)}{failed_splits(row)}"
        table.append(f"  {row['label']:<{width}}  {shown:>11}{against}")
    others = len(results.settings) - 1
    more = [f"{plural(others, 'more setting')} on the page."] if others else []
    model = ["", textwrap.fill(found.model, WIDTH)] if found.model else []
    return "\n".join([headline, "", textwrap.fill(title, WIDTH), *table, *more, *model, ""])


def _against(row: dict[str, Any], setting: Setting, results: Results) -> str:
    """Return the difference to the reference, if there is one; beside one that is none, what the majority class has."""
    if setting in results.below_majority:
        return f"  the majority class: {value(row['majority'], results.metric.in_percent)}"
    if row["method"] == results.reference:
        return "  the reference"
    return "" if pd.isna(row["difference"]) else f"  {change_and_interval(row, results.metric.in_percent)}"
