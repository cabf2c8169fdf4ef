"""Summary of the score table: one row for each setting, method, metric, rule and selection.

The selection ``oracle`` is the best value of the *mean test* curve, as in published tables: scores are averaged over
repeats, and the best dimension of the mean is taken. ``inner_cv`` is the mean of the values that inner cross-validation
chose within the training samples.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklearn.base.statistics import (
    Difference,
    corrected_resampled_interval,
    holm,
    mean,
    paired_difference,
    paired_sample_difference,
    sample_interval,
    standard_deviation,
)
from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.predictions import COLUMNS, Predictions, best_dimension, common, plain_key, without
from mklearn.study.evaluation.reproduction import NAMED_BY, is_about, judged, plain_records
from mklearn.study.specs.table_specs import Calibration, Tolerance

SETTING = ["study", "dataset", "protocol", "train_size"]
UNIT = ["repeat", "fold"]
SUMMARY_COLUMNS = [
    "study", "dataset", "dataset_title", "protocol", "train_size", "method", "method_title", "kernel_set", "metric",
    "neighbour", "selection", "dimension", "n_repeats", "n_failed", "mean", "std", "ci_low", "ci_high", "majority",
    "difference", "difference_low", "difference_high", "p_value", "p_holm", "disagreement", "published",
    "published_std", "published_dimension", "published_repeats", "published_source", "z", "verdict",
    "reason", "fit_seconds", "time_ratio", "status", "message",
]  # fmt: skip

# From best to worst. Only fits with one of the first three may have a value.
STATUSES = ("ok", "inaccurate", "time_limit", "not_applicable", "out_of_memory", "failed", "lost", "missing")
SHORTEST = 1e-4
"""Lower bound in seconds for the time of a fit, so that ratios of times are finite."""
_SELECTION_OF_ROWS = {"oracle": "dimension", "inner_cv": "inner_cv"}


def summarise(
    scores: pd.DataFrame, predictions: Predictions | None = None, *, reference: str = "average", neighbour: str = "",
    published: Sequence[Mapping[str, Any]] = (), titles: Mapping[str, Mapping[str, str]] | None = None,
    calibration: Calibration | None = None, tolerance: Tolerance | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Return the columns `SUMMARY_COLUMNS` for each setting, method, metric, rule and selection.

    Rows are in order of first appearance. If no repeat has a value, the numbers are NaN, and status and message give
    the reason.

    Parameters
    ----------
    scores : DataFrame
        Rows of `mklearn.study.evaluation.score_table`. A repeat of k folds counts as k values. Models of a repeat that
        share a test part (column ``test_part``) count as one value, their mean, and as failed if one of them failed.
        Rows of a failed fit may have "" as rule, selection or metric, and then count for each.
    predictions : Predictions, optional
        Source of intervals, see :mod:`mklearn.base.statistics`. Without them, and for metrics without values per
        sample, intervals follow Nadeau and Bengio.
    reference : str
        Method that all are compared with: paired on common (repeat, fold), for the same metric, neighbour rule,
        selection and, if available, kernel set. Without such rows the difference is NaN.
    neighbour : str
        Rule of the reference for comparisons with classifiers, which have no rule; "" is the reference's first rule.
    published : sequence of dict
        Published values: ``value`` (a fraction), ``source``, optionally ``std``, ``dimension`` and ``repeats``, and
        some of the keys `NAMED_BY`. A key that is absent or None matches anything, except that an absent metric is the
        accuracy. If several entries match a row, the one with most keys is used.
    titles : dict, optional
        ``{"datasets": {id: title}, "methods": {id: title}}``; the default title is the id.
    calibration, tolerance
        Arguments of `judged`, which computes ``z``, ``verdict`` and ``reason``.

    Notes
    -----
    ``n_repeats`` counts repeats with a value, ``n_failed`` repeats without one. ``oracle`` compares only the dimensions
    that the largest number of repeats reached; ties go to the fewest dimensions. For ``inner_cv``, ``dimension`` is the
    (low) median of the chosen dimensions. ``p_holm`` adjusts the p-value of the difference for all comparisons in the
    same setting, by the same metric and selection. ``disagreement`` is the proportion of test samples on which exactly
    one of the method and the reference is right. ``fit_seconds`` is the median processor time of a fit, and
    ``time_ratio`` the median ratio to the reference's on the same split or draw. ``majority`` is the value of the
    metric if every prediction is the majority class; NaN for metrics that need more than labels.
    """
    predictions = predictions or Predictions(pd.DataFrame(columns=COLUMNS))
    groups = list(_groups(scores))
    references: dict[tuple[Any, ...], list[_Group]] = {}
    for group in groups:
        if group.keys["method"] == reference:
            references.setdefault(_place(group), []).append(group)
    rows = [_row(group, _reference(group, references, neighbour), predictions) for group in groups]
    table = pd.DataFrame(rows, columns=SUMMARY_COLUMNS)
    table["p_holm"] = corrected(table)
    for kind in ("dataset", "method"):
        names = (titles or {}).get(f"{kind}s", {})
        table[f"{kind}_title"] = [names.get(key, key) for key in table[kind]]
    _add_published(table, published)
    counts = ("train_size", "dimension", "n_repeats", "n_failed", "published_dimension", "published_repeats")
    shares = [name for name in SUMMARY_COLUMNS if name.endswith(("mean", "std", "low", "high", "seconds", "ratio"))]
    shares += ["majority", "difference", "p_value", "p_holm", "disagreement", "published", "z"]
    table = table.astype(dict.fromkeys(counts, "Int64") | dict.fromkeys(shares, "float64"))
    verdicts = judged(table, calibration, tolerance).reindex(table.index)
    return table.assign(z=verdicts["z"], verdict=_words(verdicts["verdict"]), reason=_words(verdicts["reason"]))


