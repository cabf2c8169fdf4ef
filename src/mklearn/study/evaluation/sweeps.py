"""How components are swept: from an unfitted estimator to the values of metrics at each number of components.

A specification names one of these classes, or one of another package with the same methods, and its parameters.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from mklearn.kernels.views import Views
from mklearn.loading import load
from mklearn.study.evaluation.candidates import method_of
from mklearn.study.evaluation.metrics.metric import Metric
from mklearn.study.evaluation.outputs import Given, Labels, MethodOutput
from mklearn.study.evaluation.rules import deciding_samples, predictions, predictions_by_dimension
from mklearn.study.specs.fit_spec import CLASS_MEAN, MethodSpec

Unfitted = Callable[..., Any]
"""Returns the estimator, not fitted; parameters that it is called with are the estimator's."""
FROM_SCORES = {"decision_function": "decision_of", "predict_proba": "probabilities_of"}
"""What a classifier that computes scores of the classes makes from them."""
Pair = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Embeddings of the training samples (n, p) and of the test samples (m, p)."""
Deciding = tuple[NDArray[np.intp], NDArray[np.float64]]
"""The training sample that decides the class of each test sample (m,), and its distance."""


def given_by(fitted: Any, n_train: int, test: Any = None, scores: NDArray[Any] | None = None) -> Given:
    """Return what looks up what a fitted estimator gives.

    Parameters
    ----------
    fitted : the estimator, as it takes the test samples
    n_train : number of training samples
    test : the test samples; None where only their embedding is there
    scores : scores of the classes of the test samples, where their labels come from them
    """
    estimator = method_of(fitted)

    def given(name: str) -> Any:
        if name == "n_support_vectors":
            return n_support_vectors(estimator, n_train)
        if name == "classes":
            return getattr(estimator, "classes_", None)
        if scores is not None and name in FROM_SCORES and hasattr(fitted, FROM_SCORES[name]):
            return np.asarray(getattr(fitted, FROM_SCORES[name])(scores), dtype=np.float64)
        if test is None or not hasattr(fitted, name):
            return None
        return np.asarray(getattr(fitted, name)(test), dtype=np.float64)

    return given


def n_support_vectors(estimator: Any, n_train: int) -> int | None:
    """Count the training samples that are support vectors of a fitted estimator; None if it has none."""
    support = getattr(estimator, "support_", None)
    if support is not None:
        return len(support)
    counts = getattr(estimator, "n_support_", None)
    if counts is not None:
        return int(np.sum(counts))
    dual = np.atleast_2d(getattr(estimator, "dual_coef_", np.empty((0, 0))))
    return int((dual != 0).any(axis=0).sum()) if dual.shape[1] == n_train else None


@dataclass(frozen=True)
class Outcome:
    """A fitted method with what it gives for training and test samples.

    Attributes
    ----------
    estimators : list
        The fitted estimator; of a sweep with several fits, one for each number of components.
    components : list of int
        Numbers of components of the curve's points; empty for a classifier without any.
    given : list of Given
        What each estimator gives beside labels.
    fit_seconds, predict_seconds : float
        Processor time of all fits, and of applying them to the test samples: that of all threads of this process, on
        a busy machine too. Time in child processes, which no estimator of mklearn starts, is not included.
    predicted : list of (m,) arrays
        A classifier's own labels of the test samples, by each estimator.
    embeddings : list of (n, p) and (m, p) arrays
        One pair for each estimator; empty for a classifier.
    leading : bool
        Whether the first q columns of the only embedding are that with q components.
    """

    estimators: list[Any]
    components: list[int]
    given: list[Given]
    fit_seconds: float
    predict_seconds: float
    predicted: list[Labels] = field(default_factory=list)
    embeddings: list[Pair] = field(default_factory=list)
    leading: bool = False
    _deciding: dict[tuple[str, int], Deciding] = field(default_factory=dict)

    def labels(self, rule: str, y_train: Labels) -> list[Labels]:
        """Predict the test samples (m,) with each of ``components``, or once."""
        if not self.embeddings:
            return self.predicted
        if self.leading:
            train, test = self.embeddings[0]
            return list(predictions_by_dimension(train, y_train, test, rule))
        if rule == CLASS_MEAN:
            return [predictions(train, y_train, test, rule) for train, test in self.embeddings]
        return [y_train[self.nearest(rule, place, y_train)[0]] for place in range(len(self.embeddings))]

    def nearest(self, rule: str, position: int, y_train: Labels) -> Deciding:
        """Return the nearest training sample of each test sample at one of ``components``, and the distance to it.

        A classifier and class means have none: -1 and NaN. Neighbours are searched once for each rule.
        """
        if not self.embeddings:
            return np.full(len(self.predicted[0]), -1), np.full(len(self.predicted[0]), np.nan)
        if (rule, position) not in self._deciding:
            train, test = self.embeddings[0 if self.leading else position]
            width = self.components[position] if self.leading else train.shape[1]
            self._deciding[rule, position] = deciding_samples(train[:, :width], y_train, test[:, :width], rule)
        return self._deciding[rule, position]

    def estimator_at(self, position: int | None) -> Any:
        """Return the estimator of one of ``components``, by its position.

        Of an embedding, and without a choice, it is the last one, with the most components.
        """
        return self.estimators[-1 if position is None or self.embeddings else position]

    def scores(self, metric: Metric, rule: str, y_train: Labels, y_test: Labels) -> NDArray[np.float64]:
        """Compute a metric at each of ``components`` (one value for a classifier).

        Raises
        ------
        NotApplicable
            The method does not give what the metric needs.
        """
        if self.leading and metric.by_leading_components:
            train, test = self.embeddings[0]
            return leading_scores(metric, train, y_train, test, y_test, rule)
        return np.array([
            metric.score(MethodOutput(y_train, y_test, labels, self.given[min(place, len(self.given) - 1)]))
            for place, labels in enumerate(self.labels(rule, y_train))
        ])  # fmt: skip


def leading_scores(
    metric: Metric, train: NDArray[Any], y_train: Labels, test: NDArray[Any], y_test: Labels, rule: str
) -> NDArray[np.float64]:
    """Compute a metric with the first 1, 2, ..., p columns of the embeddings of training and test samples."""
    if metric.by_leading_components:
        scores: NDArray[np.float64] = load(metric.by_leading_components)(train, y_train, test, y_test, rule)
        return scores
    return np.array([
        metric.score(MethodOutput(y_train, y_test, labels, lambda _: None))
        for labels in predictions_by_dimension(train, y_train, test, rule)
    ])  # fmt: skip


class Sweep(ABC):
    """A way to sweep components."""

    has_components: ClassVar[bool] = True
    """Whether there is a number of components to choose."""
    predicts: ClassVar[bool] = False
    """Whether the estimator's own labels are evaluated, and no neighbours."""

    @abstractmethod
    def run(self, unfitted: Unfitted, train: Views, y: Labels, test: Views) -> Outcome:
        """Fit the estimator on the training samples, with labels ``y``, and apply it to both."""

    def rules(self, neighbours: Sequence[str]) -> list[str]:
        """Return the nearest-neighbour rules of the method; of one with labels a single one, ""."""
        return [""] if self.predicts else list(neighbours)


