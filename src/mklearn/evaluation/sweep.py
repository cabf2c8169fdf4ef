"""From a fitted method to accuracies: by its leading dimensions, by a fit for each dimension, or by its own labels.

``leading``: an embedding whose first q columns are its embedding in q dimensions; one fit serves all dimensions.
``refit``: methods that learn something else for every number of dimensions (bilinear projections, kernel weights); the
curve is over the sizes that were fitted.
``labels``: classifiers, with one accuracy and no dimension.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.contract.loading import load
from mklearn.nearest_neighbour import accuracy_by_dimension, nearest_neighbour_predictions

LEADING: Mapping[str, Any] = {"kind": "leading"}


@dataclass
class Outcome:
    """What a fitted method says of training and test samples.

    Attributes
    ----------
    estimators : one, or one for each size of a ``refit`` sweep
    train, test : embeddings (n, p), one for each estimator; predicted labels of the test samples for ``labels``
    dimensions : of the curve's points; empty for ``labels``
    """

    sweep: str
    estimators: list[Any]
    train: list[NDArray[np.float64]]
    test: list[NDArray[Any]]
    dimensions: list[int]
    fit_seconds: float
    predict_seconds: float

    def accuracies(self, rule: str, y_train: NDArray[Any], y_test: NDArray[Any]) -> NDArray[np.float64]:
        """Accuracy at each of ``dimensions`` (one value for ``labels``) by a nearest-neighbour rule."""
        if self.sweep == "labels":
            return np.array([np.mean(self.test[0] == y_test)])
        if self.sweep == "leading":
            return accuracy_by_dimension(self.train[0], y_train, self.test[0], y_test, rule)  # type: ignore[arg-type]
        hits = [
            np.mean(nearest_neighbour_predictions(train, y_train, test, rule) == y_test)  # type: ignore[arg-type]
            for train, test in zip(self.train, self.test, strict=True)
        ]
        return np.array(hits)

    def predictions(self, rule: str, y_train: NDArray[Any], place: int | None) -> NDArray[Any]:
        """Labels given to the test samples at one of ``dimensions``, by its position; None: at the last one."""
        if self.sweep == "labels":
            return self.test[0]
        last = len(self.dimensions) - 1
        position = last if place is None else min(place, last)
        number, width = (position, None) if self.sweep == "refit" else (0, self.dimensions[position])
        return nearest_neighbour_predictions(self.train[number], y_train, self.test[number], rule, width)  # type: ignore[arg-type]


def run(
    estimator: Any, train: NDArray[Any], test: NDArray[Any], y: NDArray[Any], sweep: Mapping[str, Any] = LEADING
) -> Outcome:
    """Fit an unfitted estimator on the training samples and apply it to both.

    Parameters
    ----------
    estimator : scikit-learn estimator
        With ``transform`` ("leading", "refit": also ``n_components``) or ``predict`` ("labels").
    train, test : arrays, samples first
    y : (n,) labels of the training samples
    sweep : dict
        ``kind``: "leading", "refit" or "labels". For "refit" ``sizes``, the values of ``n_components`` - those larger
        than the images, or with ``most: classes`` than the number of classes, are left out - and optionally
        ``implementation``: a "module:function" that fits all of them (estimator, X, y, sizes=) at less cost.
    """
    kind, sizes = sweep["kind"], list(sweep.get("sizes", ()))
    if kind == "refit":
        most = len(np.unique(y)) if sweep.get("most") == "classes" else min(train.shape[1:])
        sizes = [size for size in sizes if size <= most] or sizes[:1]
    started = time.perf_counter()
    fitted = _refit(estimator, train, y, sizes, sweep) if kind == "refit" else [estimator.fit(train, y)]
    fit_seconds = time.perf_counter() - started
    if kind == "labels":
        started = time.perf_counter()
        labels = np.asarray(fitted[0].predict(test))
        return Outcome(kind, fitted, [], [labels], [], fit_seconds, time.perf_counter() - started)
    embedded = [np.asarray(_embedding(model, train), dtype=np.float64) for model in fitted]
    started = time.perf_counter()
    applied = [np.asarray(model.transform(test), dtype=np.float64) for model in fitted]
    predict_seconds = time.perf_counter() - started
    dimensions = sizes if kind == "refit" else list(range(1, embedded[0].shape[1] + 1))
    return Outcome(kind, fitted, embedded, applied, dimensions, fit_seconds, predict_seconds)


def _refit(
    estimator: Any, train: NDArray[Any], y: NDArray[Any], sizes: Sequence[int], sweep: Mapping[str, Any]
) -> list[Any]:
    """One fit for each size; with what the fits share computed once, where there is a function for that."""
    if "implementation" in sweep:
        return list(load(sweep["implementation"])(estimator, train, y, sizes=sizes))
    from sklearn.base import clone

    return [clone(estimator).set_params(n_components=size).fit(train, y) for size in sizes]


def _embedding(model: Any, train: NDArray[Any]) -> NDArray[Any]:
    """Of the training samples: what the fit has kept, where it has."""
    kept: NDArray[Any] | None = getattr(model, "embedding_", None)
    return model.transform(train) if kept is None else kept