def corrected(summary: pd.DataFrame) -> pd.Series:
    """Return Holm's adjusted p-values; a family has the same setting, metric and selection."""
    families = summary.groupby([*SETTING, "metric", "selection"], dropna=False, sort=False)["p_value"]
    return families.transform(lambda values: holm(values.to_numpy(dtype=np.float64)))


_Rows = NDArray[Any]
"""Score rows as a structured array; a DataFrame for every group would dominate the run time."""
_UNITS = ("number", "value", "fit_seconds", "n_train", "n_test", "n_validation")
"""Columns of the units behind a summary row: splits, or draws of several models that share a test part. NaN is unknown;
``number`` encodes repeat and fold of a split, or repeat and test part of a draw."""


class _Group(NamedTuple):
    """The values behind one summary row: one for each split or draw, NaN if it failed."""

    keys: dict[str, Any]  # setting, method, kernel_set, metric, neighbour, selection
    units: _Rows  # _UNITS
    incomplete: pd.MultiIndex | None  # repeat and fold of all models of incomplete draws
    dimension: int | None
    status: str
    message: str


def _groups(scores: pd.DataFrame) -> Iterator[_Group]:
    names = [*SETTING, "method", "kernel_set"]
    fixed = scores[names].assign(protocol=_words(scores["protocol"]), kernel_set=_words(scores["kernel_set"]))
    rows = _structured(scores)
    metrics = [name for name in dict.fromkeys(rows["metric"]) if name] or ["accuracy"]
    places = fixed.assign(place=range(len(fixed))).groupby(names, sort=False, dropna=False)["place"]
    for keys, place in places:
        of_method = rows[place.to_numpy()]
        for metric in metrics:
            of_metric = of_method[np.isin(of_method["metric"], [metric, ""])]
            yield from _groups_of_metric(dict(zip(names, keys, strict=True)) | {"metric": metric}, of_metric)


def _structured(scores: pd.DataFrame) -> _Rows:
    whole = {"repeat": scores["repeat"], "fold": scores["fold"], "part": scores["test_part"]}
    rows: dict[str, NDArray[Any]] = {
        name: column.astype("Int64").fillna(0).to_numpy(np.int64) for name, column in whole.items()
    }
    numbers = {name: scores[name] for name in ("dimension", "value", "n_train", "n_test", "n_validation")}
    numbers["fit_seconds"] = scores["fit_seconds"].clip(lower=SHORTEST)
    rows |= {name: column.to_numpy(np.float64, na_value=math.nan) for name, column in numbers.items()}
    rows |= {name: _words(scores[name]) for name in ("neighbour", "selection", "status", "message", "metric")}
    rows["usable"] = ~np.isnan(rows["value"]) & ~np.isin(rows["status"], ["failed", "not_applicable"])
    n_folds = rows["fold"].max(initial=0) + 1
    rows["unit"], rows["draw"] = (rows["repeat"] * n_folds + rows[name] for name in ("fold", "part"))
    return _table(rows)


