"""Findings of a study: sentences made from its numbers, worded no stronger than its intervals allow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from mklearn.report.frames import Results, Setting, records
from mklearn.report.wording import enumeration, missing, percent_spread, plural, points, rule_title, short_title

if TYPE_CHECKING:
    import pandas as pd

MANY = 6
"""With more methods than this, the headline names the best and the reference only."""


class Findings(NamedTuple):
    """The headline, a sentence or two per setting, and alerts: reasons not to compare, shown above the headline."""

    headline: str
    settings: list[str]
    alerts: tuple[str, ...] = ()


def findings(results: Results, alerts: Sequence[str] = ()) -> Findings:
    """Word the findings of a study by its inner-CV column."""
    rows = results.inner_cv()
    sentences = [_setting(setting.of(rows), results) for setting in results.settings]
    if rows["label"].nunique() > MANY and rows["mean"].notna().any():
        headline = _best_of_many(rows, results)
    else:
        headline = _headline(rows, results)
    return Findings(headline, sentences, tuple(alerts))


def _best_of_many(rows: pd.DataFrame, results: Results) -> str:
    """Name for each data set the best method by inner cross-validation, and how far the reference is below it."""
    places: dict[tuple[str, str], list[Setting]] = {}
    for setting in results.settings:
        places.setdefault((setting.dataset, setting.family), []).append(setting)
    sentences = []
    for (dataset, family), own in places.items():
        several = sum(key[0] == dataset for key in places) > 1
        name = short_title(own[0].dataset_title) + (f", {family}" if several else "")
        found = [(setting, _best_and_reference(setting.of(rows), results.reference)) for setting in own]
        sentences.append(f"{name}: {_winners(found, results.reference_title)}")
    return " ".join(sentences)


class _Best(NamedTuple):
    """The best row of a setting, its accuracy, and by how many points the reference is below it."""

    label: str
    mean: float
    behind: float | None
    is_reference: bool


def _best_and_reference(rows: pd.DataFrame, reference: str) -> _Best | None:
    known = rows.dropna(subset=["mean"]).sort_values("mean", ascending=False, kind="stable")
    if known.empty:
        return None
    best, own = records(known)[0], known.loc[known["method"].eq(reference), "mean"]
    behind = 100.0 * (best["mean"] - float(own.iloc[0])) if len(own) else None
    return _Best(str(best["label"]), float(best["mean"]), behind, best["method"] == reference)


def _winners(found: Sequence[tuple[Setting, _Best | None]], title: str) -> str:
    """Word ``best by inner CV is A (85.2 to 95.9 %); the reference, R, is 8.6 to 25.3 points lower.``"""
    known = [(setting, best) for setting, best in found if best is not None]
    if not known:
        return "no method has an accuracy by inner CV."
    by_label: dict[str, list[tuple[Setting, _Best]]] = {}
    for setting, best in known:
        by_label.setdefault(best.label, []).append((setting, best))
    parts = []
    for label, won in by_label.items():
        sizes = [f"{setting.train_size}" for setting, _ in won if setting.train_size is not None]
        where = f" with training size {enumeration(sizes)}" if len(by_label) > 1 and sizes else ""
        parts.append(f"{label}{where} ({_span([100 * best.mean for _, best in won])} %)")
    text = f"best by inner CV {'is' if len(parts) == 1 else 'are'} {enumeration(parts)}"
    behind = [best.behind for _, best in known if best.behind is not None and not best.is_reference]
    if all(best.is_reference for _, best in known):
        return f"{text}, the reference itself."
    if not behind:
        return f"{text}; the reference, {title}, has no value there."
    itself, absent = sum(best.is_reference for _, best in known), sum(best.behind is None for _, best in known)
    elsewhere = " elsewhere" if itself else ""
    lacking = f" (in {plural(absent, 'setting')} it has no value)" if absent else ""
    return f"{text}; the reference, {title}, is {_span(behind)} points lower{elsewhere}{lacking}."


def _span(values: Sequence[float]) -> str:
    low, high = f"{min(values):.1f}", f"{max(values):.1f}"
    return low if low == high else f"{low} to {high}"


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
    if missing(best["difference"]):
        return f"{sentence}; {title} has no value under the same rule to compare with."
    difference = f"{sentence}, {points(best['difference'])} points from {title}"
    low, high = best["difference_low"], best["difference_high"]
    if missing(low):
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
