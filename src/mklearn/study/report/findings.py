"""Findings of a study: sentences made from its numbers, worded no stronger than its paired intervals allow.

Methods are compared with the reference by one nearest-neighbour rule, the study's first; classifiers, which have none,
stand beside them. A method is called better or worse where the 95 % interval of its difference excludes 0 and Holm's
adjusted p-value is below 5 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

from mklearn.base.statistics import FEWEST_SPLITS
from mklearn.study.report.frames import Results, Setting, records
from mklearn.study.report.wording import (
    enumeration,
    fold_title,
    in_order,
    percent_spread,
    plural,
    points,
    rule_title,
    signed,
)

LEVEL = 0.05
NAMED = 3
"""Methods that the headline names."""


class Findings(NamedTuple):
    """The headline, each method's verdict in lists by verdict, and a sentence or two for each setting."""

    headline: str
    verdicts: list[str]
    settings: list[str]


class _Verdict(NamedTuple):
    """A method over the settings: its comparisons with the reference, and in how many it is better and worse."""

    label: str
    rows: list[dict[str, Any]]
    better: int
    worse: int

    @property
    def mean(self) -> float:
        """The mean difference."""
        return float(sum(row["difference"] for row in self.rows) / len(self.rows))

    @property
    def beats(self) -> bool:
        """Whether the method is better in more than half of the settings, and worse in none."""
        return not self.worse and 2 * self.better > len(self.rows)


def findings(results: Results) -> Findings:
    """Word the findings of a study by its inner-CV column."""
    rows = by_one_rule(results)
    settings = [_setting(setting, setting.of(rows), results) for setting in results.settings]
    headline, verdicts = _headline(rows, results)
    return Findings(headline, verdicts, settings)


def by_one_rule(results: Results) -> pd.DataFrame:
    """Return the inner-CV rows by the reference's first nearest-neighbour rule, and those of classifiers."""
    rows = results.inner_cv()
    rule = next(iter(in_order(rows.loc[rows["method"].eq(results.reference), "neighbour"])), "")
    return rows[rows["neighbour"].isin([rule, ""])]


def _headline(rows: pd.DataFrame, results: Results) -> tuple[str, list[str]]:
    """Say what beats the reference, how many do not, and whether weights paid; and list the methods by verdict."""
    title = results.reference_title
    if rows["mean"].isna().all():
        return "No method has an accuracy chosen by inner cross-validation: see the failures below.", []
    others = rows[rows["method"].ne(results.reference)].dropna(subset=["difference"])
    if others.empty:
        return f"There is no comparison with {title}: it has no accuracy beside the other methods'.", []
    judged = others.dropna(subset=["difference_low", "difference_high"])
    if judged.empty:
        return (
            f"Fewer than {FEWEST_SPLITS} splits allow no verdict: the numbers below show what happened, "
            f"not whether any method differs from {title}."
        ), []
    verdicts = [_verdict(label, own) for label, own in judged.groupby("label", sort=False)]
    by_verdict = {
        "Better": [v for v in verdicts if v.beats],
        "Better in some settings": [v for v in verdicts if v.better and not v.worse and not v.beats],
        "Better in some settings and worse in others": [v for v in verdicts if v.better and v.worse],
        "Worse": [v for v in verdicts if v.worse and not v.better],
        "Not distinguishable": [v for v in verdicts if not v.better and not v.worse],
    }
    several = len(results.settings) > 1
    highest = _highest(judged, several)
    best = sorted(by_verdict["Better"], key=lambda verdict: verdict.mean, reverse=True)
    if best:
        beats = f"Better than {title}: {_named(best[:NAMED], several, len(best) - NAMED)}."
    else:
        some = any(v.better for v in verdicts)
        beats = f"Nothing beats {title}{' in most settings' if some else ''} (highest: {highest})."
    learned = judged[judged["method"].isin(results.learned)]
    sentences = [beats, *_counts(by_verdict), *_weights(learned, highest, several)]
    lists = [f"{verdict}: {_named(own, several)}" for verdict, own in by_verdict.items() if own]
    return " ".join(sentences), lists


def _counts(by_verdict: dict[str, list[_Verdict]]) -> list[str]:
    """Count the methods that are not better; nothing if there are none."""
    words = {verdict: verdict.lower() for verdict in by_verdict} | {
        "Not distinguishable": "not distinguishable from it"
    }
    counts = {words[verdict]: len(own) for verdict, own in by_verdict.items() if own and verdict != "Better"}
    if not counts:
        return []
    others = "other method" if by_verdict["Better"] else "method"
    parts = [f"{number} {what}" for what, number in counts.items()]
    return [f"Of {plural(sum(counts.values()), others)}: {enumeration(parts)}."]


def _weights(learned: pd.DataFrame, highest: str, several: bool) -> list[str]:
    """Say whether learned kernel weights paid; nothing if the study learns none."""
    if learned.empty:
        return []
    verdicts = [_verdict(label, own) for label, own in learned.groupby("label", sort=False)]
    paid = sorted((v for v in verdicts if v.beats), key=lambda verdict: verdict.mean, reverse=True)
    if paid:
        return [f"Learned kernel weights paid: {_named(paid[:1], several)}."]
    if any(v.better for v in verdicts):
        most = max(verdicts, key=lambda verdict: (verdict.better - verdict.worse, verdict.mean))
        return [f"Learned kernel weights paid in some settings only: most often {_named([most], several)}."]
    at_best = _highest(learned, several)
    return [f"Learned kernel weights did not pay{'' if at_best == highest else f': at best {at_best}'}."]


