"""How components are swept: from an unfitted estimator to the values of metrics at each number of components.

A specification names one of these classes, or one of another package with the same methods, and its parameters.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from mklearn.contract.fit_spec import MethodSpec
from mklearn.contract.loading import load
from mklearn.errors import NotApplicable
from mklearn.kernels.views import Views
from mklearn.study.evaluation.candidates import method_of
from mklearn.study.evaluation.metrics.metric import Metric
from mklearn.study.evaluation.outputs import Given, Labels, MethodOutput
from mklearn.study.evaluation.rules import deciding_samples, predictions, predictions_by_dimension

Unfitted = Callable[..., Any]
"""Returns the estimator, not fitted; parameters that it is called with are the estimator's."""
FROM_SCORES = {"decision_function": "decision_of", "predict_proba": "probabilities_of"}
"""What a classifier that computes scores of the classes makes from them."""
Pair = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Embeddings of the training samples (n, p) and of the test samples (m, p)."""


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
class Outcome(ABC):
    """A fitted method with what it gives for training and test samples.

    Attributes
    ----------
    estimators : list
        The fitted estimator; of a sweep with several fits, one for each number of components.
    components : list of int
        Numbers of components of the curve's points; empty for a classifier without any.
    embeddings : list of (n, p) and (m, p) arrays
        One pair for each estimator; empty for a classifier.
    fit_seconds, predict_seconds : float
        Processor time of all fits, and of applying them to the test samples: that of all threads of this process, on
        a busy machine too. Time in child processes, which no estimator of mklearn starts, is not included.
    """

    estimators: list[Any]
    components: list[int]
    embeddings: list[Pair]
    fit_seconds: float
    predict_seconds: float

    @abstractmethod
    def labels(self, rule: str, y_train: Labels) -> list[Labels]:
        """Predict the test samples (m,) with each of ``components``, or once."""

    def given(self, n_train: int) -> list[Given]:
        """Return what each estimator gives beside labels."""
        return [given_by(model, n_train) for model in self.estimators]

    def nearest(self, rule: str, position: int, y_train: Labels) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return the nearest training sample of each test sample at one of ``components``, and the distance to it.

        A classifier and class means have none: -1 and NaN.
        """
        train, test = self.embedding_at(position)
        return deciding_samples(train, y_train, test, rule)

    def embedding_at(self, position: int) -> Pair:
        """Return the embeddings with one of ``components``, by its position."""
        raise NotApplicable("the method predicts labels and has no embedding")

    def estimator_at(self, position: int | None) -> Any:
        """Return the estimator that stands for one of ``components``, by its position: by default the last one."""
        return self.estimators[-1]

    def scores(self, metric: Metric, rule: str, y_train: Labels, y_test: Labels) -> NDArray[np.float64]:
        """Compute a metric at each of ``components`` (one value for a classifier).

        Raises
        ------
        NotApplicable
            The method does not give what the metric needs.
        """
        given = self.given(len(y_train))
        return np.array([
            metric.score(MethodOutput(y_train, y_test, labels, given[min(place, len(given) - 1)]))
            for place, labels in enumerate(self.labels(rule, y_train))
        ])  # fmt: skip


class LeadingOutcome(Outcome):
    """An embedding whose first q columns are its embedding with q components."""

    def embedding_at(self, position: int) -> Pair:
        """Return the leading columns."""
        width = self.components[position]
        return self.embeddings[0][0][:, :width], self.embeddings[0][1][:, :width]

    def labels(self, rule: str, y_train: Labels) -> list[Labels]:
        train, test = self.embeddings[0]
        return list(predictions_by_dimension(train, y_train, test, rule))

    def scores(self, metric: Metric, rule: str, y_train: Labels, y_test: Labels) -> NDArray[np.float64]:
        train, test = self.embeddings[0]
        if metric.by_leading_components:
            return leading_scores(metric, train, y_train, test, y_test, rule)
        return super().scores(metric, rule, y_train, y_test)


class RefitOutcome(Outcome):
    """One embedding for each number of components."""

    def embedding_at(self, position: int) -> Pair:
        """Return the embedding that was fitted with that number of components."""
        return self.embeddings[position]

    def labels(self, rule: str, y_train: Labels) -> list[Labels]:
        return [predictions(train, y_train, test, rule) for train, test in self.embeddings]


