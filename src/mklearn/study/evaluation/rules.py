"""Rules that classify a sample in an embedding: by the nearest training sample, or by the nearest class mean.

Class means take O(m c p) time for m test samples, c classes and p components, where the nearest of n training samples
takes O(m n p), and they need no training sample, only its class's sum. They presume classes of one cluster each.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.nearest_neighbour import (
    Rule,
    checked_embedding,
    checked_labels,
    distances_to,
    nearest_neighbour_indices,
    nearest_neighbour_predictions,
    nearest_neighbour_predictions_by_dimension,
)
from mklearn.study.specs.fit_spec import CLASS_MEAN


class Decision(NamedTuple):
    """Labels of test samples (m,), the training sample that decides each, -1 if none does, and its distance or NaN."""

    labels: NDArray
    nearest: NDArray[np.intp]
    distances: NDArray[np.float64]


def decide(Z_train: ArrayLike, y_train: ArrayLike, Z_test: ArrayLike, rule: str) -> Decision:
    """Predict labels with all components of an embedding; parameters and errors as of `predictions_by_dimension`."""
    if rule == CLASS_MEAN:
        classes, means = _class_means(Z_train, y_train)
        return without_neighbours(nearest_neighbour_predictions(means, classes, Z_test, "euclidean"))
    nearest = nearest_neighbour_indices(Z_train, Z_test, cast("Rule", rule), y_train)
    return Decision(np.asarray(y_train)[nearest], nearest, distances_to(Z_train, Z_test, nearest, cast("Rule", rule)))


def without_neighbours(labels: NDArray) -> Decision:
    """Return labels that no training sample decides."""
    return Decision(labels, np.full(len(labels), -1), np.full(len(labels), np.nan))


def predictions_by_dimension(Z_train: ArrayLike, y_train: ArrayLike, Z_test: ArrayLike, rule: str) -> NDArray:
    """Predict labels (p, m) with the first 1, 2, ..., p components of an embedding.

    By the nearest training sample, see :func:`mklearn.nearest_neighbour.accuracy_by_dimension`, or by the nearest mean
    of a class's training samples in Euclidean distance: of several at the same distance, the first in sorted order.
    DataError is raised for inconsistent shapes, no samples, values that are not finite, or an unknown rule.
    """
    if rule == CLASS_MEAN:
        classes, means = _class_means(Z_train, y_train)
        return nearest_neighbour_predictions_by_dimension(means, classes, Z_test, "euclidean")
    return nearest_neighbour_predictions_by_dimension(Z_train, y_train, Z_test, cast("Rule", rule))


def _class_means(Z: ArrayLike, y: ArrayLike) -> tuple[NDArray, NDArray[np.float64]]:
    """Compute the sorted classes (c,) of training samples, and the mean (c, p) of each in an embedding Z (n, p)."""
    embedding = checked_embedding(Z, "Z_train")
    classes, codes = np.unique(checked_labels(y, len(embedding), "y_train"), return_inverse=True)
    return classes, np.array([embedding[codes == code].mean(axis=0) for code in range(len(classes))])
