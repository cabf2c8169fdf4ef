"""Comparison of pairs of methods within a study, and of two studies or runs side by side (`mklearn compare`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from mklearn.base.statistics import holm
from mklearn.errors import ConfigError, nearest
from mklearn.study.evaluation.headline import MATTERS
from mklearn.study.evaluation.metrics.metric import Metric, metric_named
from mklearn.study.evaluation.predictions import Predictions, plain_key, typed
from mklearn.study.evaluation.reproduction import plain_records
from mklearn.study.evaluation.summary import corrected, summarise
from mklearn.study.report import wording
from mklearn.study.report.result_tables import difference_cell, value_cell
from mklearn.study.report.results import Results, protocol_family
from mklearn.study.report.tables import Cell, Column, Table, number_cell, words
from mklearn.study.specs.fit_spec import headline_rule
from mklearn.study.specs.table_specs import Comparison

SETTING = ["dataset", "protocol", "train_size"]
LEVEL = 1e-9
"""Largest difference, as a fraction, that counts as a tie."""
FEWEST_SETS = 6
"""Minimum number of data sets for a signed-rank test; with fewer its p-value can't be below 5 %."""
PAIRED = ["difference", "difference_low", "difference_high", "p_value", "disagreement"]
SEPARATOR = "\n"
"""Separator of protocol and method in the name of a setting per method; it occurs in no id."""


# --- pairs of methods


def beside(
    results: Results, reference: str, methods: Sequence[str], predictions: Predictions | None, dataset: str = ""
) -> Results:
    """Return the inner-CV results of some methods, compared with another reference, on one data set or all."""
    scores = results.scores[results.scores["method"].isin([reference, *methods])]
    scores = scores[scores["selection"].isin(["inner_cv", ""])]
    scores = scores[scores["dataset"].eq(dataset)] if dataset else scores
    titles = {f"{kind}s": dict(results.summary[[kind, f"{kind}_title"]].to_numpy()) for kind in ("dataset", "method")}
    summary = summarise(scores, predictions, reference=reference, neighbour=results.neighbour, titles=titles)
    return replace(results, score_table=scores, summary_table=summary, reference=reference)


def pair_differences(comparison: Comparison, results: Results, predictions: Predictions | None) -> pd.DataFrame:
    """Compute the differences of the pairs of a comparison.

    The result has a row for each pair (its position is in the column ``pair``) and each setting in which both methods
    have a value by inner cross-validation. Columns are ``mean`` and ``other_mean``, and the difference with interval
    and p-value.
    """
    parts = []
    for position, (method, other) in enumerate(comparison.pairs):
        if not {method, other} <= set(results.label_of):
            continue
        rows = beside(results, other, [method], predictions).headline_rows
        others = rows.loc[rows["method"].eq(other), [*SETTING, "mean"]].rename(columns={"mean": "other_mean"})
        paired = rows[rows["method"].eq(method) & rows["difference"].notna()].merge(others, "left", SETTING)
        if (ranked := comparison.protocols) is not None:  # take the first protocol that both methods have
            families = [protocol_family(row["protocol"], row["train_size"]) for row in plain_records(paired)]
            order = pd.Series([ranked.index(name) if name in ranked else np.nan for name in families], paired.index)
            paired = paired[order.notna() & order.eq(order.groupby(paired["dataset"]).transform("min"))]
        parts.append(paired.assign(pair=position))
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*SETTING, "pair", "p_value"])
    rows_of = table.groupby(_row_keys(comparison), dropna=False, sort=False)["p_value"]
    return table.assign(p_holm=rows_of.transform(lambda values: holm(values.to_numpy(dtype=np.float64))))


def _row_keys(comparison: Comparison) -> list[str]:
    """Return the columns that identify a row of the table; ranked protocols share a row."""
    return SETTING if comparison.protocols is None else ["dataset", "train_size"]


