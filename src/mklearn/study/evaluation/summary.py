"""From the tidy score table to one row for each method, metric, rule and way of choosing.

There are two selections. ``oracle`` is the best dimension of the *mean test* curve: the mean over repeats first, its
best dimension second, as in published tables; it is chosen on the test samples. ``inner_cv`` is the mean of the values
that cross-validation inside the training samples chose.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mklearn.base.statistics import (
    Difference,
    Interval,
    corrected_resampled_interval,
    holm,
    mean,
    paired_difference,
    paired_sample_difference,
    sample_interval,
    standard_deviation,
)
from mklearn.errors import DataError
from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.predictions import Outcomes, Predictions, best_dimension, common
from mklearn.study.evaluation.reproduction import NAMED_BY, compare_published, is_about, plain_records
from mklearn.study.specs.table_specs import Tolerance

SETTING = ["study", "dataset", "protocol", "train_size"]
UNIT = ["repeat", "fold"]
SCORE_COLUMNS = [
    *SETTING, *UNIT, "method", "kernel_set", "neighbour", "selection", "dimension", "value", "status", "message",
    "n_train", "n_test", "fit_seconds",
]  # fmt: skip
SUMMARY_COLUMNS = [
    "study", "dataset", "dataset_title", "protocol", "train_size", "method", "method_title", "kernel_set", "metric",
    "neighbour", "selection", "dimension", "n_repeats", "n_failed", "mean", "std", "ci_low", "ci_high", "majority",
    "difference",
    "difference_low", "difference_high", "p_value", "p_holm", "disagreement", "published", "published_std",
    "published_dimension", "published_repeats", "published_source", "z", "verdict", "fit_seconds_mean", "status",
    "message",
]  # fmt: skip

# From best to worst. A fit with one of the first three may have a value, one with another never has.
STATUSES = ("ok", "inaccurate", "time_limit", "not_applicable", "out_of_memory", "failed", "lost")
_SELECTION_OF_ROWS = {"oracle": "dimension", "inner_cv": "inner_cv"}
_COUNTED = ("", *_SELECTION_OF_ROWS.values())
"""Selections of the score rows behind a summary; others, such as "iteration", are drawn in figures only."""


def summarise(
    scores: pd.DataFrame,
    predictions: Predictions | None = None,
    *,
    reference: str = "average",
    neighbour: str = "",
    published: Sequence[Mapping[str, Any]] = (),
    titles: Mapping[str, Mapping[str, str]] | None = None,
    calibration: Mapping[str, Any] | None = None,
    tolerance: Tolerance | None = None,
) -> pd.DataFrame:
    """Summarise repeats: mean, spread, interval, difference to a reference method, published value.

    Parameters
    ----------
    scores : DataFrame
        Tidy scores, one row for each fit, rule and dimension; columns as in ``SCORE_COLUMNS``. A repeat of k folds
        counts as k values; but models of a repeat that share a test part (column ``test_part``, by default the fold)
        count as one, their mean, and as failed if one of them has no value. Rows with a selection other than
        "dimension" and "inner_cv" (such as "iteration") are left out. A failed fit that does not know its rule or
        selection has "" there, and a row whose ``metric`` is "" counts for every metric; without the column all rows
        are accuracies.
    predictions : Predictions, optional
        Predictions of the test samples, from which the intervals are computed (see :mod:`mklearn.base.statistics`).
        Without them, and for metrics without values of samples, they are Nadeau and Bengio's.
    reference : str, default="average"
        Method id that differences are taken to: paired on common (repeat, fold), for the same metric, neighbour rule,
        selection and, if it has one, kernel set. Without such rows the difference is NaN.
    neighbour : str
        Rule of a reference with several that methods without a rule are compared with: the headline's; "" is the first.
    published : sequence of dict
        ``{"dataset", "train_size", "method", "value", "std", "source"}`` and optionally ``"dimension"`` and
        ``"repeats"`` of the published value, and ``"neighbour"``, ``"selection"``, ``"protocol"``, ``"kernel_set"``; a
        key that is absent or None matches anything. ``value`` has the unit of the scores (a fraction). Of several that
        match a row, the one that names most keys is taken. ``"metric"`` is that of the value, by default accuracy.
    titles : dict, optional
        ``{"datasets": {id: title}, "methods": {id: title}}``; the default title is the id.
    calibration : dict, optional
        ``{"method", "tolerance"}`` of :func:`mklearn.study.evaluation.reproduction.compare_published`, which gives the
        columns ``z`` and ``verdict`` of ``oracle`` rows with a published value.
    tolerance : Tolerance, optional
        The difference up to which a published value counts as reproduced.

    Returns
    -------
    summary : DataFrame
        Columns ``SUMMARY_COLUMNS``, rows in the order in which data sets, sizes and methods first appear. Every method
        has a row, also when no repeat gave a value: then the numbers are NaN, and status and message say why.
        ``n_repeats`` counts repeats with a value, ``n_failed`` those without. For ``oracle`` only dimensions that the
        largest number of repeats reached take part; ties go to the fewest dimensions. For ``inner_cv`` the dimension is
        the (low) median of the chosen ones. ``p_value`` is that of the difference, ``p_holm`` adjusts it for all
        comparisons in the same setting, by the same metric and selection. ``disagreement`` is the share of
        test samples on which exactly one of the method and the reference is right. ``majority`` is the value of the
        metric for labels that are all the majority class, where it takes nothing but labels.

    Raises
    ------
    DataError
        Columns that are missing, or two values for the same repeat and dimension.
    """
    missing = [column for column in SCORE_COLUMNS if column not in scores.columns]
    if missing:
        raise DataError(f"the score table lacks the columns {', '.join(missing)}")
    groups = list(_groups(scores))
    references = _references(groups, reference)
    rows = [_row(group, _reference(group, references, neighbour), predictions) for group in groups]
    table = pd.DataFrame(rows, columns=SUMMARY_COLUMNS)
    table["p_holm"] = corrected(table)
    names = titles or {}
    for kind in ("dataset", "method"):
        known = names.get(f"{kind}s", {})
        table[f"{kind}_title"] = [known.get(key, key) for key in table[kind]]
    _add_published(table, published)
    counts = ("train_size", "dimension", "n_repeats", "n_failed", "published_dimension", "published_repeats")
    table = table.astype(
        dict.fromkeys(counts, "Int64")
        | {name: "float64" for name in SUMMARY_COLUMNS if name.endswith(("mean", "std", "low", "high"))}
        | dict.fromkeys(("majority", "difference", "p_value", "p_holm", "disagreement", "published", "z"), "float64")
    )
    cells = compare_published(table, calibration, tolerance).cells
    table["z"] = cells["z"].reindex(table.index)
    table["verdict"] = cells["verdict"].reindex(table.index).fillna("").astype(str)
    return table


def corrected(summary: pd.DataFrame) -> pd.Series:
    """Return the p-values of a summary by Holm's method, for all in one setting, by one metric and selection."""
    families = summary.groupby([*SETTING, "metric", "selection"], dropna=False, sort=False)["p_value"]
    return families.transform(lambda values: holm(values.to_numpy(dtype=np.float64)))


