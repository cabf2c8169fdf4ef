"""Predictions for single test samples: the table of each fit, and the metrics' values per sample from it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

import mklearn.study.evaluation.metrics.functions  # noqa: F401 # loaded by name: its code counts for the steps that import this
from mklearn.errors import NotApplicable, SolverFailed
from mklearn.rows import load
from mklearn.study.evaluation.metrics.metric import Metric, metric_named
from mklearn.study.evaluation.outputs import MethodOutput, RulePredictions, SplitRecord

COLUMNS = (
    "dataset", "protocol", "train_size", "method", "repeat", "fold", "neighbour", "sample", "true", "predicted",
    "predicted_oracle", "decision_value",
)  # fmt: skip
"""Columns of the prediction table, with a row for each test sample of each split and nearest-neighbour rule.

Samples are ids. ``true`` and ``predicted`` are class codes, or floats if the target is a number.

``predicted`` uses the number of components that was chosen without the test samples (missing if the choice failed),
``predicted_oracle`` the best number on the test samples (missing for a method without components, unless its parameters
were chosen on the test samples). ``decision_value`` belongs to the predicted class, or to the second of two classes.
For survival, ``true`` is the time, negative if it is censored, ``predicted`` the risk, and ``decision_value`` the
predicted probability of surviving the median time of events in the split's training samples.
If samples have groups, ``group`` has them, and ``new_group`` is True if no training sample of the split has the group.
Metrics other than the accuracy have a column ``value_METRIC``, at the chosen number of components (see
:mod:`mklearn.study.evaluation.metrics.sample_values`).
"""
VALUE = "value_"
"""Prefix of the columns with a metric's values per sample."""
GROUP_COLUMNS = {"group": "category", "new_group": "boolean"}
SELECTED = {"inner_cv": "predicted", "oracle": "predicted_oracle"}
"""Column with the predictions for each selection of the summary table."""
SETTING = ["dataset", "protocol", "train_size"]
GROUP = [*SETTING, "method", "neighbour"]