def differences_table(comparison: Comparison, table: pd.DataFrame, results: Results) -> Table:
    """Return a table of the :func:`pair_differences` with a row for each setting, and summary rows with the counts."""
    names = [[results.label_of.get(method, method) for method in pair] for pair in comparison.pairs]
    columns = [words("Setting"), *(Column(f"{first} − {second}") for first, second in names)]
    keys = _row_keys(comparison)
    by_row: dict[tuple[Any, ...], dict[int, dict[str, Any]]] = {}
    for row in plain_records(table):
        by_row.setdefault(plain_key(row[name] for name in keys), {})[row["pair"]] = row
    lines = []
    for setting in results.settings:
        pairs = by_row.pop(tuple(getattr(setting, name) for name in keys), None)
        if pairs is not None:
            short = wording.setting_title(setting.dataset_title, setting.train_size)
            title = setting.title if comparison.protocols is None else short
            lines.append([Cell(title), *(_cell(pairs.get(place), results) for place in range(len(names)))])
    rows_of_pairs = [table[table["pair"].eq(position)] for position in range(len(names))]
    points, percent = (" in points", ", in %") if results.metric.in_percent else ("", "")
    note = (
        f"Differences of the {results.metric.name}{points} with their 95 % intervals; below them both values by "
        f"inner cross-validation{percent}. ▲ and ▼ mark intervals that exclude 0 after Holm's correction in a row."
    )
    counts = _summary_rows(comparison, rows_of_pairs, results.metric)
    return Table(comparison.title, columns, [*lines, *counts], note=note)


def _cell(row: dict[str, Any] | None, results: Results) -> Cell:
    if row is None:
        return number_cell(wording.DASH, None)
    both = (wording.value(row[name], results.metric.in_percent) for name in ("mean", "other_mean"))
    return replace(difference_cell(row, results.metric, results.matters), below=" against ".join(both))


def _summary_rows(comparison: Comparison, pairs: Sequence[pd.DataFrame], metric: Metric) -> list[list[Cell]]:
    """Return summary rows: counts and means of the differences of each pair, and Wilcoxon's signed-rank test."""
    gained = [rows["difference"].to_numpy(dtype=np.float64) for rows in pairs]
    counts = [[int(which.sum()) for which in (g > LEVEL, abs(g) <= LEVEL, g < -LEVEL)] for g in gained]
    texts = {"Above, level, below": [", ".join(map(str, numbers)) for numbers in counts]}
    if comparison.published:
        texts["Above in the paper"] = [f"{number} of {comparison.published_of}" for number in comparison.published]
    for title, of in (("Mean difference", np.mean), ("Lowest difference", np.min)):
        values = [float(of(g)) if len(g) else np.nan for g in gained]
        texts[title] = [wording.signed(100 * v, 2) if metric.in_percent else wording.change(v, False) for v in values]
    p_values = [_signed_rank_p(rows) for rows in pairs]
    if np.isfinite(p_values).any():
        both = zip(p_values, holm(p_values), strict=True)
        texts["p of Wilcoxon's test, by Holm's method"] = [
            wording.DASH if np.isnan(p) else f"{p:.2f}, {adjusted:.2f}" for p, adjusted in both
        ]
    return [[Cell(title, kind="strong"), *(number_cell(text, None) for text in row)] for title, row in texts.items()]


def _signed_rank_p(rows: pd.DataFrame) -> float:
    """Return the signed-rank p-value over data sets; NaN for too few data sets, or for several rows of one."""
    from scipy.stats import wilcoxon

    gained = rows["difference"].to_numpy(dtype=np.float64).round(9)  # rounded, so that ties have no rank
    if len(gained) < FEWEST_SETS or rows["dataset"].duplicated().any() or not np.any(gained):
        return float("nan")
    return float(wilcoxon(gained).pvalue)


# --- two studies


@dataclass(frozen=True)
class StudyTables:
    """The tables of a study in the folder ``name``, its reference method, and its ``config``."""

    name: str
    scores: pd.DataFrame
    predictions: pd.DataFrame
    summary: pd.DataFrame
    reference: str
    config: Mapping[str, Any]

    @property
    def metric(self) -> str:
        """Metric of the page, as `mklearn.study.study.Study` has it."""
        return str((self.config.get("final") or {}).get("metric") or self.config["evaluation"]["metrics"][0])

    def results(self, metric: str | None = None) -> Results:
        """Return the results of all settings by a metric of the study, by default that of the page."""
        neighbour, metric = headline_rule(self.config["evaluation"]["neighbours"]), self.reported(metric or self.metric)
        return Results(
            self.scores, self.summary, [], self.reference, metric=metric_named(metric), neighbour=neighbour
        )  # fmt: skip

    def reported(self, metric: str) -> str:
        """Return the name of a metric; raise ConfigError if the study does not report it."""
        valid = self.config["evaluation"]["metrics"]
        if metric not in valid:
            raise ConfigError(f"{self.name}: no metric {metric!r}.{nearest(metric, valid)} Valid: {', '.join(valid)}.")
        return metric


