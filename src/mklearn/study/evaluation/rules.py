"""Rules that classify a sample in an embedding: by the nearest training sample, class mean or cluster centre.

For m test samples, c classes, n training samples and p components, the nearest class mean takes O(m c p) time, the
nearest training sample O(m n p). Class means need only the sums of each class, and assume one cluster per class. Ties
of class means go to the first class in sorted order.

Clusters are found by k-means (ten starts, fixed seed) with as many clusters as classes. Labels only name them: the
one-to-one assignment of classes to clusters that agrees with most training samples (Kuhn 1955). If the training samples
are the test samples, the accuracy is the clustering accuracy of the literature.
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
from mklearn.study.specs.fit_spec import CLASS_MEAN, CLUSTERS


def predictions(Z_train: ArrayLike, y_train: ArrayLike, Z_test: ArrayLike, rule: str) -> NDArray:
    """Predict labels (m,) with all components of an embedding; errors are as for `predictions_by_dimension`."""
    if rule == CLUSTERS:
        return _classes_of_clusters(Z_train, y_train, Z_test)
    Z, labels, neighbours = _deciding(Z_train, y_train, rule)
    return nearest_neighbour_predictions(Z, labels, Z_test, neighbours)


def predictions_by_dimension(Z_train: ArrayLike, y_train: ArrayLike, Z_test: ArrayLike, rule: str) -> NDArray:
    """Predict labels (p, m) with the first 1, 2, ..., p components of an embedding.

    DataError is raised for inconsistent shapes, no samples, values that are not finite, or an unknown rule.
    """
    if rule == CLUSTERS:
        first, second = checked_embedding(Z_train, "Z_train"), checked_embedding(Z_test, "Z_test")
        sizes = range(1, first.shape[1] + 1)
        return np.array([_classes_of_clusters(first[:, :size], y_train, second[:, :size]) for size in sizes])
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


def _classes_of_clusters(Z: ArrayLike, y: ArrayLike, Z_test: ArrayLike) -> NDArray:
    from scipy.optimize import linear_sum_assignment
    from sklearn.cluster import KMeans

    embedding = checked_embedding(Z, "Z_train")
    classes, codes = np.unique(checked_labels(y, len(embedding), "y_train"), return_inverse=True)
    clusters = KMeans(len(classes), n_init=10, random_state=0).fit(embedding)
    counts = np.zeros((len(classes), len(classes)))
    np.add.at(counts, (clusters.labels_, codes), 1)
    _, assigned = linear_sum_assignment(counts, maximize=True)
    return np.asarray(classes[assigned[clusters.predict(checked_embedding(Z_test, "Z_test"))]])
