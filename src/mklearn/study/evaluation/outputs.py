"""Predictions of a fitted method: what a fit stores of each split, and what metrics are computed from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mklearn.errors import NotApplicable
from mklearn.study.evaluation.metrics.metric import Metric

Labels = NDArray[Any]
Lookup = Callable[[str], Any]
"""Returns, by the name in `STORED`, what a fitted estimator gives for the test samples; None where it has none."""


NO_LOOKUP: Lookup = dict[str, Any]().get
"""Looks up nothing: what labels alone give."""
STORED = ("decision_function", "predict_proba", "classes", "n_support_vectors")
"""What is stored of each fitted estimator, beside the labels."""


@dataclass(frozen=True)
class MethodOutput:
    """What a fitted method gives at one number of components: the attributes that a metric can need.

    Others than the labels raise :class:`mklearn.errors.NotApplicable` where the method has none.

    Attributes
    ----------
    y_train, y, labels : labels of the training and of the test samples, and predicted labels
    lookup : see `Lookup`
    n_train, n_support_vectors : numbers of training samples and of support vectors among them
    classes : in the order of the columns of scores and probabilities
    decision_values : (m,) array for two classes, or (m, n_classes)
    probabilities : (m, n_classes) array
    class_scores : decision values, or the probabilities of a method that has none
    """

    y_train: Labels
    y: Labels
    labels: Labels
    lookup: Lookup

    n_train = property(lambda self: len(self.y_train))
    n_support_vectors = property(lambda self: int(self._first("n_support_vectors")))
    decision_values = property(lambda self: self._first("decision_function"))
    probabilities = property(lambda self: self._first("predict_proba"))
    class_scores = property(lambda self: self._first("decision_function", "predict_proba"))

    @property
    def classes(self) -> Labels:
        classes = self.lookup("classes")
        return np.unique(self.y_train) if classes is None else np.asarray(classes)

    def _first(self, *names: str) -> NDArray[Any]:
        values = next((values for values in map(self.lookup, names) if values is not None), None)
        if values is None:
            raise NotApplicable(f"the method has no {' or '.join(names)}")
        return np.asarray(values)


@dataclass(frozen=True, eq=False)
class RulePredictions:
    """Predictions of the m test samples of one split, by one nearest-neighbour rule.

    Attributes
    ----------
    y_train, y : targets of the training and of the test samples
    labels : (p, m) array
        Class codes, or numbers, with each of ``components``; for a classifier a single row.
    components : sequence of int
        Empty for a classifier without components.
    position : int or None
        Row that was chosen without the test samples; None if the choice failed.
    nearest, distances : (m,) arrays
        Position of the nearest training sample among those of the split, -1 if none decides; and its distance.
    lookups : sequence of Lookup
        What each row's estimator gives; a single one if all rows are of one estimator.
    """

    y_train: Labels
    y: Labels
    labels: Labels
    components: Sequence[int]
    position: int | None
    nearest: NDArray[np.integer[Any]]
    distances: NDArray[np.floating[Any]]
    lookups: Sequence[Lookup] = (NO_LOOKUP,)

    @cached_property
    def outputs(self) -> list[MethodOutput]:
        """What metrics are computed from: one output for each row of the labels."""
        last = len(self.lookups) - 1
        return [
            MethodOutput(self.y_train, self.y, labels, self.lookups[min(row, last)])
            for row, labels in enumerate(self.labels)
        ]

    def scores(self, metric: Metric) -> NDArray[np.float64]:
        """Compute a metric for each row of the labels; NotApplicable if one lacks what it needs."""
        return np.array([metric.score(output) for output in self.outputs])


class SplitPredictions(NamedTuple):
    """The predictions of one split by nearest-neighbour rule; ``train`` and ``test`` are indices of its samples."""

    repeat: int
    fold: int
    train: NDArray[np.integer[Any]]
    test: NDArray[np.integer[Any]]
    rules: Mapping[str, RulePredictions]


# --- storage


class SplitRecord(NamedTuple):
    """What the fit on one split leaves behind, as plain data that a process can pass on."""

    facts: dict[str, Any]
    arrays: dict[str, NDArray[Any]] = {}
    shown: dict[str, Any] | None = None
    """What a report shows of it; None if it failed."""


def stored_rule(name: str, predictions: RulePredictions) -> SplitRecord:
    """Return the predictions by a rule without the targets, which follow from the samples of the split."""
    arrays = {
        f"{name}/labels": predictions.labels.T,  # a sample's labels change little with the components: this compresses
        f"{name}/nearest": predictions.nearest,
        f"{name}/distances": predictions.distances.astype(np.float32),
    }
    for number, lookup in enumerate(predictions.lookups):
        values = {key: lookup(key) for key in STORED}
        arrays |= {f"{name}/{number}/{key}": np.asarray(each) for key, each in values.items() if each is not None}
    facts = {"components": predictions.components, "position": predictions.position}
    return SplitRecord(facts | {"n_models": len(predictions.lookups)}, arrays)


def restored_split(record: SplitRecord, y: Labels) -> SplitPredictions:
    """Return the predictions of a split from what `stored_rule` has made, given the targets of all samples."""
    facts, arrays, _ = record
    train, test = (arrays.get(part, np.array([], dtype=np.int64)) for part in ("train", "test"))
    rules = {}
    for name, of_rule in facts.get("rules", {}).items():
        starts = [f"{name}/{number}/" for number in range(of_rule["n_models"])]
        rules[name] = RulePredictions(
            y[train], y[test], np.ascontiguousarray(arrays[f"{name}/labels"].T), of_rule["components"],
            of_rule["position"], arrays[f"{name}/nearest"], arrays[f"{name}/distances"],
            [{key: arrays[start + key] for key in STORED if start + key in arrays}.get for start in starts],
        )  # fmt: skip
    return SplitPredictions(facts["repeat"], facts["fold"], train, test, rules)


def smallest(array: NDArray[Any]) -> NDArray[Any]:
    """Return numbers in the smallest type that holds them without loss."""
    if array.dtype.kind in "iu" and array.size:
        return array.astype(np.promote_types(*map(np.min_scalar_type, (array.min(), array.max()))))
    single = array.astype(np.float32) if array.dtype == np.float64 else array
    return single if np.array_equal(single, array, equal_nan=True) else array


def full_width(array: NDArray[Any]) -> NDArray[Any]:
    """Return integers and floats in 64 bits."""
    return array.astype({"i": np.int64, "u": np.int64, "f": np.float64}.get(array.dtype.kind, array.dtype))


def builtin(value: Any) -> Any:
    """Convert to builtin types, with None in place of NaN and infinity."""
    if isinstance(value, dict):
        return {str(key): builtin(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [builtin(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value
