"""Findings of a study: sentences generated from its results, no stronger than the paired intervals allow.

Methods are compared with the reference by one metric and one nearest-neighbour rule; classifiers, which have no rule,
are included. :mod:`mklearn.study.evaluation.headline` selects the rows and defines the verdicts. If the reference is
below the majority class, the methods are compared with that class instead.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

from mklearn.base.statistics import FEWEST_SPLITS
from mklearn.study.evaluation.headline import BETTER, NOT_SHOWN, WORSE, only_before_holm, verdict, winner
from mklearn.study.evaluation.reproduction import plain_records
from mklearn.study.report import wording
from mklearn.study.report.results import Results, Setting, protocol_family
from mklearn.study.report.wording import change, change_and_interval, enumeration, plural, rule_title
from mklearn.study.specs.final_spec import BEST, FinalSpec

NAMED = 3
"""Number of methods or settings that a sentence names; further ones are counted."""
WIDTH = 100
"""Line width in the terminal, in characters."""
SHOWN = 5
"""Number of methods in the answer."""


class Findings(NamedTuple):
    """The headline, and sentences on the method of the final model and on the views; empty without them."""

    headline: str
    model: str = ""
    views: str = ""


class _Judged(NamedTuple):
    """A method in all settings: its comparisons with the reference, and the verdict in each setting."""

    label: str
    rows: list[dict[str, Any]]
    verdicts: list[str]
    several: bool
    """True if the study judges methods in several settings, even if this method is in one only."""

    @property
    def method(self) -> str:
        return str(self.rows[0]["method"])

    @property
    def mean(self) -> float:
        """Mean difference over the settings; only meaningful for metrics in percent."""
        return float(sum(row["difference"] for row in self.rows) / len(self.rows))

    @property
    def better(self) -> int:
        return self.verdicts.count(BETTER)

    @property
    def worse(self) -> int:
        return self.verdicts.count(WORSE)

    @property
    def beats(self) -> bool:
        """True if the method is better in more than half of the settings, and worse in none."""
        return not self.worse and 2 * self.better > len(self.rows)


def findings(
    results: Results, final: FinalSpec | None = None, weights: Results | None = None, rivals: Results | None = None
) -> Findings:
    """Return the findings of a study from the rows of its headline.

    If the reference is not a uniform average of kernels, ``weights`` compare the methods that learn kernel weights with
    such an average. ``rivals`` compare the methods that could be the final model with the one that is.
    """
    model = "" if final is None else _model(results, final, rivals)
    return Findings(_headline(results, weights or results), model)


def gain_title(results: Results) -> str:
    """Return the smallest gain that matters as text: ``1 point``."""
    size = 100 * results.matters
    return f"{size:g} point{'' if size == 1 else 's'}"


def _headline(results: Results, weights: Results) -> str:
    rows, title, metric = results.headline_rows, results.reference_title, results.metric
    if rows["mean"].isna().all():
        return f"No method has a value of {metric.name} chosen by inner cross-validation: see the failures below."
    below = results.below_majority
    if below and below == results.settings_in(rows):
        return _beside_majority(rows, results) + _not_judged(below, results)
    others = _compared(results)
    judged = others.dropna(subset=["difference_low", "difference_high"])
    if not results.reference:
        return "No method is the reference (evaluation.reference), so that none is compared with another."
    if others.empty and rows["method"].eq(results.reference).all():
        return f"{title} is the only method: there is none to compare it with."
    if others.empty:
        return (
            f"There is no comparison with {title}: it has no {metric.name} beside the other methods'. Set "
            "evaluation.reference to a method that has one."
        )
    if judged.empty:
        return (
            f"Fewer than {FEWEST_SPLITS} splits or test groups allow no verdict: the numbers below show what happened, "
            f"not whether any method differs from {title}."
        )
    sentences = [_best(_by_method(judged, results), results)]
    if learning := [one for one in _by_method(_compared(weights), weights) if one.method in weights.learned]:
        sentences.append(_weights(learning, weights, "" if weights is results else f" over {weights.reference_title}"))
    if below:
        named = enumeration([setting.title for setting in below], NAMED)
        sentences.append(f"Left out, as {title} is below the majority class there: {named}.")
    return " ".join(sentences) + _not_judged([*below, *results.settings_in(judged)], results)


def _compared(results: Results) -> pd.DataFrame:
    """Return the rows of all methods but the reference, without settings in which it is below the majority class."""
    rows = results.headline_rows
    lost = [place for setting in results.below_majority for place in setting.of(rows).index]
    return rows[rows["method"].ne(results.reference) & ~rows.index.isin(lost)].dropna(subset=["difference"])


def _by_method(rows: pd.DataFrame, results: Results) -> list[_Judged]:
    """Judge each method in all settings in which its difference has an interval; the best method comes first."""
    judged, metric = rows.dropna(subset=["difference_low", "difference_high"]), results.metric
    several = len(results.settings_in(judged)) > 1
    matters = results.matters if metric.in_percent else 0.0
    methods = [
        _Judged(str(label), of_label, [verdict(row, matters, metric.larger_is_better) for row in of_label], several)
        for label, part in judged.groupby("label", sort=False)
        for of_label in [plain_records(part)]
    ]
    if metric.in_percent or not several:
        return sorted(methods, key=lambda one: one.mean, reverse=metric.larger_is_better)
    return sorted(methods, key=lambda one: one.better - one.worse, reverse=True)


def _not_judged(judged: Sequence[Setting], results: Results) -> str:
    titles = [setting.title for setting in results.settings if setting not in judged]
    named = enumeration(titles, NAMED)
    return f" Not judged, as no difference has an interval there: {named}." if titles else ""


def _best(methods: Sequence[_Judged], results: Results) -> str:
    """Return a sentence on the better methods or, if there are none, on methods that may have a gain that matters."""
    title, share = results.reference_title, results.metric.in_percent
    if better := [one for one in methods if one.beats]:
        unit = f", in points of {results.metric.name}" if share else ""
        return f"Better than {title}{unit}: {_named(better, results)}."
    if partly := sorted((one for one in methods if one.better), key=lambda one: one.worse > 0):
        return f"Better than {title} in some settings only: {_named(partly, results)}."
    if possible := [one for one in methods if NOT_SHOWN in one.verdicts]:
        gain = f"a gain of {gain_title(results)} or more" if share else "a gain"
        return f"No method is shown to be better than {title}; {gain} is not excluded for {_named(possible, results)}."
    gains = f"gains {gain_title(results)} over" if share else "is better than"
    if not share and methods[0].several:
        return f"No method {gains} {title}."
    end = "highest" if results.metric.larger_is_better else "lowest"
    best = _named(methods[:1], results)
    return f"No method {gains} {title}" + (f"; {end}: {best}." if best.endswith(")") else f" ({end}: {best}).")


def _weights(learning: Sequence[_Judged], results: Results, over: str) -> str:
    """Return a sentence on the benefit of learned kernel weights; ``over`` names their reference."""
    best = max(learning, key=lambda one: (one.beats, one.better - one.worse))
    if best.beats:
        verdict = "paid:"
    elif any(one.better for one in learning):
        verdict = "paid in some settings only: most often"
    else:
        best = learning[0]
        gain = f" of {gain_title(results)}" if results.metric.in_percent else ""
        shown = all(NOT_SHOWN not in one.verdicts for one in learning)
        verdict = f"did not pay: no gain{gain}, at best" if shown else "are not shown to pay: at best"
    return f"Learned kernel weights {verdict} {_named([best], results)}{over}."


def _beside_majority(rows: pd.DataFrame, results: Results) -> str:
    """Return the headline for a reference below the majority class: the methods above that class in every setting."""
    end, sign = "ci_low" if results.metric.larger_is_better else "ci_high", results.metric.sign
    rows = rows.dropna(subset=["mean", "majority"])
    rows = rows.assign(above=sign * (rows[end] - rows["majority"]), gain=sign * (rows["mean"] - rows["majority"]))
    by_label = rows.groupby("label", sort=False).agg({"above": "min", "gain": "mean"})
    above = list(by_label[by_label["above"] > 0].sort_values("gain", ascending=False, kind="stable").index)
    named = f"Above that class: {enumeration(above, NAMED)}" if above else "No method is shown to be above it"
    return f"{results.reference_title} is below the majority class, so that a gain over it says little. {named}."


def _model(results: Results, final: FinalSpec, rivals: Results | None) -> str:
    metric = results.metric
    best = winner(results.headline_rows, metric.kind, final.dataset, [fit.largest for fit in final.candidates])
    if best is None:
        return ""
    row, is_chosen = best.row, final.method == BEST
    of_one_test_set = final.given_splits and row["n_repeats"] + row["n_failed"] == 1
    rule = f", by {rule_title(row['neighbour'])}" if row["neighbour"] else ""
    why = f"chosen among {plural(best.among, 'method')}" if is_chosen else "as the study says"
    value = f"{wording.percent(row['mean'])} %" if metric.in_percent else wording.value_and_interval(row, False)
    name = metric.name if metric.name.startswith("mean ") else f"mean {metric.name}"
    other = "" if rivals is None or of_one_test_set else _rival(rivals, final, f", in points of {metric.name}")
    return f"The model of this study (model.mklearn) is {row['label']}, {why}: {name} {value}{rule}.{other}"


def _rival(rivals: Results, final: FinalSpec, unit: str) -> str:
    """Return sentences on the method that is better than the model's by more than a standard error; "" if none is."""
    metric, (_, *place) = rivals.metric, final.candidates[0].largest
    entries = [(name, *place) for name in rivals.label_of if name != final.method]
    judged = rivals.headline_rows.dropna(subset=["difference_low", "difference_high"])
    best = winner(judged, metric.kind, final.dataset, entries)  # type: ignore[arg-type]
    if best is None:
        return ""
    row = best.row
    half_width = (row["difference_high"] - row["difference_low"]) / 2  # about two standard errors
    if not metric.sign * row["difference"] > half_width / 2:
        return ""
    shown = verdict(row, 0.0, metric.larger_is_better) == BETTER
    start = "Better than it" if shown else "Ahead of it, but not shown to be better,"
    named = _name_of(_Judged(rivals.label_of[row["method"]], [row], [], several=False), rivals)
    return (
        f" {start} on the same splits{unit * metric.in_percent}: {named}. To make this the model, set "
        f"final: {{method: {row['method']}}}; only the model is computed again."
    )


