"""Fitted methods, and their outputs for test samples at each number of components.

A rule classifies a sample in an embedding by the nearest training sample, class mean or cluster centre. For m test
samples, c classes, n training samples and p components, the nearest class mean takes O(m c p) time, the nearest
training sample O(m n p). Class means need only the sums of each class, and assume one cluster per class. Ties of class
means go to the first class in sorted order.

Clusters are found by k-means (ten starts, fixed seed) with as many clusters as classes. Labels only name them: the
one-to-one assignment of classes to clusters that agrees with most training samples (Kuhn 1955). If the training samples
are the test samples, the accuracy is the clustering accuracy of the literature.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.base.pipelines import predicts_survival, survival_functions
from mklearn.errors import SolverFailed
from mklearn.kernels.views import Views
from mklearn.nearest_neighbour import (
    checked_embedding,
    checked_labels,
    nearest_neighbour_predictions,
    nearest_neighbour_predictions_by_dimension,
)
from mklearn.study.data.samples import target_of
from mklearn.study.evaluation.candidates import method_of
from mklearn.study.evaluation.outputs import Labels, Lookup, RulePredictions
from mklearn.study.specs.fit_spec import CLASS_MEAN, CLUSTERS, MethodSpec, NeighbourRule, RefitSpec

FROM_SCORES = {"decision_function": "decision_of", "predict_proba": "probabilities_of"}
"""Classifier methods that convert class scores into the outputs that metrics need."""
SHARES = np.linspace(0.1, 0.9, 17)
"""Quantiles of the times of events in the training samples at which survival functions are evaluated."""
Pair = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Embeddings of the training samples (n, p) and of the test samples (m, p)."""


@dataclass
class Fitted:
    """A method fitted to training samples, and its outputs for test samples."""

    y_train: Labels
    estimators: list[Any]
    """Fitted estimators: a single one, or one for each number of components if the method is refitted for each."""
    components: list[int]
    """Numbers of components with which test samples are predicted; empty for a classifier without components."""
    lookups: list[Lookup]
    """Lookup of the outputs of each estimator."""
    fit_seconds: float
    """Processor time of the training kernels and of all fits in seconds, summed over the threads of this process. Child
    processes are not counted; no estimator of mklearn starts any."""
    labels: Sequence[Labels] = ()
    """Test labels (m,) that each estimator of a classifier predicts."""
    embeddings: Sequence[Pair] = ()
    """Embeddings by each estimator; empty for a classifier."""
    leading: bool = False
    """True if the first q columns of the only embedding are the embedding with q components."""
    weights: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """Kernel weights; NaN if the estimator has none."""
    kernel_info: list[dict[str, Any]] = field(default_factory=list)

    def predictions(self, rule: str, y: Labels, position: int | None = None) -> RulePredictions:
        """Predict the test samples, with true labels ``y``, by a nearest-neighbour rule; "" for a classifier.

        ``position`` is the index of the chosen number in ``components``, -1 for the last. SolverFailed is raised for
        invalid predictions.
        """
        if self.leading:
            train, test = self.embeddings[0]
            rows: Any = predict_in_embedding(train, self.y_train, test, rule, by_dimension=True)
        else:
            rows = self.labels or [
                predict_in_embedding(train, self.y_train, test, rule) for train, test in self.embeddings
            ]
        labels = np.array([checked_predictions(row, self.y_train, len(y)) for row in rows])
        if position is not None:
            position = range(len(labels))[min(position, len(labels) - 1)]
        return RulePredictions(self.y_train, y, labels, self.components, position, self.lookups)


def checked_predictions(predicted: Any, y_train: Labels, n: int) -> Labels:
    """Return predictions for n test samples, (n,) or (n, 1), as an array (n,) in the type of the targets.

    SolverFailed is raised for another shape, a class that the training samples lack, or a number that is not finite.
    """
    values = np.asarray(predicted)
    if values.shape not in ((n,), (n, 1)):
        raise SolverFailed(f"the predictions have shape {values.shape}; expected ({n},), one per test sample")
    values, of_classes = values.ravel(), target_of(y_train) == "classes"
    if values.dtype.kind not in "biuf":
        valid = np.zeros(n, dtype=bool)
    else:
        valid = np.isin(values, y_train) if of_classes else np.isfinite(values)
    if not valid.all():
        expected = "classes in the y of fit" if of_classes else "finite numbers"
        raise SolverFailed(f"a prediction is {values[~valid].tolist()[0]!r}; expected {expected}")
    return values.astype(y_train.dtype)


