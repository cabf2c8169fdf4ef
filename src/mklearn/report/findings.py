"""Findings of a study: sentences made from its numbers, worded no stronger than its intervals allow."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import pandas as pd

from mklearn.report.frames import Results, records
from mklearn.report.wording import enumeration, percent_spread, plural, points, rule_title


class Findings(NamedTuple):
    """The headline, and a sentence or two for each setting."""

    headline: str
    settings: list[str]


def findings(results: Results) -> Findings:
    """Word the findings of a study by its inner-CV column."""
    rows = results.inner_cv()
    return Findings(_headline(rows, results), [_setting(setting.of(rows), results) for setting in results.settings])


def _headline(rows: pd.DataFrame, results: Results) -> str:
    """Say over all settings which comparisons with the reference are decided, and in which direction."""
    title, n_settings = results.reference_title, len(results.settings)
    if rows["mean"].isna().all():
        return "No method has an accuracy chosen by inner cross-validation: see the failures below."
    others = rows[rows["method"].ne(results.reference)].dropna(subset=["difference"])
    if others.empty:
        return f"There is no comparison with {title}: it has no accuracy beside the other methods'."
    judged = others.dropna(subset=["difference_low", "difference_high"])
    if judged.empty:
        return (
            "One repeat leaves no spread to judge by: the numbers below show what happened, "
            f"not whether any method differs from {title}."
        )
    above, below = _above(judged), _below(judged)
    places = "" if n_settings == 1 else f" in any of {plural(n_settings, 'setting')}"
    total = plural(len(judged), "comparison")
    if above.empty and below.empty:
        return f"No method differs detectably from {title}{places}: the 95 % interval contains 0 in all of {total}."
    if n_settings == 1:
        parts = []
        if len(above):
            parts.append(f"Better than {title}: {_names(above)}")
        if len(below):
            parts.append(f"{'worse' if parts else f'Worse than {title}'}: {_names(below)}")
        undecided = len(judged) - len(above) - len(below)
        tail = f" The 95 % interval of the other {plural(undecided, 'comparison')} contains 0." if undecided else ""
        return "; ".join(parts) + "." + tail
    return _over_settings(judged, above, below, title)


def _over_settings(judged: pd.DataFrame, above: pd.DataFrame, below: pd.DataFrame, title: str) -> str:
    """Say which methods are better, worse or undecided, with the number of their comparisons (settings and rules)."""
    counts = Counter(judged["label"])
    parts = []
    for word, rows in (("Better than", above), ("Worse than", below)):
        names = [f"{label} ({number} of {counts[label]})" for label, number in Counter(rows["label"]).items()]
        parts.append(f"{word} {title}: {enumeration(names)}." if names else f"{word} {title}: no method.")
    decided = set(above["label"]) | set(below["label"])
    undecided = [label for label in counts if label not in decided]
    if undecided:
        parts.append(f"Never distinguishable from it: {enumeration(undecided)}.")
    return " ".join(parts) + " (In brackets: comparisons, over settings and rules, whose 95 % interval excludes 0.)"


def _setting(rows: pd.DataFrame, results: Results) -> str:
    """Name the best method of a setting and its difference to the reference."""
    title = results.reference_title
    known = rows.dropna(subset=["mean"])
    if known.empty:
        return "No method gave an accuracy by inner cross-validation."
    best = records(known.sort_values("mean", ascending=False, kind="stable"))[0]
    repeats = f"over {plural(int(best['n_repeats']), 'repeat')}"
    sentence = f"Highest: {_name(best)} with {percent_spread(best['mean'], best['std'])} % {repeats}"
    if best["method"] == results.reference:
        return f"{sentence}, the reference itself."
    if pd.isna(best["difference"]):
        return f"{sentence}; {title} has no value under the same rule to compare with."
    difference = f"{sentence}, {points(best['difference'])} points from {title}"
    low, high = best["difference_low"], best["difference_high"]
    if pd.isna(low):
        return f"{difference}; a single repeat has no interval."
    interval = f"95 % interval {points(low)} to {points(high)}"
    if low <= 0 <= high:
        return f"{difference} ({interval}, which contains 0: not distinguishable)."
    return f"{difference} ({interval})."


def _above(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["difference_low"] > 0].sort_values("difference", ascending=False)


def _below(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["difference_high"] < 0].sort_values("difference")


def _names(rows: pd.DataFrame) -> str:
    return enumeration([f"{_name(row)} {points(row['difference'])}" for row in records(rows)])


def _name(row: dict[str, Any]) -> str:
    rule = f" ({rule_title(row['neighbour'])})" if row["neighbour"] else ""
    return f"{row['label']}{rule}"
