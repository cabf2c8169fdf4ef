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
    checked_embedding,
    checked_labels,
    nearest_neighbour_predictions,
    nearest_neighbour_predictions_by_dimension,
)
from mklearn.study.specs.fit_spec import CLASS_MEAN, CLUSTERS, NeighbourRule


def predictions(
    Z_train: ArrayLike, y_train: ArrayLike, Z_test: ArrayLike, rule: str, *, by_dimension: bool = False
) -> NDArray:
    """Predict labels (m,) with all p components of an embedding, or (p, m) with the first 1, 2, ..., p of them.

    DataError is raised for inconsistent shapes, no samples, values that are not finite, or an unknown rule.
    """
    if rule in (CLASS_MEAN, CLUSTERS):
        embedding = checked_embedding(Z_train, "Z_train")
        classes, codes = np.unique(checked_labels(y_train, len(embedding), "y_train"), return_inverse=True)
    if rule == CLUSTERS:
        test = checked_embedding(Z_test, "Z_test")
        sizes = range(1, embedding.shape[1] + 1) if by_dimension else [embedding.shape[1]]
        labels = np.array([classes[_clusters(embedding[:, :size], codes, test[:, :size])] for size in sizes])
        return labels if by_dimension else labels[0]
    if rule == CLASS_MEAN:
        Z_train = np.array([embedding[codes == code].mean(axis=0) for code in range(len(classes))])
        y_train, rule = classes, "euclidean"
    predict = nearest_neighbour_predictions_by_dimension if by_dimension else nearest_neighbour_predictions
    return predict(Z_train, y_train, Z_test, cast("NeighbourRule", rule))


def _clusters(embedding: NDArray[np.float64], codes: NDArray[np.intp], test: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the class code of the cluster of each test sample; `codes` are those of the training samples."""
    from scipy.optimize import linear_sum_assignment
    from sklearn.cluster import KMeans

    n_classes = int(codes.max()) + 1
    clusters = KMeans(n_classes, n_init=10, random_state=0).fit(embedding)
    counts = np.zeros((n_classes, n_classes))
    np.add.at(counts, (clusters.labels_, codes), 1)
    _, assigned = linear_sum_assignment(counts, maximize=True)
    return np.asarray(assigned[clusters.predict(test)])
