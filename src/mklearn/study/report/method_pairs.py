"""Tables of pairs of methods: their difference in every setting, and on how many data sets the first is above."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from mklearn.base.statistics import holm
from mklearn.study.evaluation.headline import headline_rows
from mklearn.study.evaluation.predictions import Predictions, plain_key
from mklearn.study.evaluation.reproduction import plain_records
from mklearn.study.evaluation.summary import summarise
from mklearn.study.report import wording
from mklearn.study.report.result_tables import difference_cell
from mklearn.study.report.results import Results, protocol_family
from mklearn.study.report.tables import Cell, Column, Table, number_cell, words
from mklearn.study.specs.table_specs import Comparison

PLACE = ["dataset", "protocol", "train_size"]
LEVEL = 1e-9
"""Differences up to this, as a fraction, are none."""
FEWEST_SETS = 6
"""Data sets that a signed-rank test takes: of fewer its p-value can't be below 5 %."""


def pair_tables(
    comparisons: Sequence[Comparison], results: Results, scores: pd.DataFrame, predictions: Predictions | None
) -> list[Table]:
    """Tabulate the comparisons of a study; none of which no pair has values."""
    found = (
        (comparison, pair_differences(comparison, scores, predictions, results.neighbour, results.score.kind))
        for comparison in comparisons
    )
    return [differences_table(comparison, frame, results) for comparison, frame in found if len(frame)]


def pair_differences(
    comparison: Comparison, scores: pd.DataFrame, predictions: Predictions | None, neighbour: str = "",
    score: str = "accuracy",
) -> pd.DataFrame:  # fmt: skip
    """Compute the differences of the pairs of a comparison, by the metric ``score``.

    ``neighbour`` is the rule of embeddings; empty: the first of the pair's second method. There is a row for each pair,
    by its position ``pair``, and setting in which both methods have a value by inner cross-validation: ``mean`` and
    ``other_mean``, and the difference with interval and p-value.
    """
    parts = []
    for position, (method, other) in enumerate(comparison.pairs):
        own = scores[scores["method"].isin([method, other]) & scores["selection"].isin(["inner_cv", ""])]
        if own["method"].nunique() < 2:
            continue
        rows = headline_rows(summarise(own, predictions, reference=other, neighbour=neighbour), score, neighbour, other)
        others = rows.loc[rows["method"].eq(other), [*PLACE, "mean"]].rename(columns={"mean": "other_mean"})
        found = rows[rows["method"].eq(method) & rows["difference"].notna()].merge(others, "left", PLACE)
        if (ranked := comparison.protocols) is not None:  # the first protocol that both have
            families = [protocol_family(row["protocol"], row["train_size"]) for row in plain_records(found)]
            order = pd.Series([ranked.index(name) if name in ranked else np.nan for name in families], found.index)
            found = found[order.notna() & order.eq(order.groupby(found["dataset"]).transform("min"))]
        parts.append(found.assign(pair=position))
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*PLACE, "pair", "p_value"])
    rows_of = table.groupby(_row_keys(comparison), dropna=False, sort=False)["p_value"]
    return table.assign(p_holm=rows_of.transform(lambda values: holm(values.to_numpy(dtype=np.float64))))


def _row_keys(comparison: Comparison) -> list[str]:
    """Return what a row of the table stands for: where the protocols are ranked, whatever protocol a pair has."""
    return PLACE if comparison.protocols is None else ["dataset", "train_size"]


def differences_table(comparison: Comparison, table: pd.DataFrame, results: Results) -> Table:
    """Tabulate the differences of :func:`pair_differences`, a row for each setting, and how many are above 0."""
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
    note = (
        f"Differences of the {results.score.name} in points with their 95 % intervals; below them both values by inner "
        "cross-validation, in %. ▲ and ▼ mark intervals that exclude 0 after Holm's correction for the pairs of a row."
    )
    return Table(comparison.title, columns, [*lines, *_summary_rows(comparison, rows_of_pairs)], note=note)


def _cell(row: dict[str, Any] | None, results: Results) -> Cell:
    if row is None:
        return number_cell(wording.DASH, None)
    both = (wording.value(row[name], results.score.in_percent) for name in ("mean", "other_mean"))
    return replace(difference_cell(row, results.score, results.matters), below=" against ".join(both))


def _summary_rows(comparison: Comparison, pairs: Sequence[pd.DataFrame]) -> list[list[Cell]]:
    """Count the rows of each pair, and test several data sets by Wilcoxon's signed ranks."""
    gained = [rows["difference"].to_numpy(dtype=np.float64) for rows in pairs]
    counts = [[int(which.sum()) for which in (g > LEVEL, abs(g) <= LEVEL, g < -LEVEL)] for g in gained]
    texts = {"Above, level, below": [", ".join(map(str, numbers)) for numbers in counts]}
    if comparison.published:
        texts["Above in the paper"] = [f"{number} of {comparison.published_of}" for number in comparison.published]
    for title, of in (("Mean difference", np.mean), ("Lowest difference", np.min)):
        texts[title] = [wording.signed(100 * of(g), 2) if len(g) else wording.DASH for g in gained]
    p_values = [_signed_rank_p(rows) for rows in pairs]
    if np.isfinite(p_values).any():
        both = zip(p_values, holm(p_values), strict=True)
        texts["p of Wilcoxon's test, by Holm's method"] = [
            wording.DASH if np.isnan(p) else f"{p:.2f}, {adjusted:.2f}" for p, adjusted in both
        ]
    return [[Cell(title, kind="strong"), *(number_cell(text, None) for text in row)] for title, row in texts.items()]


def _signed_rank_p(rows: pd.DataFrame) -> float:
    """Return the p-value over data sets; NaN where there are few, or several rows of one."""
    from scipy.stats import wilcoxon

    gained = rows["difference"].to_numpy(dtype=np.float64).round(9)  # else what is level has a rank
    if len(gained) < FEWEST_SETS or rows["dataset"].duplicated().any() or not np.any(gained):
        return float("nan")
    return float(wilcoxon(gained).pvalue)
