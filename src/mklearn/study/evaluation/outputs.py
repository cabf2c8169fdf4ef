"""Predictions on a split by each nearest-neighbour rule, and the attributes from which metrics are computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mklearn.errors import NotApplicable, SolverFailed
from mklearn.study.evaluation.metrics.metric import Metric

Labels = NDArray[Any]
Lookup = Callable[[str], Any]
"""Function that returns an output of a fitted estimator for the test samples by its name in `STORED`, or None."""
STORED = ("decision_function", "predict_proba", "classes", "n_support_vectors", "kernel_share", "survival", "times")
"""Names of the outputs that are stored for each fitted estimator, in addition to the labels."""


@dataclass(frozen=True)
class MethodOutput:
    """The output of a fitted method at one number of components, for metrics.

    ``decision_values`` have shape (m, n_classes), or (m,) for two classes. Their columns, and the columns of
    ``probabilities``, are in the order of ``classes``. ``class_scores`` are the decision values, or the probabilities
    if there are none. For survival times, ``labels`` are risks, and ``survival`` has the probabilities of surviving
    each of the ``times``, (m, n_times). Reading an output that the method lacks raises
    :class:`mklearn.errors.NotApplicable`, and reading scores of another shape, or not finite, raises
    :class:`mklearn.errors.SolverFailed`.
    """

    y_train: Labels
    y: Labels
    labels: Labels
    """Predicted labels of the test samples; ``y`` has the true ones."""
    lookup: Lookup

    n_train = property(lambda self: len(self.y_train))
    n_support_vectors = property(lambda self: int(self._first("n_support_vectors")))
    share_of_kernels = property(lambda self: float(self._first("kernel_share")))
    decision_values = property(lambda self: self._of_classes("decision_function"))
    probabilities = property(lambda self: self._of_classes("predict_proba"))
    class_scores = property(lambda self: self._of_classes("decision_function", "predict_proba"))
    risk = property(lambda self: self.labels)
    survival = property(lambda self: self._first("survival"))
    times = property(lambda self: self._first("times"))

    @property
    def classes(self) -> Labels:
        classes = self.lookup("classes")
        return np.unique(self.y_train) if classes is None else np.asarray(classes)

    def _first(self, *names: str) -> NDArray[Any]:
        values = next((values for values in map(self.lookup, names) if values is not None), None)
        if values is None:
            raise NotApplicable(f"the method has no {' or '.join(names)}")
        return np.asarray(values)

    def _of_classes(self, *names: str) -> NDArray[Any]:
        values, expected = self._first(*names), (len(self.y), len(self.classes))
        finite = bool(np.isfinite(values).all())
        is_single = names[0] == "decision_function" and (*values.shape, 2) == expected
        if not finite or not (is_single or values.shape == expected):
            wrong = f"has shape {values.shape}" if finite else "is not finite"
            raise SolverFailed(f"{' or '.join(names)} {wrong}; expected finite values of shape {expected}")
        return values


@dataclass(frozen=True, eq=False)
class RulePredictions:
    """Predictions for the m test samples of one split by one nearest-neighbour rule."""

    y_train: Labels
    y: Labels
    labels: Labels
    """Predicted class codes or numbers, (p, m): a row for each entry of ``components``, or one row if it is empty."""
    components: Sequence[int]
    """Numbers of components; empty for a classifier without components."""
    position: int | None
    """Row of ``labels`` that was chosen without the test samples; None if the choice failed."""
    lookups: Sequence[Lookup] = (dict[str, Any]().get,)
    """Lookup for the estimator of each row, or a single one if all rows share one estimator."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Columns of the score rows: parameters, solver status and time."""

    @cached_property
    def outputs(self) -> list[MethodOutput]:
        """Output for each row of the labels."""
        last = len(self.lookups) - 1
        return [
            MethodOutput(self.y_train, self.y, labels, self.lookups[min(row, last)])
            for row, labels in enumerate(self.labels)
        ]

    def scores(self, metric: Metric) -> NDArray[np.float64]:
        """Compute a metric for each row of the labels; raise NotApplicable if it is undefined for one of them."""
        return np.array([metric.score(output) for output in self.outputs])

    def without_estimators(self, facts: Mapping[str, Any]) -> RulePredictions:
        """Return the predictions as plain data, with the outputs of the estimators in place of the estimators."""
        each = [{name: lookup(name) for name in STORED} for lookup in self.lookups]
        for values in each:
            output = MethodOutput(self.y_train, self.y, self.labels[0], values.get)
            for name in ("decision_values", "probabilities"):
                with suppress(NotApplicable):
                    getattr(output, name)  # raises if it is invalid
        return replace(self, lookups=[values.get for values in each], facts=facts)


_NO_SAMPLES = np.array([], dtype=np.int64)


class SplitRecord(NamedTuple):
    """Results of one split as plain data, for transfer between processes and for the files of `fit_files`."""

    facts: Mapping[str, Any]
    """Repeat, fold and sizes; status and message of a failed split, else the ``selection_message``."""
    train: NDArray[np.integer[Any]] = _NO_SAMPLES
    test: NDArray[np.integer[Any]] = _NO_SAMPLES
    rules: Mapping[str, RulePredictions] = {}
    """Predictions by nearest-neighbour rule; a classifier has the single rule "", a failed split has none."""
    shown: dict[str, Any] | None = None
    """Weights, history and embedding for the report; None if the fit failed, or if the record was read from a file."""
