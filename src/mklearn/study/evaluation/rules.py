"""Rules that classify a sample in an embedding: by the nearest training sample, or by the nearest class mean.

For m test samples, c classes, n training samples and p components, the nearest class mean takes O(m c p) time, the
nearest training sample O(m n p). Class means need only the sums of each class, and assume one cluster per class.
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
    """Labels of test samples, the nearest training sample (-1 if none decides) and its distance (NaN), each (m,)."""

    labels: NDArray
    nearest: NDArray[np.intp]
    distances: NDArray[np.float64]


def decide(Z_train: ArrayLike, y_train: ArrayLike, Z_test: ArrayLike, rule: str) -> Decision:
    """Predict labels with all components of an embedding; parameters and errors as in `predictions_by_dimension`."""
    if rule == CLASS_MEAN:
        classes, means = _class_means(Z_train, y_train)
        return without_neighbours(nearest_neighbour_predictions(means, classes, Z_test, "euclidean"))
    nearest = nearest_neighbour_indices(Z_train, Z_test, cast("Rule", rule), y_train)
    return Decision(np.asarray(y_train)[nearest], nearest, distances_to(Z_train, Z_test, nearest, cast("Rule", rule)))


def without_neighbours(labels: NDArray) -> Decision:
    """Return a decision with labels that come from no single training sample."""
    return Decision(labels, np.full(len(labels), -1), np.full(len(labels), np.nan))


def predictions_by_dimension(Z_train: ArrayLike, y_train: ArrayLike, Z_test: ArrayLike, rule: str) -> NDArray:
    """Predict labels (p, m) with the first 1, 2, ..., p components of an embedding.

    The rule is the nearest training sample (see :func:`mklearn.nearest_neighbour.accuracy_by_dimension`) or the nearest
    class mean in Euclidean distance, where ties go to the first class in sorted order. DataError is raised for
    inconsistent shapes, no samples, values that are not finite, or an unknown rule.
    """
    if rule == CLASS_MEAN:
        classes, means = _class_means(Z_train, y_train)
        return nearest_neighbour_predictions_by_dimension(means, classes, Z_test, "euclidean")
    return nearest_neighbour_predictions_by_dimension(Z_train, y_train, Z_test, cast("Rule", rule))


def _class_means(Z: ArrayLike, y: ArrayLike) -> tuple[NDArray, NDArray[np.float64]]:
    """Compute the sorted classes (c,) and their means (c, p) in an embedding Z (n, p) of the training samples."""
    embedding = checked_embedding(Z, "Z_train")
    classes, codes = np.unique(checked_labels(y, len(embedding), "y_train"), return_inverse=True)
    return classes, np.array([embedding[codes == code].mean(axis=0) for code in range(len(classes))])