class _Group(NamedTuple):
    """The values behind one summary row: one for each (repeat, fold) or draw, NaN where it failed."""

    keys: dict[str, Any]  # setting, method, kernel_set, metric, neighbour, selection
    units: pd.DataFrame  # by repeat and fold, or by draw of several models: value, n_train, n_test, fit_seconds
    incomplete: pd.MultiIndex  # repeat and fold of the models of draws in which one has no value
    dimension: int | None
    status: str
    message: str


def _groups(scores: pd.DataFrame) -> Iterator[_Group]:
    """Yield every (setting, method, kernel set, metric, neighbour rule, selection), in order of first appearance."""
    order = [*SETTING, "method", "kernel_set"]
    frame = scores[SCORE_COLUMNS].assign(
        metric=scores.get("metric", "accuracy"), test_part=scores.get("test_part", scores["fold"]),
        n_validation=scores.get("n_validation", 0),
    )  # fmt: skip
    for column in ("metric", "kernel_set", "neighbour", "selection", "status", "message", "protocol"):
        frame[column] = frame[column].astype(object).where(frame[column].notna(), "").astype(str)
    repeat, fold, part = (
        frame[column].astype("Int64").fillna(0).astype("int64") for column in ("repeat", "fold", "test_part")
    )
    frame["unit"] = repeat * (fold.max() + 1) + fold  # one number: a table of many groups is all look-ups by it
    frame["draw"] = repeat * (fold.max() + 1) + part
    frame["value"] = frame["value"].astype("float64")
    frame = frame[frame["selection"].isin(_COUNTED)]
    frame["usable"] = frame["value"].notna() & ~frame["status"].isin(["failed", "not_applicable"])
    metrics = [name for name in dict.fromkeys(frame["metric"]) if name] or ["accuracy"]
    for keys, rows in frame.groupby(order, sort=False, dropna=False):
        for metric in metrics:
            fixed = dict(zip(order, keys, strict=True)) | {"metric": metric}
            yield from _groups_of_metric(fixed, rows[rows["metric"].isin([metric, ""])])