def _table(columns: Mapping[str, NDArray[Any]]) -> _Rows:
    return np.rec.fromarrays(columns.values(), [(name, column.dtype) for name, column in columns.items()])


def _words(column: pd.Series) -> NDArray[np.object_]:
    return column.astype(object).where(column.notna(), "").astype(str).to_numpy(object)


def _groups_of_metric(fixed: dict[str, Any], rows: _Rows) -> Iterator[_Group]:
    usable = rows["usable"]
    # A failed fit may have no rule and selection; it then counts as failed for each that other rows have.
    neighbours = list(dict.fromkeys(rows["neighbour"][usable])) or list(dict.fromkeys(rows["neighbour"]))
    named = set(rows["selection"]) & set(_SELECTION_OF_ROWS.values())
    for neighbour in neighbours:
        for selection, tag in _SELECTION_OF_ROWS.items():
            if named and tag not in named:
                continue
            chosen = (rows["neighbour"] == neighbour) | (~usable & (rows["neighbour"] == ""))
            chosen &= np.isin(rows["selection"], [tag, ""])
            if chosen.any():
                yield _group(fixed | {"neighbour": neighbour, "selection": selection}, rows[chosen])


def _group(keys: dict[str, Any], rows: _Rows) -> _Group:
    chosen = usable = rows[rows["usable"]]
    dimension = None
    dimensions = usable["dimension"][~np.isnan(usable["dimension"])]
    if len(dimensions) and keys["selection"] == "oracle":
        larger_is_better = metric_named(keys["metric"]).larger_is_better
        dimension = best_dimension(usable["dimension"], usable["value"], larger_is_better)
        chosen = usable[usable["dimension"] == dimension]
    elif len(dimensions):
        dimension = int(np.sort(dimensions)[(len(dimensions) - 1) // 2])
    units, incomplete = _units(rows, chosen)
    status = _worst(chosen["status"] if len(chosen["status"]) else rows["status"])
    notes = rows["message"][(rows["message"] != "") & ((rows["status"] != "ok") | rows["usable"])]
    return _Group(keys, units, incomplete, dimension, status, "; ".join(dict.fromkeys(notes)))


def _units(rows: _Rows, chosen: _Rows) -> tuple[_Rows, pd.MultiIndex | None]:
    """Return the units: the values of ``chosen``, and the sizes known from any row.

    For draws, also return the repeat and fold of the models of incomplete ones.
    """
    numbers, first = np.unique(rows["unit"], return_index=True)
    columns: dict[str, NDArray[Any]] = {"number": numbers}
    for name in _UNITS[1:]:
        source = chosen if name in ("value", "fit_seconds") else rows
        column, kept = np.full(len(numbers), math.nan), source[~np.isnan(source[name])]
        column[np.searchsorted(numbers, kept["unit"])] = kept[name]
        columns[name] = column
    draw = rows["draw"][first]
    if len(np.unique(draw)) == len(draw):
        return _table(columns), None
    units = pd.DataFrame(columns)
    means = units.groupby(draw, sort=False).mean()
    without = units["value"].isna().groupby(draw, sort=False).any()
    models = pd.DataFrame({name: rows[name][np.isin(rows["draw"], without.index[without])] for name in UNIT})
    means = means.assign(number=means.index, value=means["value"].where(~without))
    return means.to_records(index=False), pd.MultiIndex.from_frame(models.drop_duplicates())


def _reference(group: _Group, references: Mapping[tuple[Any, ...], list[_Group]], neighbour: str) -> _Group | None:
    """Return the group of the reference method to compare with, if possible by the same selection and kernels."""
    candidates = references.get(_place(group), [])
    if not candidates:  # one of the two is a classifier: use the headline's rule for the embedding
        setting, selection = _place(group)[:-2], group.keys["selection"]
        places = [place for place in references if place[:-2] == setting]
        places.sort(key=lambda place: (place[-1] != selection, place[-2] != neighbour))  # stable: else the first rule
        others = references[places[0]] if places else []
        candidates = [other for other in others if not (group.keys["neighbour"] and other.keys["neighbour"])]
    same = [other for other in candidates if other.keys["kernel_set"] == group.keys["kernel_set"]]
    return next(iter(same or candidates), None)


def _place(group: _Group) -> tuple[Any, ...]:
    return plain_key(group.keys[key] for key in (*SETTING, "metric", "neighbour", "selection"))


def _row(group: _Group, reference: _Group | None, predictions: Predictions) -> dict[str, Any]:
    values, metric = group.units["value"], metric_named(group.keys["metric"])
    n_failed = int(np.isnan(values).sum())
    row: dict[str, Any] = group.keys | {
        "dimension": group.dimension,
        "n_repeats": len(values) - n_failed,
        "n_failed": n_failed,
        "mean": mean(values),
        "std": standard_deviation(values),
        "fit_seconds": pd.Series(group.units["fit_seconds"]).median(),
        "status": group.status,
        "message": group.message,
    }
    n_train, n_test = _sizes(group.units)
    if (outcomes := _outcomes(group, predictions)) is None:
        interval = corrected_resampled_interval(values, n_train, n_test)
    else:
        interval = sample_interval(outcomes, n_train, **predictions.design(group.keys, outcomes))
    row["ci_low"], row["ci_high"] = (float(np.clip(end, *metric.bounds)) for end in (interval.low, interval.high))
    row["majority"] = predictions.majority_value(group.keys)
    if reference is not None:
        _, mine, others = np.intersect1d(group.units["number"], reference.units["number"], return_indices=True)
        ratios = group.units["fit_seconds"][mine] / reference.units["fit_seconds"][others]
        row["time_ratio"] = pd.Series(ratios).median()
    if reference is not None and reference.keys["selection"] == group.keys["selection"]:
        paired = _paired(group, reference, predictions)
        row |= {
            "difference": paired.mean, "difference_low": paired.low, "difference_high": paired.high,
            "p_value": paired.p_value,
            "disagreement": paired.disagreement if metric.mean_of_samples else math.nan,
        }  # fmt: skip
    return row


def _paired(group: _Group, reference: _Group, predictions: Predictions) -> Difference:
    if reference is group and not np.isnan(group.units["value"]).all():
        return Difference(0.0, 0.0, 0.0, math.nan, 0.0)
    _, mine, others = np.intersect1d(group.units["number"], reference.units["number"], return_indices=True)
    units = group.units[mine]
    n_train, n_test = _sizes(units)
    one, other = _outcomes(group, predictions), _outcomes(reference, predictions)
    if one is None or other is None:
        return paired_difference(units["value"], reference.units["value"][others], n_train, n_test)
    one, other = common(one, other)
    return paired_sample_difference(one, other, n_train, **predictions.design(group.keys, one))


def _outcomes(group: _Group, predictions: Predictions) -> pd.DataFrame | None:
    outcomes = predictions.outcomes(group.keys)
    return outcomes if outcomes is None or group.incomplete is None else without(outcomes, group.incomplete)


def _sizes(units: _Rows) -> tuple[float, float]:
    """Return the mean numbers of training and test samples over the splits with known sizes; NaN if there are none.

    Validation samples count as training samples, because other models of the draw are trained on them.
    """
    n_train, n_test = units["n_train"] + units["n_validation"], units["n_test"]
    sized = ~np.isnan(n_train) & ~np.isnan(n_test)
    return (float(n_train[sized].mean()), float(n_test[sized].mean())) if sized.any() else (math.nan, math.nan)


def _worst(statuses: NDArray[np.object_]) -> str:
    seen = set(statuses)
    unknown = sorted(seen - set(STATUSES))
    return unknown[0] if unknown else max(seen, key=STATUSES.index)


def _add_published(table: pd.DataFrame, published: Sequence[Mapping[str, Any]]) -> None:
    entries = [{"metric": "accuracy", **entry} for entry in published]
    matches: list[Mapping[str, Any]] = []
    for row in plain_records(table):
        fits = [entry for entry in entries if is_about(entry, row)]
        matches.append(max(fits, key=lambda entry: sum(entry.get(key) is not None for key in NAMED_BY), default={}))
    for column, key in (("", "value"), ("_std", "std"), ("_dimension", "dimension"), ("_repeats", "repeats")):
        table[f"published{column}"] = [entry.get(key) for entry in matches]
    table["published_source"] = [str(entry.get("source") or "") for entry in matches]
