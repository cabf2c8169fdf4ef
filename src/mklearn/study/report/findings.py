"""Findings of a study: sentences made from its numbers, worded no stronger than its paired intervals allow.

Methods are compared with the reference by one metric and one nearest-neighbour rule; classifiers, which have no rule,
stand beside embeddings (:mod:`mklearn.study.evaluation.headline`). What an interval shows is said by
:mod:`mklearn.study.evaluation.verdicts`. A method below the majority class is no reference: the methods are then
compared with that class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

from mklearn.base.statistics import FEWEST_SPLITS
from mklearn.study.evaluation.headline import winner
from mklearn.study.evaluation.verdicts import BETTER, NO_GAIN, NOT_SHOWN, WORSE, only_before_holm, verdict, verdicts
from mklearn.study.report import wording
from mklearn.study.report.frames import Results, Setting, records
from mklearn.study.report.wording import change, change_and_interval, enumeration, fold_title, plural, rule_title
from mklearn.study.specs.table_specs import ReportFinal

MAJORITY = ABOVE, UNSHOWN, BELOW = (
    "Above the majority class",
    "Not shown to differ from the majority class",
    "Below the majority class",
)
WITH_INTERVAL = 3
"""Methods that the headline names with their interval; the others by name alone."""


class Findings(NamedTuple):
    """The headline, each method's verdict in lists by verdict, and a sentence or two for each setting."""

    headline: str
    verdicts: list[str]
    settings: list[str]
    model: str = ""
    """Which method the final model is of; empty without one."""


class _Verdict(NamedTuple):
    """A method over the settings: its comparisons with the reference, and the verdict in each."""

    label: str
    rows: list[dict[str, Any]]
    found: list[str]
    several: bool
    """Whether methods are judged in several settings, this one perhaps in one of them."""

    @property
    def mean(self) -> float:
        """The mean difference; of errors in units of their own it has none."""
        return float(sum(row["difference"] for row in self.rows) / len(self.rows))

    @property
    def better(self) -> int:
        return self.found.count(BETTER)

    @property
    def worse(self) -> int:
        return self.found.count(WORSE)

    @property
    def beats(self) -> bool:
        """Whether the method is better in more than half of the settings, and worse in none."""
        return not self.worse and 2 * self.better > len(self.rows)

    @property
    def shown(self) -> bool:
        """Whether no interval contains a gain that matters."""
        return NOT_SHOWN not in self.found


def findings(results: Results, final: ReportFinal | None = None) -> Findings:
    """Word the findings of a study by the rows of its headline."""
    rows = results.headline_rows
    settings = [_setting(setting, setting.of(rows), results) for setting in results.settings]
    headline, lists = _headline(rows, results)
    return Findings(headline, lists, settings, "" if final is None else _model(rows, results, final))


def gain_title(results: Results) -> str:
    """Name the smallest gain that matters: ``1 point``."""
    size = 100 * results.matters
    return f"{size:g} point{'' if size == 1 else 's'}"


def _of_gain(results: Results, suffix: str = "") -> str:
    """Name the size of a gain; nothing of a metric in units of its own, of which every gain matters."""
    return f" of {gain_title(results)}{suffix}" if results.metric.in_percent else ""


def _matters(results: Results) -> float:
    return results.matters if results.metric.in_percent else 0.0