@dataclass(frozen=True)
class PredictionOutcome(Outcome):
    """A classifier's own labels ``predicted`` of the test samples ``test``, of each of the estimators.

    ``class_scores`` are the scores from which they come; None for an estimator whose labels do not.
    """

    predicted: list[Labels]
    class_scores: list[NDArray[np.floating[Any]] | None]
    test: Any

    def nearest(self, rule: str, position: int, y_train: Labels) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return -1 and NaN for each test sample."""
        return np.full(len(self.predicted[0]), -1), np.full(len(self.predicted[0]), np.nan)

    def estimator_at(self, position: int | None) -> Any:
        """Return the estimator that was fitted with the chosen number of components; without a choice the last."""
        return self.estimators[-1 if position is None else position]

    def labels(self, rule: str, y_train: Labels) -> list[Labels]:
        return self.predicted

    def given(self, n_train: int) -> list[Given]:
        return [
            given_by(model, n_train, self.test, scores)
            for model, scores in zip(self.estimators, self.class_scores, strict=True)
        ]


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

    @abstractmethod
    def run(self, unfitted: Unfitted, train: Views, y: Labels, test: Views) -> Outcome:
        """Fit the estimator on the training samples, with labels ``y``, and apply it to both."""

    def rules(self, neighbours: Sequence[str]) -> list[str]:
        """Return the nearest-neighbour rules that the method is evaluated by."""
        return list(neighbours)

    def leave_one_out(self, estimator: Any) -> Callable[..., Any] | None:
        """Return the estimator's method that shares the work of leaving each sample out; None without one."""
        return None


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
        fit_seconds = time.process_time() - started
        embeddings, predict_seconds = _apply([model], train, test)
        components = list(range(1, embeddings[0][0].shape[1] + 1))
        return LeadingOutcome([model], components, embeddings, fit_seconds, predict_seconds)

    def leave_one_out(self, estimator: Any) -> Callable[..., Any] | None:
        return getattr(estimator, "leave_one_out", None)


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
        models = self._fit(unfitted, train, y, sizes)
        fit_seconds = time.process_time() - started
        embeddings, predict_seconds = _apply(models, train, test)
        return RefitOutcome(models, sizes, embeddings, fit_seconds, predict_seconds)

    def possible_sizes(self, views: Views, y: Labels) -> list[int]:
        """Return the numbers of components that these training samples allow: the points of the curve."""
        if self.at_most is None:
            return list(self.sizes)
        largest = len(np.unique(y)) if self.at_most == "n_classes" else image_side(views)
        return [size for size in self.sizes if size <= largest] or list(self.sizes[:1])

    def _fit(self, unfitted: Unfitted, train: Views, y: Labels, sizes: list[int]) -> list[Any]:
        if self.path is not None:
            return list(load(self.path)(unfitted(), train, y, sizes=sizes))
        return [unfitted(n_components=size).fit(train, y) for size in sizes]


def image_side(views: Views) -> int:
    """Return the shorter side of images, the only view."""
    (name,) = views.names
    return int(min(views[name].shape[1:]))


@dataclass(frozen=True)
class Predictions(Sweep):
    """A single fit of a classifier, evaluated by its own labels."""

    has_components: ClassVar[bool] = False

    def run(self, unfitted: Unfitted, train: Views, y: Labels, test: Views, **fit_parameters: Any) -> Outcome:
        started = time.process_time()
        model = unfitted().fit(train, y, **fit_parameters)
        return _predictions([model], [], time.process_time() - started, test)

    def rules(self, neighbours: Sequence[str]) -> list[str]:
        """Return a single rule without a name: no neighbour is asked."""
        return [""]


@dataclass(frozen=True)
class RefitPredictions(Refit):
    """A fit of a classifier for each number of components, evaluated by its own labels."""

    def run(self, unfitted: Unfitted, train: Views, y: Labels, test: Views) -> Outcome:
        sizes = self.possible_sizes(train, y)
        started = time.process_time()
        models = self._fit(unfitted, train, y, sizes)
        return _predictions(models, sizes, time.process_time() - started, test)

    def rules(self, neighbours: Sequence[str]) -> list[str]:
        """Return a single rule without a name: no neighbour is asked."""
        return [""]


def _predictions(models: list[Any], sizes: list[int], fit_seconds: float, test: Views) -> PredictionOutcome:
    """Predict the test samples by classifiers that took ``fit_seconds``."""
    started = time.process_time()
    scores = [model.class_scores(test) if hasattr(model, "labels_of") else None for model in models]
    labels = [
        np.asarray(model.predict(test) if own is None else model.labels_of(model.decision_of(own)))
        for model, own in zip(models, scores, strict=True)
    ]
    return PredictionOutcome(models, sizes, [], fit_seconds, time.process_time() - started, labels, scores, test)


def _apply(models: list[Any], train: Views, test: Views) -> tuple[list[Pair], float]:
    """Embed training and test samples; return the embeddings and the processor seconds for the test samples."""
    known = [np.asarray(_training_embedding(model, train), dtype=np.float64) for model in models]
    started = time.process_time()
    asked = [np.asarray(model.transform(test), dtype=np.float64) for model in models]
    return list(zip(known, asked, strict=True)), time.process_time() - started


def _training_embedding(model: Any, train: Views) -> NDArray[Any]:
    """Return the embedding that the fit has stored, else that of ``transform``."""
    stored: NDArray[Any] | None = getattr(method_of(model), "embedding_", None)
    return model.transform(train) if stored is None else stored
