"""Values of single test samples whose mean is a metric: what its interval is computed from.

The accuracy is a mean over the test samples already. Any other metric T is one to first order: a sample's value is
``T + m IF``, with the influence IF of one of m samples on T. The values have T as their mean, and their variance over m
is that of T: for recalls and F1 that of a stratified sample, for the area under the ROC curve that of DeLong et al.
(1988). A metric names its function in its card, as ``by_sample``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from mklearn.study.evaluation.metrics.labels import smallest_classes

Values = NDArray[np.float64]


def balanced_accuracy_values(y: Any, labels: Any) -> Values:
    """Return values (m,) with the balanced accuracy as their mean."""
    return _mean_recall_values(y, labels, np.unique(y))


def minority_recall_values(y_train: Any, y: Any, labels: Any) -> Values:
    """Return values (m,) with the recall of the smallest class as their mean."""
    return _mean_recall_values(y, labels, smallest_classes(y_train, y))


def macro_f1_values(y: Any, labels: Any) -> Values:
    """Return values (m,) with the macro F1 score as their mean, from the derivative of 2 TP/(samples + predictions).

    Only what varies within a class counts, as splits keep the numbers of samples of the classes.
    """
    classes = np.union1d(y, labels)
    true, predicted = (np.asarray(codes)[:, None] == classes for codes in (y, labels))
    counts = true.sum(axis=0) + predicted.sum(axis=0)
    hits = 2.0 * (true & predicted)
    scores = hits.sum(axis=0) / counts
    influence = ((hits - scores * (true.astype(float) + predicted)) / counts).mean(axis=1)
    return float(scores.mean()) + _within_classes(len(y) * influence, list(true.T))


def log_loss_values(y: Any, probabilities: Any, classes: Any) -> Values:
    """Return minus the logarithm of the probability of each sample's class, clipped as scikit-learn does."""
    order = np.argsort(classes)
    places = order[np.searchsorted(np.asarray(classes)[order], y)]
    least = np.finfo(probabilities.dtype).eps
    return np.asarray(-np.log(np.clip(probabilities[np.arange(len(y)), places], least, 1.0 - least)))


def auc_values(y: Any, class_scores: Any, classes: Any) -> Values:
    """Return values (m,) with the area under the ROC curve as their mean: DeLong's placements of both sorts."""
    members = [np.asarray(y == code) for code in classes]
    if class_scores.ndim == 2 and class_scores.shape[1] > 2:
        each = [_placements(own, class_scores[:, place]) for place, own in enumerate(members)]
    else:
        each = [_placements(members[1], class_scores if class_scores.ndim == 1 else class_scores[:, 1])]
    placed = np.mean(each, axis=0)
    return float(placed.mean()) + _within_classes(2.0 * placed, members)


def _mean_recall_values(y: Any, labels: Any, classes: Any) -> Values:
    right = np.asarray(labels == y, dtype=np.float64)
    members = [np.asarray(y == code) for code in classes]
    mean = float(np.mean([right[own].mean() for own in members]))
    shares = sum(own / own.sum() for own in members) * len(right) / len(members)
    return mean + _within_classes(right * shares, members)


def _placements(positive: NDArray[np.bool_], scores: Values) -> Values:
    """Compute for samples of one class and the others which share of the other sort they are placed rightly to.

    Times m/(2 n) for n samples of their sort, so that the mean is the area.
    """
    ranks, n_positive = rankdata(scores), int(positive.sum())
    n_negative = len(scores) - n_positive
    placed = np.empty(len(scores))
    placed[positive] = (ranks[positive] - rankdata(scores[positive])) / n_negative
    placed[~positive] = 1.0 - (ranks[~positive] - rankdata(scores[~positive])) / n_positive
    return placed * np.where(positive, 1.0 / n_positive, 1.0 / n_negative) * len(scores) / 2.0


def _within_classes(values: Values, members: list[NDArray[np.bool_]]) -> Values:
    """Return (v - v_class) sqrt(n/(n - 1)), whose sum is 0 and whose squares sum to m times the variance of their mean.

    A class of a single sample has no spread of its own: all of these are one class together.
    """
    single = [own for own in members if own.sum() == 1]
    several = [own for own in members if own.sum() > 1]
    centred = np.zeros(len(values))
    for own in [*several, *([np.any(single, axis=0)] if len(single) > 1 else [])]:
        n = int(own.sum())
        centred[own] = (values[own] - values[own].mean()) * np.sqrt(n / (n - 1.0))
    return centred