def _verdict(label: Any, rows: pd.DataFrame) -> _Verdict:
    worse = (rows["difference_high"] < 0) & _holds(rows)
    return _Verdict(str(label), records(rows), int(is_better(rows).sum()), int(worse.sum()))


def is_better(rows: pd.DataFrame) -> pd.Series:
    """Tell for each row whether it is better than the reference, as this module understands it."""
    return (rows["difference_low"] > 0) & _holds(rows)


def _holds(rows: pd.DataFrame) -> pd.Series:
    """Tell for each row whether its difference is real after Holm's correction, where there is one."""
    adjusted = rows["p_holm"] if "p_holm" in rows else pd.Series(float("nan"), rows.index)
    return adjusted.isna() | adjusted.lt(LEVEL)


def _named(verdicts: Sequence[_Verdict], several: bool, more: int = 0) -> str:
    """Name methods with their difference and interval; over several settings with the number of those decided."""
    rest = [f"{more} more"] if more > 0 else []
    return enumeration([*(_name_of(verdict, several) for verdict in verdicts), *rest], limit=len(verdicts) + 1)


def _name_of(verdict: _Verdict, several: bool) -> str:
    if not several:
        return f"{verdict.label} {difference(verdict.rows[0])}"
    counts = [
        *([f"better in {verdict.better}"] if verdict.better else []),
        *([f"worse in {verdict.worse}"] if verdict.worse else []),
    ]
    decided = f"{' and '.join(counts)} of {plural(len(verdict.rows), 'setting')}, " if counts else ""
    return f"{verdict.label} ({decided}{signed(100 * verdict.mean, 1)} on average)"


def _highest(rows: pd.DataFrame, several: bool) -> str:
    best = records(rows.sort_values("difference", ascending=False, kind="stable"))[0]
    place = []
    if several:
        place += [best["dataset_title"]] if rows["dataset"].nunique() > 1 else []
        place += [] if pd.isna(best["train_size"]) else [f"training size {int(best['train_size'])}"]
    only_before_holm = best["difference_low"] > 0 and best.get("p_holm", 0.0) >= LEVEL
    corrected = "; not after Holm's correction" if only_before_holm else ""
    return ", ".join([f"{best['label']} {difference(best)}", *place]) + corrected


def difference(row: dict[str, Any]) -> str:
    """Format as ``+0.3 [−0.5, +1.1]``, in points; without an interval as ``+0.3``."""
    if pd.isna(row["difference_low"]):
        return points(row["difference"])
    return f"{points(row['difference'])} [{points(row['difference_low'])}, {points(row['difference_high'])}]"


def _setting(setting: Setting, rows: pd.DataFrame, results: Results) -> str:
    """Name the best method of a setting and its difference to the reference, and the methods without a value."""
    known = rows.dropna(subset=["mean"])
    if known.empty:
        return "No method gave an accuracy by inner cross-validation."
    best = records(known.sort_values("mean", ascending=False, kind="stable"))[0]
    highest = f"Highest: {_name(best)} with {percent_spread(best['mean'], best['std'])} % {splits_of(setting, results)}"
    return " ".join([f"{highest}{_against_reference(best, results)}", *_without_value(rows)])


def _against_reference(best: dict[str, Any], results: Results) -> str:
    title = results.reference_title
    if best["method"] == results.reference:
        return ", the reference itself."
    if pd.isna(best["difference"]):
        return f"; {title} has no value under the same rule to compare with."
    change = f", {points(best['difference'])} points from {title}"
    if pd.isna(best["difference_low"]):
        return f"{change}; fewer than {FEWEST_SPLITS} splits have no interval."
    low, high = points(best["difference_low"]), points(best["difference_high"])
    contains = (
        ", which contains 0: not distinguishable" if best["difference_low"] <= 0 <= best["difference_high"] else ""
    )
    return f"{change} (95 % interval {low} to {high}{contains})."


def _without_value(rows: pd.DataFrame) -> list[str]:
    """Name the methods without a value, with the first reason."""
    failed = rows[rows["mean"].isna()]
    if failed.empty:
        return []
    reasons = [str(text) for text in failed["message"] if text] if "message" in failed else []
    why = f" ({reasons[0]})" if reasons else ""
    return [f"No value by inner cross-validation: {enumeration(list(dict.fromkeys(failed['label'])))}{why}."]


def splits_of(setting: Setting, results: Results) -> str:
    """Say over which splits a setting's means are: ``over 10 random splits``, ``by five-fold cross-validation``.

    Models of one repeat with the same test part: ``over 10 random splits with 8 models each``.
    """
    rows = setting.of(results.scores)
    units = rows[["repeat", "fold"]].drop_duplicates()
    n_folds, n_repeats = units["fold"].nunique(), units["repeat"].nunique()
    if n_folds > 1 and "test_part" in rows and rows["test_part"].nunique() == 1:
        each = f"with {n_folds} models each" if n_repeats > 1 else f"with {n_folds} models"
        return f"on one split {each}" if n_repeats == 1 else f"over {n_repeats:,} random splits {each}"
    if n_folds <= 1:
        return "on one split" if n_repeats == 1 else f"over {n_repeats:,} random splits"
    validated = f"{fold_title(n_folds)} cross-validation"
    return f"by {validated}" if n_repeats == 1 else f"over {n_repeats:,} repeats of {validated}"


def _name(row: dict[str, Any]) -> str:
    rule = f" ({rule_title(row['neighbour'])})" if row["neighbour"] else ""
    return f"{row['label']}{rule}"