def _headline(rows: pd.DataFrame, results: Results) -> tuple[str, list[str]]:
    title, metric = results.reference_title, results.metric
    name = metric.name
    if rows["mean"].isna().all():
        value = "an accuracy" if name == "accuracy" else f"a value of {name}"
        return f"No method has {value} chosen by inner cross-validation: see the failures below.", []
    below = results.below_majority
    if below and len(below) == sum(len(setting.of(rows)) > 0 for setting in results.settings):
        beside, lists = _beside_majority(rows, results, below)
        return beside + _not_judged([setting for setting in results.settings if setting not in below]), lists
    lost = [place for setting in below for place in setting.of(rows).index]
    others = rows[rows["method"].ne(results.reference) & ~rows.index.isin(lost)].dropna(subset=["difference"])
    if others.empty:
        return _no_comparison(rows, results), []
    judged = others.dropna(subset=["difference_low", "difference_high"])
    if judged.empty:
        return (
            f"Fewer than {FEWEST_SPLITS} splits allow no verdict: the numbers below show what happened, "
            f"not whether any method differs from {title}."
        ), []
    without = [setting for setting in results.settings if not len(setting.of(judged))]
    several = len(results.settings) - len(without) > 1
    found = [
        _Verdict(str(label), records(own), list(verdicts(own, _matters(results), metric.larger_is_better)), several)
        for label, own in judged.groupby("label", sort=False)
    ]
    if results.metric.in_percent or not several:
        found.sort(key=lambda one: one.mean, reverse=metric.larger_is_better)
    else:
        found.sort(key=lambda one: one.better - one.worse, reverse=True)
    by_verdict = _by_verdict(found, results)
    learning = [one for one in found if one.rows[0]["method"] in results.learned]
    sentences = [_beats(by_verdict, results), *_weights(learning, results)]
    if below:
        named = enumeration([setting.title for setting in below], limit=len(below))
        sentences.append(f"Left out, as {title} is below the majority class there: {named}.")
    start = "" if metric.kind == results.score.kind else f"By {name}: "
    lists = [f"{verdict}: {_named(own, results)}" for verdict, own in by_verdict.items() if own]
    unjudged = _not_judged([setting for setting in without if setting not in below])
    return start + " ".join(sentences) + unjudged, lists


def _not_judged(settings: Sequence[Setting]) -> str:
    if not settings:
        return ""
    named = enumeration([setting.title for setting in settings], limit=len(settings))
    return f" Not judged, as no difference has an interval there: {named}."


def _no_comparison(rows: pd.DataFrame, results: Results) -> str:
    if not results.reference:
        return "No method is the reference, so that none is compared with another; see the numbers below."
    if rows["method"].eq(results.reference).all():
        return f"{results.reference_title} is the only method: there is none to compare it with."
    return (
        f"There is no comparison with {results.reference_title}: it has no {results.metric.name} beside the other "
        "methods'."
    )


def _by_verdict(found: Sequence[_Verdict], results: Results) -> dict[str, list[_Verdict]]:
    undecided = [one for one in found if not one.better and not one.worse]
    return {
        "Better": [one for one in found if one.beats],
        "Better in some settings": [one for one in found if one.better and not one.worse and not one.beats],
        "Better in some settings and worse in others": [one for one in found if one.better and one.worse],
        "Worse": [one for one in found if one.worse and not one.better],
        "Not shown to differ": [one for one in undecided if not one.shown],
        f"No gain{_of_gain(results)}": [one for one in undecided if one.shown],
    }


def _beats(by_verdict: dict[str, list[_Verdict]], results: Results) -> str:
    """Name every method that is better, or, if none is, every method whose interval contains a gain that matters."""
    title = results.reference_title
    better = by_verdict["Better"]
    if better:
        return f"Better than {title}: {_named(better, results, WITH_INTERVAL)}."
    partly = [one for own in list(by_verdict.values())[1:3] for one in own]
    if partly:
        return f"Better than {title} in some settings only: {_named(partly, results, WITH_INTERVAL)}."
    possible = [one for own in by_verdict.values() for one in own if not one.shown]
    if possible:
        return (
            f"No method is shown to be better than {title}; a gain{_of_gain(results, ' or more')} is not excluded "
            f"for {_named(possible, results, WITH_INTERVAL)}."
        )
    first, end = (max, "highest") if results.metric.larger_is_better else (min, "lowest")
    best = first((one for own in by_verdict.values() for one in own), key=lambda one: one.mean)
    if best.several and not results.metric.in_percent:
        return f"No method is better than {title}."
    gains = f"gains {gain_title(results)} over" if results.metric.in_percent else "is better than"
    return f"No method {gains} {title} ({end}: {_named([best], results, WITH_INTERVAL)})."