def compare(first: StudyTables, second: StudyTables, metric: str | None = None) -> Table:
    """Return a table with the scores of each method in studies A and B, and B − A, for the settings of both.

    Differences are paired and have intervals if both studies tested the same samples in the same splits. The default
    metric is the one of A's page. ConfigError is raised if one of the studies does not report the metric, or if they
    have no data set, protocol and training size in common.
    """
    ours, theirs = _tested(first), _tested(second)
    both = {setting: ours[setting].keys() & theirs[setting].keys() for setting in ours if setting in theirs}
    if not both:
        raise ConfigError(
            "nothing to compare: data sets need the same name, protocol and training size in both studies; "
            + "; ".join(f"{each.name} has {', '.join(each.scores['dataset'].unique())}" for each in (first, second))
        )
    same = {
        setting: bool(splits) and all(ours[setting][split] == theirs[setting][split] for split in splits)
        for setting, splits in both.items()
    }
    measure, lines = metric_named(second.reported(first.reported(metric or first.metric))), []
    every = pd.concat([second.summary, first.summary])
    titles, datasets = (dict(zip(every[kind], every[f"{kind}_title"], strict=True)) for kind in ("method", "dataset"))
    rows = _summary_by_method((first, second), same, measure.kind)
    for key, pair in rows.groupby([*SETTING, "entry", "neighbour"], dropna=False, sort=False):
        dataset, protocol, size, method, rule = plain_key(key)
        by_study = {row["method"]: row for row in plain_records(pair)}
        change = by_study.get("B", {})
        if change.get("disagreement") == 0:  # the same predictions
            change = dict.fromkeys(PAIRED[:3], 0.0)
        if len(by_study) == 2 and pd.isna(change["difference"]):
            change = {"difference": change["mean"] - by_study["A"]["mean"]}
        lines.append([
            Cell(wording.setting_title(datasets[dataset], size, protocol_family(protocol, size))),
            Cell(titles[method] + (f", {wording.rule_title(rule)}" if rule else "")),
            *(value_cell(measure, by_study.get(study, {})) for study in "AB"),
            difference_cell(change, measure, MATTERS),
        ])  # fmt: skip
    caption = (
        f"{measure.title} by inner cross-validation, mean ± std over splits: A is {first.name}, B is {second.name}. "
        "Differences have 95 % intervals where both tested the same samples in the same splits; ▲ and ▼ mark those "
        "that exclude 0 after Holm's correction."
    )
    percent, points = (", %", ", points") if measure.in_percent else ("", "")
    numbers = [*(Column(f"{name}{percent}") for name in "AB"), Column(f"B − A{points}")]
    return Table(caption, [words("Setting"), words("Method"), *numbers], lines)


def _summary_by_method(both: Sequence[StudyTables], same: Mapping[tuple[Any, ...], bool], metric: str) -> pd.DataFrame:
    """Summarise with one setting per method (``entry``), in which the studies A and B take the place of methods."""
    scores: list[pd.DataFrame] = []
    predictions: list[pd.DataFrame] = []
    for study, mark in zip(both, "AB", strict=True):
        for frames, frame in ((scores, study.scores.assign(study="")), (predictions, study.predictions)):
            place = frame["protocol"].astype(str) + SEPARATOR + frame["method"].astype(str)
            frames.append(frame.assign(protocol=place, method=mark))
    predicted = Predictions(typed(pd.concat(predictions, ignore_index=True)))
    rows = summarise(pd.concat(scores, ignore_index=True), predicted, reference="A")
    rows = rows[rows["selection"].eq("inner_cv") & rows["metric"].isin([metric, ""])]
    parts = rows["protocol"].str.partition(SEPARATOR)
    rows = rows.assign(protocol=parts[0], entry=parts[2])
    paired = [same.get(plain_key(setting)) for setting in zip(*(rows[name] for name in SETTING), strict=True)]
    rows.loc[[each is False for each in paired], PAIRED] = np.nan
    rows = rows[[each is not None for each in paired]]
    return rows.assign(p_holm=corrected(rows))


def _tested(study: StudyTables) -> dict[tuple[Any, ...], dict[Any, frozenset[str]]]:
    tested: dict[tuple[Any, ...], dict[Any, frozenset[str]]] = {}
    splits = study.predictions.groupby([*SETTING, "repeat", "fold"], observed=True, dropna=False, sort=False)
    for (*setting, repeat, fold), samples in splits["sample"]:
        tested.setdefault(plain_key(setting), {})[repeat, fold] = frozenset(samples.astype(str))
    return tested