def _named(methods: Sequence[_Judged], results: Results) -> str:
    """Return the names of the first methods with their differences or, for several settings, counts; count the rest."""
    return enumeration([_name_of(one, results) for one in methods], NAMED)


def _name_of(one: _Judged, results: Results) -> str:
    share = results.metric.in_percent
    if not one.several:
        corrected = " (not after Holm's correction)" if only_before_holm(one.rows[0]) else ""
        return f"{one.label} {change_and_interval(one.rows[0], share)}{corrected}"
    counts = [f"in {one.better}"] * bool(one.better) + [f"worse in {one.worse}"] * bool(one.worse)
    parts = [f"{', '.join(counts)} of {plural(len(one.rows), 'setting')}"] if counts else []
    if share:
        parts.append(f"mean {change(one.mean)}" if len(one.rows) > 1 else f"{change(one.mean)} in one setting")
    return f"{one.label} ({', '.join(parts)})" if parts else one.label


def splits_of(setting: Setting, results: Results) -> str:
    """Describe the splits of a setting: ``over 10 random splits of whole groups``, ``by 5-fold cross-validation``.

    If the models of a repeat share a test part, the text is ``over 10 random splits with 8 models each``.
    """
    rows = setting.of(results.scores)
    units = rows[["repeat", "fold"]].drop_duplicates()
    n_folds, n_repeats = units["fold"].nunique(), units["repeat"].nunique()
    whole = " of whole groups" * (protocol_family(setting.protocol, setting.train_size) in results.of_groups)
    if n_folds > 1 and rows["test_part"].nunique() > 1:
        validated = f"{n_folds}-fold cross-validation{whole}"
        return f"by {validated}" if n_repeats == 1 else f"over {n_repeats:,} repeats of {validated}"
    models = "" if n_folds <= 1 else f" with {n_folds} models{' each' if n_repeats > 1 else ''}"
    return f"{'on one split' if n_repeats == 1 else f'over {n_repeats:,} random splits'}{whole}{models}"