def prediction_table(
    splits: Sequence[SplitRecord], fit: Mapping[str, Any], y: NDArray[Any], ids: NDArray[np.str_],
    metrics: Sequence[str] = ("accuracy",), groups: NDArray[np.str_] | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Build the table of one fit at one training size, with a column for each metric that has values per sample.

    ``fit`` has the keys ``dataset``, ``protocol``, ``train_size`` and ``method``. ``y``, ``ids`` and
    ``groups`` cover all samples of the data set.
    """
    oracles = {rule: _oracle(rule, splits, y) for rule in dict.fromkeys(rule for s in splits for rule in s.rules)}
    by_sample = [metric for metric in map(metric_named, metrics) if metric.by_sample]
    frames = []
    for split in splits:
        place = {name: split.facts[name] for name in ("repeat", "fold")} | {"sample": ids[split.test]}
        if groups is not None and split.rules:
            place |= {"group": groups[split.test], "new_group": ~np.isin(groups[split.test], groups[split.train])}
        missing = np.full(len(split.test), np.nan if y.dtype.kind == "f" else -1)
        for rule, made in split.rules.items():
            best, components, position = oracles[rule], list(made.components), made.position
            of_classifier = made.labels[0] if position is None and not components else missing
            columns = place | {
                "neighbour": rule,
                "true": y[split.test],
                "predicted": missing if position is None else made.labels[position],
                "predicted_oracle": made.labels[components.index(best)] if best in components else of_classifier,
                "decision_value": _decision_values(made.outputs[-1 if position is None else position]),
            }
            frames.append(pd.DataFrame(columns | _sample_values(made, by_sample)))
    table = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=list(COLUMNS))
    return typed(table.assign(**{name: fit[name] for name in GROUP[:-1]}))


def _decision_values(output: MethodOutput) -> NDArray[np.float64]:
    """Return the decision values of the predicted classes, or of the second of two classes; NaN if there are none.

    For survival, return the probability of surviving the median time.
    """
    if (survival := output.lookup("survival")) is not None:
        return np.asarray(survival[:, survival.shape[1] // 2])
    try:
        values = output.class_scores
    except NotApplicable:
        return np.full(len(output.y), np.nan)
    if values.ndim == 2:
        predicted = 1 if values.shape[1] == 2 else np.searchsorted(output.classes, output.labels)
        values = values[np.arange(len(values)), predicted]
    return np.asarray(values)


def _sample_values(made: RulePredictions, metrics: Sequence[Metric]) -> dict[str, NDArray[np.float64]]:
    """Return the columns of metrics with values per sample, at the chosen number of components."""
    if made.position is None:
        return {}
    columns, output = {}, made.outputs[made.position]
    for metric in metrics:
        with suppress(NotApplicable, SolverFailed):
            metric.score(output)  # raises if the metric has no value
            columns[f"{VALUE}{metric.kind}"] = metric.sample_values(output)
    return columns


def typed(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with its columns in order and typed: texts as categories, a missing class as NA."""
    of_metrics = [name for name in table if str(name).startswith(VALUE)]
    of_groups = {name: kind for name, kind in GROUP_COLUMNS.items() if name in table}
    kinds = of_groups | {"repeat": "int32", "fold": "int32", "train_size": "Int32"}
    table = table[[*COLUMNS, *of_groups, *of_metrics]].astype(kinds)
    if table["true"].dtype.kind == "f":
        table = table.astype(dict.fromkeys(("true", *SELECTED.values()), "float64"))
    else:
        table = table.astype({"true": "int32"})
        for name in SELECTED.values():
            codes = table[name].astype("Int32")
            table[name] = codes.mask(codes.lt(0))
    words = ("dataset", "protocol", "method", "neighbour", "sample")
    return table.astype(dict.fromkeys(["decision_value", *of_metrics], "float32") | dict.fromkeys(words, "category"))


def _oracle(rule: str, splits: Sequence[SplitRecord], y: NDArray[np.int64]) -> int | None:
    """Return the number of components with the best mean test accuracy; None for a classifier without components."""
    curve = [
        (component, float(np.mean(labels == y[split.test])))
        for split in splits
        if rule in split.rules
        for component, labels in zip(split.rules[rule].components, split.rules[rule].labels, strict=False)
    ]
    return best_dimension(*np.transpose(curve)) if curve else None


def best_dimension(dimensions: ArrayLike, values: ArrayLike, larger_is_better: bool = True) -> int:
    """Return the dimension with the best mean over the splits; ties go to the smallest.

    The arrays have an entry for each split and dimension; entries with a NaN dimension are ignored. Only the dimensions
    that the largest number of splits reached take part, so that no dimension wins by a single lucky split.
    """
    dimensions, values = np.asarray(dimensions, dtype=np.float64), np.asarray(values, dtype=np.float64)
    has_dimension = ~np.isnan(dimensions)
    numbers, place, counts = np.unique(dimensions[has_dimension], return_inverse=True, return_counts=True)
    means = np.bincount(place, values[has_dimension]) / counts
    heights = np.where(counts == counts.max(), means if larger_is_better else -means, -np.inf)
    return int(numbers[np.argmax(heights >= heights.max() - 1e-12)])


class Predictions:
    """The predictions of a study, by method and setting.

    ``table`` has the columns ``COLUMNS``, for any number of fits. The argument ``keys`` of the methods is a row of the
    summary table: ``dataset``, ``protocol``, ``train_size``, ``method``, ``neighbour``, ``selection`` and
    ``metric``.
    """

    def __init__(self, table: pd.DataFrame) -> None:
        self._table = table
        self._outcomes: dict[tuple[Any, ...], pd.DataFrame | None] = {}
        self._majority: dict[tuple[Any, ...], float] = {}

    @cached_property
    def _groups(self) -> dict[tuple[Any, ...], pd.DataFrame]:
        grouped = self._table.groupby(GROUP, observed=True, dropna=False, sort=False)
        return {plain_key(key): rows for key, rows in grouped}

    def by_rule(self, keys: Mapping[str, Any]) -> pd.DataFrame | None:
        """Return the rows of a method in one setting, by one rule unless it is a classifier; None if it has no rows."""
        rows = self._groups.get(_key(keys))
        return self._groups.get(_key({**keys, "neighbour": ""})) if rows is None else rows

    def confusion(self, keys: Mapping[str, Any], n_classes: int) -> NDArray[np.int64]:
        """Count the test samples of `by_rule` by true class (row) and predicted class (column).

        Predictions use the number of components that was chosen without the test samples.
        """
        counts = np.zeros((n_classes, n_classes), dtype=np.int64)
        rows = self.by_rule(keys)
        if rows is not None:
            predicted = rows[rows["predicted"].notna()]
            np.add.at(counts, (predicted["true"].to_numpy(), predicted["predicted"].to_numpy(dtype=np.int64)), 1)
        return counts

    def outcomes(self, keys: Mapping[str, Any]) -> pd.DataFrame | None:
        """Return a metric's values for each split (rows, by repeat and fold) and test sample (columns) of a method.

        They are NaN where a split does not test a sample, and 1 (right) and 0 (wrong) for the accuracy. None is
        returned if no split has predictions, for a metric without values per sample, and for oracle values of metrics
        other than the accuracy, because oracle predictions are stored only at the dimension with the best accuracy.
        """
        metric = metric_named(keys["metric"])
        name = (*_key(keys), keys["selection"], metric.kind)
        if name not in self._outcomes:  # cached: every comparison needs the reference method's outcomes
            rows, is_accuracy = self._groups.get(_key(keys)), metric.kind == "accuracy"
            chosen = SELECTED[keys["selection"]] if is_accuracy else f"{VALUE}{metric.kind}"
            self._outcomes[name] = None
            if rows is not None and chosen in rows and (is_accuracy or keys["selection"] == "inner_cv"):
                self._outcomes[name] = _outcomes(rows[rows[chosen].notna()], chosen, is_accuracy)
        return self._outcomes[name]

    def design(self, keys: Mapping[str, Any], outcomes: pd.DataFrame) -> dict[str, Any]:
        """Return the arguments of :func:`mklearn.base.statistics.sample_interval` that belong to the `outcomes`."""
        return {
            "draws": _draws(outcomes), "bounds": metric_named(keys["metric"]).bounds,
            "groups": self.held_out_groups(keys, outcomes), "class_sizes": self.class_sizes(keys),
        }  # fmt: skip

    def held_out_groups(self, keys: Mapping[str, Any], outcomes: pd.DataFrame) -> pd.Series | None:
        """Return the group of each sample of the `outcomes` if every split holds out whole groups, else None.

        None is also returned for a single group, and for groups of one sample each.
        """
        rows = self._groups.get(_key(keys))
        if rows is None or "new_group" not in rows or not rows["new_group"].fillna(False).all():
            return None
        groups = rows.drop_duplicates("sample").astype({"sample": str, "group": str}).set_index("sample")["group"]
        groups = groups[outcomes.columns]
        return groups if 1 < groups.nunique() < len(groups) else None

    def majority_value(self, keys: Mapping[str, Any]) -> float:
        """Compute the mean over splits of a metric when every prediction is the majority class of the tested samples.

        Only splits in which the method has predictions count. The value is NaN without predictions, for a numeric
        target, and for a metric that needs more than labels.
        """
        metric, rows = metric_named(keys["metric"]), self._groups.get(_key(keys))
        labelled = "classes" in metric.targets and {"y", "labels"}.issuperset(metric.needs)
        if rows is None or rows.empty or not labelled:
            return math.nan
        splits, split, n_folds = _numbered(rows)
        name = (*_key(keys, SETTING), metric.kind, n_folds, splits.tobytes())
        if name not in self._majority:
            true, (classes, counts) = rows["true"].to_numpy(), _class_counts(rows)
            largest, compute = classes[counts.argmax()], load(metric.implementation)
            parts = (true[split == number] for number in range(len(splits)))
            self._majority[name] = float(np.mean([compute(y, np.full(len(y), largest)) for y in parts]))
        return self._majority[name]

    def class_sizes(self, keys: Mapping[str, Any]) -> NDArray[np.intp] | None:
        """Return the numbers of tested samples of the classes that a metric is a mean over; None for other metrics.

        For the recall of the smallest class it is the smallest number, a lower bound: the class is smallest among the
        training samples.
        """
        metric, rows = metric_named(keys["metric"]), self._groups.get(_key(keys))
        if not metric.over_classes or rows is None or rows.empty:
            return None
        _, counts = _class_counts(rows)
        return counts[[counts.argmin()]] if metric.kind == "minority_recall" else counts


def _class_counts(rows: pd.DataFrame) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the classes of the tested samples, and the number of samples of each."""
    _, once = np.unique(rows["sample"].cat.codes, return_index=True)
    return np.unique(rows["true"].to_numpy()[once], return_counts=True)


def _outcomes(rows: pd.DataFrame, column: str, is_accuracy: bool) -> pd.DataFrame | None:
    if rows.empty:
        return None
    values = rows[column].to_numpy(dtype=np.float64)
    if is_accuracy:
        values = (values == rows["true"].to_numpy()).astype(np.float64)
    numbers, unit, n_folds = _numbered(rows)
    codes, sample = np.unique(rows["sample"].cat.codes, return_inverse=True)
    table = np.full((len(numbers), len(codes)), np.nan)
    table[unit, sample] = values
    units = pd.MultiIndex.from_arrays([numbers // n_folds, numbers % n_folds], names=["repeat", "fold"])
    return pd.DataFrame(table, units, rows["sample"].cat.categories[codes].astype(str))


def _numbered(rows: pd.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.intp], int]:
    """Return the split numbers ``repeat * n_folds + fold``, the position of each row among them, and n_folds."""
    repeat, fold = rows["repeat"].to_numpy(np.int64), rows["fold"].to_numpy(np.int64)
    n_folds = int(fold.max()) + 1
    numbers, split = np.unique(repeat * n_folds + fold, return_inverse=True)
    return numbers, split, n_folds


def without(outcomes: pd.DataFrame, units: pd.MultiIndex) -> pd.DataFrame | None:
    """Return the outcomes of all other splits, for the samples that they test; None if no split is left."""
    rest = outcomes[~outcomes.index.isin(units)].dropna(axis=1, how="all")
    return rest if len(rest) else None


def common(first: pd.DataFrame, second: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the outcomes of two methods for the splits and samples that both have, NaN where either is missing."""
    units = first.index.intersection(second.index, sort=False)
    samples = first.columns.intersection(second.columns, sort=False)
    one, other = (each.reindex(index=units, columns=samples) for each in (first, second))
    tested = one.notna() & other.notna()
    return one.where(tested), other.where(tested)


def _draws(outcomes: pd.DataFrame) -> NDArray[np.intp]:
    """Number the draw of each split; splits of the same repeat that test the same samples share a draw."""
    tested = outcomes.notna().to_numpy()
    keys = zip(outcomes.index.get_level_values("repeat"), (row.tobytes() for row in tested), strict=True)
    numbers: dict[tuple[int, bytes], int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)


def _key(keys: Mapping[str, Any], names: Sequence[str] = GROUP) -> tuple[Any, ...]:
    return plain_key(keys[name] for name in names)


def plain_key(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return column values as a hashable key, with None in place of missing values."""
    return tuple(None if pd.isna(value) else value for value in values)