def sweep_of(method: MethodSpec) -> Sweep:
    """Return the sweep that a method's specification names."""
    sweep: Sweep = load(method.sweep.implementation)(**method.sweep.parameters)
    return sweep


@dataclass(frozen=True)
class LeadingDimensions(Sweep):
    """One fit whose first q columns are the embedding with q components, for q = 1, ..., p."""

    def run(self, unfitted: Unfitted, train: Views, y: Labels, test: Views) -> Outcome:
        started = time.process_time()
        model = unfitted().fit(train, y)
        return _embedded([model], None, time.process_time() - started, train, test)


@dataclass(frozen=True)
class Refit(Sweep):
    """A fit for each number of components, for methods that learn something else for each.

    Parameters
    ----------
    sizes : list of int
        Values of ``n_components``.
    at_most : {"n_classes", "image_side"} or None
        Bound on the sizes: larger ones are left out, but never all of them.
    path : str or None
        ``"module:function"`` that fits all sizes and computes what they share once: (estimator, X, y, sizes=). None:
        clones of the estimator are fitted.
    """

    sizes: Sequence[int]
    at_most: Literal["n_classes", "image_side"] | None = None
    path: str | None = None

    def run(self, unfitted: Unfitted, train: Views, y: Labels, test: Views) -> Outcome:
        sizes = self.possible_sizes(train, y)
        started = time.process_time()
        if self.path is not None:
            models = list(load(self.path)(unfitted(), train, y, sizes=sizes))
        else:
            models = [unfitted(n_components=size).fit(train, y) for size in sizes]
        seconds = time.process_time() - started
        return (
            _predicted(models, sizes, seconds, y, test)
            if self.predicts
            else _embedded(models, sizes, seconds, train, test)
        )

    def possible_sizes(self, views: Views, y: Labels) -> list[int]:
        """Return the numbers of components that these training samples allow: the points of the curve."""
        if self.at_most is None:
            return list(self.sizes)
        largest = len(np.unique(y)) if self.at_most == "n_classes" else image_side(views)
        return [size for size in self.sizes if size <= largest] or list(self.sizes[:1])