def _weights(learned: Sequence[_Verdict], results: Results) -> list[str]:
    """Say whether learned kernel weights paid; nothing if the study learns none."""
    if not learned:
        return []
    paid = [one for one in learned if one.beats]
    if paid:
        return [f"Learned kernel weights paid: {_named(paid[:1], results)}."]
    if any(one.better for one in learned):
        most = max(learned, key=lambda one: one.better - one.worse)
        return [f"Learned kernel weights paid in some settings only: most often {_named([most], results)}."]
    at_best = _named(learned[:1], results)
    if all(one.shown for one in learned):
        return [f"Learned kernel weights did not pay: no gain{_of_gain(results)}, at best {at_best}."]
    return [f"Learned kernel weights are not shown to pay: at best {at_best}."]


def _beside_majority(rows: pd.DataFrame, results: Results, below: Sequence[Setting]) -> tuple[str, list[str]]:
    """Compare all methods with the majority class, as the reference is below it in every setting."""
    larger, one_setting = results.metric.larger_is_better, len(below) == 1
    end = "highest" if larger else "lowest"
    known = rows.dropna(subset=["mean", "majority"]).sort_values("mean", ascending=not larger, kind="stable")
    by_verdict: dict[str, list[str]] = {}
    named = {}
    for label, own in known.groupby("label", sort=False):
        row = records(own)[0]
        interval = wording.interval(row["ci_low"], row["ci_high"], results.metric.in_percent)
        shown = f" {_value(row['mean'], results)} {interval}" if one_setting else ""
        named[str(label)] = f"{label}{shown}"
        by_verdict.setdefault(_against_majority(own, larger), []).append(named[str(label)])
    own = known[known["method"].eq(results.reference)]
    both = [_value(own[name].iloc[0], results) for name in ("mean", "majority")]
    values = f" ({' against '.join(both)})" if one_setting else ""
    first = f"{results.reference_title} is below the majority class{values}, and no reference."
    above = by_verdict.get(ABOVE, [])
    second = (
        f"Above the majority class: {enumeration(above, limit=len(above))}." if above
        else f"No method is shown to be above the majority class ({end}: {next(iter(named.values()))})."
    )  # fmt: skip
    lists = [f"{name}: {enumeration(by_verdict[name], limit=len(named))}" for name in MAJORITY if name in by_verdict]
    return f"{first} {second}", lists


def _against_majority(rows: pd.DataFrame, larger: bool) -> str:
    """Return what the intervals of a method show beside the majority class, in all settings."""
    above, below = (rows["ci_low"] > rows["majority"]).all(), (rows["ci_high"] < rows["majority"]).all()
    return ABOVE if (above if larger else below) else BELOW if (below if larger else above) else UNSHOWN


def _model(rows: pd.DataFrame, results: Results, final: ReportFinal) -> str:
    found = winner(rows, results.metric.kind, final.dataset, final.entries)
    if found is None:
        return ""
    row, metric = found.row, results.metric
    value = _value(row["mean"], results)
    rule = f", by {rule_title(row['neighbour'])}" if row["neighbour"] else ""
    why = "as the study says, with"
    if final.chosen:
        best = "highest" if metric.larger_is_better else "lowest"
        certain = f"better than {results.reference_title} with certainty:"
        whole = " without a failed split" if 0 < found.complete < found.among else ""
        among = f"{found.complete or found.among}{whole} that can be a model:"
        if found.better:
            among = f"{found.better} that are {certain}"
        why = f"which has the {best} mean {metric.name} of the {among}"
        if found.better == 1:
            why = f"the only one that is {certain}"
    return f"The model of this study (model.mklearn) is {row['label']}, {why} {value}{rule}."


def _value(value: Any, results: Results) -> str:
    return f"{wording.value(value, results.metric.in_percent)}{' %' if results.metric.in_percent else ''}"


