"""Rules that classify a sample in an embedding: by the nearest training sample, or by the nearest class mean.

For m test samples, c classes, n training samples and p components, the nearest class mean takes O(m c p) time, the
nearest training sample O(m n p). Class means need only the sums of each class, and assume one cluster per class. Ties
of class means go to the first class in sorted order.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.nearest_neighbour import (
    Rule,
    checked_embedding,
    checked_labels,
    nearest_neighbour_predictions,
    nearest_neighbour_predictions_by_dimension,
)
from mklearn.study.specs.fit_spec import CLASS_MEAN


def predictions(Z_train: ArrayLike, y_train: ArrayLike, Z_test: ArrayLike, rule: str) -> NDArray:
    """Predict labels (m,) with all components of an embedding; errors are as for `predictions_by_dimension`."""
    Z, labels, neighbours = _deciding(Z_train, y_train, rule)
    return nearest_neighbour_predictions(Z, labels, Z_test, neighbours)


def predictions_by_dimension(Z_train: ArrayLike, y_train: ArrayLike, Z_test: ArrayLike, rule: str) -> NDArray:
    """Predict labels (p, m) with the first 1, 2, ..., p components of an embedding.

    DataError is raised for inconsistent shapes, no samples, values that are not finite, or an unknown rule.
    """
    Z, labels, neighbours = _deciding(Z_train, y_train, rule)
    return nearest_neighbour_predictions_by_dimension(Z, labels, Z_test, neighbours)


def _deciding(Z: ArrayLike, y: ArrayLike, rule: str) -> tuple[ArrayLike, ArrayLike, Rule]:
    """Return the points whose nearest decides, their labels, and the distance: training samples, or class means."""
    if rule != CLASS_MEAN:
        return Z, y, cast("Rule", rule)
    embedding = checked_embedding(Z, "Z_train")
    classes, codes = np.unique(checked_labels(y, len(embedding), "y_train"), return_inverse=True)
    means = np.array([embedding[codes == code].mean(axis=0) for code in range(len(classes))])
    return means, classes, "euclidean"