def fit_method(
    method: MethodSpec, unfitted: Callable[..., Any], train: Views, y: Labels, test: Views, **fit_parameters: Any
) -> Fitted:  # fmt: skip
    """Fit a method to training samples with labels ``y``, and apply it to training and test samples.

    ``unfitted`` returns the unfitted estimator, and sets the parameters that it is called with.
    """
    sizes, started = None, time.process_time()
    if method.refit is None:
        models = [unfitted().fit(train, y, **fit_parameters)]
    else:
        sizes = possible_sizes(method.refit, train, y)
        models = [unfitted(n_components=size).fit(train, y) for size in sizes]
    fit_seconds = time.process_time() - started
    if not method.embeds:
        scores = [model.class_scores(test) if hasattr(model, "class_scores") else None for model in models]
        labels = [
            np.asarray(model.predict(test) if own is None else model.labels_of(model.decision_of(own)))
            for model, own in zip(models, scores, strict=True)
        ]
        lookups = [lookup_of(model, y, test, own) for model, own in zip(models, scores, strict=True)]
        return Fitted(y, models, sizes or [], lookups, fit_seconds, labels)
    stored = [getattr(method_of(model), "embedding_", None) for model in models]
    embedded = [
        np.asarray(model.transform(train) if embedding is None else embedding, dtype=np.float64)
        for model, embedding in zip(models, stored, strict=True)
    ]
    others = [np.asarray(model.transform(test), dtype=np.float64) for model in models]
    return Fitted(
        y, models, list(range(1, embedded[0].shape[1] + 1)) if sizes is None else sizes,
        [lookup_of(model, y) for model in models], fit_seconds,
        embeddings=list(zip(embedded, others, strict=True)), leading=sizes is None,
    )  # fmt: skip


def possible_sizes(refit: RefitSpec, views: Views, y: Labels) -> list[int]:
    """Return the numbers of components that are possible with these training samples."""
    if refit.at_most is None:
        return list(refit.sizes)
    largest = len(np.unique(y)) if refit.at_most == "n_classes" else min(views[views.names[0]].shape[1:])
    return [size for size in refit.sizes if size <= largest] or refit.sizes[:1]


def lookup_of(fitted: Any, y_train: Labels, test: Any = None, scores: NDArray[Any] | None = None) -> Lookup:
    """Return a function that looks up an output of a fitted estimator for test samples by its name.

    ``test`` is the input of the estimator for the test samples, None if only their embedding is known. ``scores`` are
    class scores of the test samples, if the labels were computed from them. Survival functions are evaluated at the
    `SHARES` quantiles of the training samples' events; with ties, times repeat, and the median is in the middle.
    """
    estimator = method_of(fitted)

    def lookup(name: str) -> Any:
        if name == "n_support_vectors":
            return n_support_vectors(estimator, len(y_train))
        if name == "kernel_share":
            return kernel_share(fitted, test)
        if name == "classes":
            return getattr(estimator, "classes_", None)
        if scores is not None and name in FROM_SCORES and hasattr(fitted, FROM_SCORES[name]):
            return np.asarray(getattr(fitted, FROM_SCORES[name])(scores), dtype=np.float64)
        if name in ("times", "survival") and test is not None and predicts_survival(fitted):
            times = np.quantile(y_train[y_train > 0], SHARES)
            return times if name == "times" else survival_functions(fitted, test, times)
        if test is None or not hasattr(fitted, name):
            return None
        return np.asarray(getattr(fitted, name)(test), dtype=np.float64)

    return lookup


def n_support_vectors(estimator: Any, n_train: int) -> int | None:
    """Count the support vectors of a fitted estimator; None for an estimator without support vectors."""
    if (support := getattr(estimator, "support_", None)) is not None:
        return len(support)
    if (counts := getattr(estimator, "n_support_", None)) is not None:
        return int(np.sum(counts))
    dual = np.atleast_2d(getattr(estimator, "dual_coef_", np.empty((0, 0))))
    return int((dual != 0).any(axis=0).sum()) if dual.shape[1] == n_train else None


def kernel_share(estimator: Any, test: Any = None) -> float | None:
    """Return the share of kernels with a weight above a thousandth of the largest; None without kernel weights.

    With gates it is the mean over the test samples, each with its largest gate.
    """
    gated = test is not None and hasattr(estimator, "localized_weights")
    weights = estimator.localized_weights(test) if gated else getattr(estimator, "kernel_weights_", None)
    if weights is None:
        return None
    weights = np.asarray(weights)
    return float(np.mean(weights > 1e-3 * weights.max(axis=-1, keepdims=True)))


# --- rules that classify in an embedding


def predict_in_embedding(
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
