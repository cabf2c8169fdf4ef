"""Predictions of each split by each rule, and the attributes that metrics are computed from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
"""Values that are stored of each fitted estimator, beside the labels."""


@dataclass(frozen=True)
class MethodOutput:
    """The output of a fitted method at one number of components: the attributes that a metric can need.

    ``classes`` are in the order of the columns of ``decision_values``, (m,) for two classes or (m, n_classes), and of
    ``probabilities``; ``class_scores`` are decision values, or the probabilities of a method that has none. What a
    method lacks raises :class:`mklearn.errors.NotApplicable`.
    """

    y_train: Labels
    y: Labels
    labels: Labels
    """The predicted ones of the test samples ``y``."""
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
    """Predictions of the m test samples of one split, by one nearest-neighbour rule."""

    y_train: Labels
    y: Labels
    labels: Labels
    """Class codes, or numbers, with each of the components, (p, m); a single row for a classifier without any."""
    components: Sequence[int]
    """Empty for a classifier without components."""
    position: int | None
    """Row that was chosen without the test samples; None if the choice failed."""
    nearest: NDArray[np.integer[Any]]
    """Position of the nearest training sample among those of the split, -1 if none decides, (m,)."""
    distances: NDArray[np.floating[Any]]
    lookups: Sequence[Lookup] = (NO_LOOKUP,)
    """One for the estimator of each row; a single one if all rows are of one estimator."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Columns of the score rows: the parameters, how the solver ended, and what it took."""

    @cached_property
    def outputs(self) -> list[MethodOutput]:
        """One output for each row of the labels."""
        last = len(self.lookups) - 1
        return [
            MethodOutput(self.y_train, self.y, labels, self.lookups[min(row, last)])
            for row, labels in enumerate(self.labels)
        ]

    def scores(self, metric: Metric) -> NDArray[np.float64]:
        """Compute a metric for each row of the labels; NotApplicable if one lacks what it needs."""
        return np.array([metric.score(output) for output in self.outputs])

    def without_estimators(self, facts: Mapping[str, Any]) -> RulePredictions:
        """Return the predictions with what the estimators give in place of them, as plain data."""
        each = [{name: lookup(name) for name in STORED} for lookup in self.lookups]
        return replace(self, lookups=[values.get for values in each], facts=facts)


_NO_SAMPLES = np.array([], dtype=np.int64)


class SplitRecord(NamedTuple):
    """Results of one split as plain data, which a process can pass on and `fit_files` writes and reads."""

    facts: Mapping[str, Any]
    """``repeat, fold`` and sizes; of a split that failed status and message, else perhaps a ``selection_message``."""
    train: NDArray[np.integer[Any]] = _NO_SAMPLES
    test: NDArray[np.integer[Any]] = _NO_SAMPLES
    rules: Mapping[str, RulePredictions] = {}
    """By nearest-neighbour rule; a classifier has the single rule "", a split that failed none."""
    shown: dict[str, Any] | None = None
    """Weights, history and embedding for the report; None if the fit failed, and after reading."""