def _named(found: Sequence[_Verdict], results: Results, most: int | None = None) -> str:
    """Name methods, the first ``most`` with difference and interval or, over settings, the number of those decided."""
    names = [_name_of(one, results) for one in found[:most]] + [one.label for one in found[len(found[:most]) :]]
    return enumeration(names, limit=len(names))


def _name_of(one: _Verdict, results: Results) -> str:
    share = results.metric.in_percent
    if not one.several:
        corrected = "; not after Holm's correction" if only_before_holm(one.rows[0]) else ""
        return f"{one.label} {change_and_interval(one.rows[0], share)}{corrected}"
    counts = [f"{word} in {n}" for word, n in (("better", one.better), ("worse", one.worse)) if n]
    parts = [f"{' and '.join(counts)} of {plural(len(one.rows), 'setting')}"] if counts else []
    if share:
        parts.append(f"{change(one.mean)} {'on average' if len(one.rows) > 1 else 'in one setting'}")
    return f"{one.label} ({', '.join(parts)})" if parts else one.label


def _setting(setting: Setting, rows: pd.DataFrame, results: Results) -> str:
    """Name the best method of a setting and its difference to the reference, and the methods without a value."""
    known, larger = rows.dropna(subset=["mean"]), results.metric.larger_is_better
    if known.empty:
        return f"No method gave a value of {results.metric.name} by inner cross-validation."
    best = records(known.sort_values("mean", ascending=not larger, kind="stable"))[0]
    share = results.metric.in_percent
    value = f"{wording.spread(best['mean'], best['std'])} %" if share else wording.plain(best["mean"])
    of = "" if results.metric.kind == "accuracy" else f" {results.metric.name}"
    splits = f"{splits_of(setting, results)}{failed_splits(best)}"
    highest = f"{'Highest' if larger else 'Lowest'}{of}: {_name(best)} with {value} {splits}"
    return f"{highest}{_against_reference(best, setting, results)}{_without_value(rows)}"


def _against_reference(best: dict[str, Any], setting: Setting, results: Results) -> str:
    title, share = results.reference_title, results.metric.in_percent
    if not title:
        return "."
    if setting in results.below_majority:
        return f"; {title} is below the majority class, whose value is {_value(best['majority'], results)}."
    if best["method"] == results.reference:
        return ", the reference itself."
    if pd.isna(best["difference"]):
        return f"; {title} has no value under the same rule to compare with."
    text = f", {change(best['difference'], share)}{' points' if share else ''} from {title}"
    if pd.isna(best["difference_low"]):
        return f"{text}; fewer than {FEWEST_SPLITS} splits have no interval."
    low, high = change(best["difference_low"], share), change(best["difference_high"], share)
    words = {
        NOT_SHOWN: ": not shown to differ", NO_GAIN: f": no gain{_of_gain(results)}", WORSE: ": worse",
    }  # fmt: skip
    shown = words.get(verdict(best, _matters(results), results.metric.larger_is_better), "")
    corrected = ", after Holm's correction" if only_before_holm(best) else ""
    return f"{text} (95 % interval {low} to {high}{shown}{corrected})."


def _without_value(rows: pd.DataFrame) -> str:
    failed = rows[rows["mean"].isna()]
    if failed.empty:
        return ""
    reasons = [f" ({text})" for text in failed.get("message", ()) if text]
    named = enumeration(list(dict.fromkeys(failed["label"])))
    return f" No value by inner cross-validation: {named}{''.join(reasons[:1])}."


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


def failed_splits(row: dict[str, Any]) -> str:
    """Say in how many splits a method has no value, in parentheses; nothing where it has all."""
    failed = int(row.get("n_failed", 0))
    return f" ({failed:,} of {plural(failed + int(row['n_repeats']), 'split')} failed)" if failed else ""


def _name(row: dict[str, Any]) -> str:
    rule = f" ({rule_title(row['neighbour'])})" if row["neighbour"] else ""
    return f"{row['label']}{rule}"
