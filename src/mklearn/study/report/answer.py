"""The answer of a study as a few lines of text, for the terminal at the end of a run."""

from __future__ import annotations

import textwrap
from typing import Any

import pandas as pd

from mklearn.study.report.findings import by_one_rule, difference, splits_of
from mklearn.study.report.frames import Results, records
from mklearn.study.report.wording import percent_spread, plural

WIDTH = 100
BEST = 5


def answer(results: Results, headline: str) -> str:
    """Return the headline, and the best methods of the first setting with their differences to the reference."""
    rows = by_one_rule(results).dropna(subset=["mean"])
    setting = next((setting for setting in results.settings if len(setting.of(rows))), None)
    if setting is None:
        return f"{textwrap.fill(headline, WIDTH)}\n"
    own = setting.of(rows).sort_values("mean", ascending=False, kind="stable")
    best = records(own.head(BEST))
    count = f"best {len(best)} of {plural(len(own), 'method')}"
    title = f"{setting.title}, accuracy in % {splits_of(setting, results)}, {count}:"
    width = max(len(str(row["label"])) for row in best)
    table = (
        f"  {row['label']:<{width}}  {percent_spread(row['mean'], row['std']):>11}{_against(row, results)}"
        for row in best
    )
    others = len(results.settings) - 1
    more = [f"{plural(others, 'more setting')} on the page."] if others else []
    return "\n".join([textwrap.fill(headline, WIDTH), "", textwrap.fill(title, WIDTH), *table, *more, ""])


def _against(row: dict[str, Any], results: Results) -> str:
    """Return the difference to the reference in points, if there is one."""
    if row["method"] == results.reference:
        return "  the reference"
    return "" if pd.isna(row["difference"]) else f"  {difference(row)}"