def image_side(views: Views) -> int:
    """Return the shorter side of images, the only view."""
    (name,) = views.names
    return int(min(views[name].shape[1:]))


@dataclass(frozen=True)
class Predictions(Sweep):
    """A single fit of a classifier, evaluated by its own labels."""

    has_components: ClassVar[bool] = False
    predicts: ClassVar[bool] = True

    def run(self, unfitted: Unfitted, train: Views, y: Labels, test: Views, **fit_parameters: Any) -> Outcome:
        started = time.process_time()
        model = unfitted().fit(train, y, **fit_parameters)
        return _predicted([model], [], time.process_time() - started, y, test)


@dataclass(frozen=True)
class RefitPredictions(Refit):
    """A fit of a classifier for each number of components, evaluated by its own labels."""

    predicts: ClassVar[bool] = True


def _predicted(models: list[Any], sizes: list[int], fit_seconds: float, y: Labels, test: Views) -> Outcome:
    started = time.process_time()
    scores = [model.class_scores(test) if hasattr(model, "labels_of") else None for model in models]
    labels = [
        np.asarray(model.predict(test) if own is None else model.labels_of(model.decision_of(own)))
        for model, own in zip(models, scores, strict=True)
    ]
    seconds = time.process_time() - started
    given = [given_by(model, len(y), test, own) for model, own in zip(models, scores, strict=True)]
    return Outcome(models, sizes, given, fit_seconds, seconds, predicted=labels)


def _embedded(models: list[Any], sizes: list[int] | None, fit_seconds: float, train: Views, test: Views) -> Outcome:
    own = [np.asarray(_training_embedding(model, train), dtype=np.float64) for model in models]
    started = time.process_time()
    others = [np.asarray(model.transform(test), dtype=np.float64) for model in models]
    seconds = time.process_time() - started
    given = [given_by(model, len(own[0])) for model in models]
    components = list(range(1, own[0].shape[1] + 1)) if sizes is None else sizes
    embeddings = list(zip(own, others, strict=True))
    return Outcome(models, components, given, fit_seconds, seconds, embeddings=embeddings, leading=sizes is None)


def _training_embedding(model: Any, train: Views) -> NDArray[Any]:
    """Return the embedding that the fit has stored, else that of ``transform``."""
    stored: NDArray[Any] | None = getattr(method_of(model), "embedding_", None)
    return model.transform(train) if stored is None else stored