def _groups_of_metric(fixed: dict[str, Any], rows: pd.DataFrame) -> Iterator[_Group]:
    """Yield the groups of one method and metric: each neighbour rule and selection."""
    usable = rows[rows["usable"]]
    # A fit that failed may not know its rule and selection; it then counts against each that others have.
    neighbours = list(dict.fromkeys(usable["neighbour"])) or list(dict.fromkeys(rows["neighbour"]))
    named = set(rows["selection"]) & set(_SELECTION_OF_ROWS.values())
    for neighbour in neighbours:
        for selection, tag in _SELECTION_OF_ROWS.items():
            if named and tag not in named:
                continue
            own = rows[rows["neighbour"].isin([neighbour, ""]) & rows["selection"].isin([tag, ""])]
            own = own[~own["usable"] | own["neighbour"].eq(neighbour)]
            if not own.empty:
                yield _group(fixed | {"neighbour": neighbour, "selection": selection}, own)


def _group(keys: dict[str, Any], rows: pd.DataFrame) -> _Group:
    usable = rows[rows["usable"]]
    if usable.duplicated(["unit", "dimension"]).any() or (
        keys["selection"] == "inner_cv" and usable.duplicated("unit").any()
    ):
        raise DataError(
            f"the score table has two values of method {keys['method']!r} ({keys['metric']}, {keys['selection']}, data "
            f"set {keys['dataset']!r}) for the same repeat, fold and dimension"
        )
    chosen, dimension = usable, None
    if not usable.empty and keys["selection"] == "oracle":
        chosen, dimension = _best_dimension(usable, metric_named(keys["metric"]).larger_is_better)
    elif not usable.empty and usable["dimension"].notna().any():
        ordered = sorted(usable["dimension"].dropna().astype(int))
        dimension = ordered[(len(ordered) - 1) // 2]
    # sizes as far as any row knows them, values as far as there are any
    sizes = rows.groupby("unit")[["n_train", "n_test", "n_validation", "draw"]].first()
    units = sizes.join(chosen.set_index("unit")[["value", "fit_seconds"]])
    incomplete = pd.MultiIndex.from_frame(rows.loc[[], ["repeat", "fold"]])
    if not sizes["draw"].is_unique:
        complete = units["value"].notna().groupby(units["draw"]).all()
        lacking = rows["draw"].isin(complete.index[~complete])
        incomplete = pd.MultiIndex.from_frame(rows.loc[lacking, ["repeat", "fold"]].drop_duplicates())
        units = units.groupby("draw", sort=False).mean()
        units["value"] = units["value"].where(complete)
    status = _worst(chosen["status"] if len(chosen) else rows["status"])
    notes = rows.loc[rows["message"].ne("") & (rows["status"].ne("ok") | rows["usable"]), "message"]
    return _Group(keys, units, incomplete, dimension, status, "; ".join(dict.fromkeys(notes)))


def _best_dimension(usable: pd.DataFrame, larger_is_better: bool) -> tuple[pd.DataFrame, int | None]:
    """Return the rows at the best dimension of the mean curve; all rows of a method that has no dimension."""
    if usable["dimension"].isna().all():
        return usable, None
    best = best_dimension(usable, larger_is_better)
    return usable[usable["dimension"].eq(best).fillna(False)], best


def _references(groups: Sequence[_Group], reference: str) -> dict[tuple[Any, ...], list[_Group]]:
    """Return the reference method's groups by setting, metric, rule and selection."""
    found: dict[tuple[Any, ...], list[_Group]] = {}
    for group in groups:
        if group.keys["method"] == reference:
            found.setdefault(_place(group), []).append(group)
    return found


def _reference(group: _Group, references: Mapping[tuple[Any, ...], list[_Group]], neighbour: str) -> _Group | None:
    """Return the reference method's group in the same place; of the same kernel set if there is one."""
    found = references.get(_place(group), [])
    if not found:  # one of both is a classifier: an embedding is then taken by the headline's rule
        setting, selection = _place(group)[:-2], group.keys["selection"]
        places = [place for place in references if place[:-2] == setting and place[-1] == selection]
        places.sort(key=lambda place: place[-2] != neighbour)  # stable: without that rule the first one
        found = [other for place in places[:1] for other in references[place] if _has_no_rule(group, other)]
    same = [other for other in found if other.keys["kernel_set"] == group.keys["kernel_set"]]
    return next(iter(same or found), None)


def _has_no_rule(*groups: _Group) -> bool:
    return any(not group.keys["neighbour"] for group in groups)


def _place(group: _Group) -> tuple[Any, ...]:
    values = (group.keys[key] for key in (*SETTING, "metric", "neighbour", "selection"))
    return tuple(None if pd.isna(value) else value for value in values)


def _row(group: _Group, reference: _Group | None, predictions: Predictions | None) -> dict[str, Any]:
    values, metric = group.units["value"], metric_named(group.keys["metric"])
    row: dict[str, Any] = group.keys | {
        "dimension": group.dimension,
        "n_repeats": int(values.notna().sum()),
        "n_failed": int(values.isna().sum()),
        "mean": mean(values),
        "std": standard_deviation(values),
        "fit_seconds_mean": mean(group.units["fit_seconds"].astype("float64")),
        "status": group.status,
        "message": group.message,
    }
    interval = _interval(group, predictions)
    row |= {"ci_low": _within(interval.low, metric.bounds), "ci_high": _within(interval.high, metric.bounds)}
    row["majority"] = math.nan if predictions is None else predictions.majority_value(group.keys)
    if reference is not None:
        paired = _paired(group, reference, predictions)
        row |= {
            "difference": paired.mean, "difference_low": paired.low, "difference_high": paired.high,
            "p_value": paired.p_value,
            "disagreement": paired.disagreement if metric.mean_of_samples else math.nan,
        }  # fmt: skip
    return row


def _interval(group: _Group, predictions: Predictions | None) -> Interval:
    n_train, n_test = _sizes(group.units)
    found = _outcomes(group, predictions)
    if found is not None:
        bounds = metric_named(group.keys["metric"]).bounds
        return sample_interval(found.values, n_train, draws=found.draws, bounds=bounds)
    if not n_train * n_test > 0:  # no split is known
        return Interval(math.nan, math.nan, math.nan)
    return corrected_resampled_interval(group.units["value"], n_train, n_test)


def _paired(group: _Group, reference: _Group, predictions: Predictions | None) -> Difference:
    if reference is group and group.units["value"].notna().any():
        return Difference(0.0, 0.0, 0.0, math.nan, 0.0)
    values = group.units.join(reference.units["value"].rename("reference"), how="inner")
    n_train, n_test = _sizes(values)
    one, other = _outcomes(group, predictions), _outcomes(reference, predictions)
    if one is not None and other is not None:
        both, bounds = common(one, other), metric_named(group.keys["metric"]).bounds
        return paired_sample_difference(both.first, both.second, n_train, draws=both.draws, bounds=bounds)
    if not n_train * n_test > 0:
        return Difference(*[math.nan] * 5)
    return paired_difference(values["value"], values["reference"], n_train, n_test)


def _outcomes(group: _Group, predictions: Predictions | None) -> Outcomes | None:
    """Return the values of samples behind the group's values: without draws that have none."""
    found = None if predictions is None else predictions.outcomes(group.keys)
    return found if found is None or group.incomplete.empty else found.without(group.incomplete)


def _sizes(units: pd.DataFrame) -> tuple[float, float]:
    """Return the mean numbers of training and test samples of the splits that know them; NaN if none does.

    Validation samples count as training samples: they are those of other models of the draw.
    """
    known = units[["n_train", "n_test", "n_validation"]].astype("float64").dropna()
    return float((known["n_train"] + known["n_validation"]).mean()), float(known["n_test"].mean())


def _within(value: float, bounds: tuple[float, float]) -> float:
    """Return an end of an interval, moved between the bounds of the metric."""
    return value if math.isnan(value) else min(max(value, bounds[0]), bounds[1])


def _worst(statuses: pd.Series) -> str:
    seen = set(statuses)
    unknown = sorted(seen - set(STATUSES))
    return unknown[0] if unknown else max(seen, key=STATUSES.index)


def _add_published(table: pd.DataFrame, published: Sequence[Mapping[str, Any]]) -> None:
    """Write the best matching published value into the columns of a table that this module made."""
    entries = [{"metric": "accuracy", **entry} for entry in published]
    found: list[Mapping[str, Any]] = []
    for row in plain_records(table):
        fits = [entry for entry in entries if is_about(entry, row)]
        found.append(max(fits, key=lambda entry: sum(entry.get(key) is not None for key in NAMED_BY), default={}))
    for column, key in (("", "value"), ("_std", "std"), ("_dimension", "dimension"), ("_repeats", "repeats")):
        table[f"published{column}"] = [entry.get(key) for entry in found]
    table["published_source"] = [str(entry.get("source") or "") for entry in found]