def answer(results: Results, sentences: Findings) -> str:
    """Return the text for the terminal: headline, best methods of the first setting (its largest size), final model."""
    metric, rows = results.metric, results.headline_rows.dropna(subset=["mean"])
    parts = [textwrap.fill(sentences.headline, WIDTH)]
    valued = results.settings_in(rows)
    if valued:
        setting = next((setting for setting in results.largest_settings() if setting in valued), valued[0])
        ranked = setting.of(rows).sort_values("mean", ascending=not metric.larger_is_better, kind="stable")
        best, share = plain_records(ranked.head(SHOWN)), metric.in_percent
        n = len(ranked)
        count = f"best {SHOWN} of {plural(n, 'method')}" if n > SHOWN else plural(n, "method")
        unit = " in %" if share else " with its 95 % interval"
        title = f"{setting.title}, {metric.name}{unit} {splits_of(setting, results)}, {count}:"
        shown = [
            wording.spread(row["mean"], row["std"]) if share else wording.value_and_interval(row, False) for row in best
        ]
        width, of_value = (max(map(len, texts)) for texts in ([str(row["label"]) for row in best], [11 * " ", *shown]))
        lines = [
            f"  {row['label']:<{width}}  {value:>{of_value}}{_against(row, setting, results)}"
            for row, value in zip(best, shown, strict=True)
        ]
        others = len(results.settings) - 1
        lines += [f"{plural(others, 'more setting')} on the page."] if others else []
        parts.append("\n".join([textwrap.fill(title, WIDTH), *lines]))
    parts += [textwrap.fill(sentence, WIDTH) for sentence in (sentences.views, sentences.model) if sentence]
    return "\n\n".join(parts) + "\n"


def _against(row: dict[str, Any], setting: Setting, results: Results) -> str:
    """Return the difference to the reference as text, or the majority class's value if the reference is below it."""
    failed = int(row["n_failed"])
    lost = f" ({failed:,} of {plural(failed + int(row['n_repeats']), 'split')} failed)" if failed else ""
    if setting in results.below_majority:
        return f"  the majority class: {wording.value(row['majority'], results.metric.in_percent)}{lost}"
    if row["method"] == results.reference:
        return f"  the reference{lost}"
    return ("" if pd.isna(row["difference"]) else f"  {change_and_interval(row, results.metric.in_percent)}") + lost
