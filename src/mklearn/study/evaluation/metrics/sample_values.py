"""Values of single test samples whose mean is a metric, for the metric's confidence interval.

The accuracy is a mean over the test samples. Any other metric T is linearised: a sample's value is ``T + m IF``, where
IF is the influence of one of m samples on T. The mean of the values is T, and their variance divided by m is the
variance of T. Recalls and F1 assume a stratified sample; the area under the ROC curve follows DeLong et al. (1988). The
values are exact for R² (its denominator depends on the training samples only) and for the absolute error. The RMSE is
linearised by the derivative of the square root. Correlations follow Devlin et al. (1975), rank correlations Croux,
Dehon (2010).

Each function has the name and parameters of its metric in `functions`, and returns an array (m,).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from mklearn.study.evaluation.metrics import functions

Values = NDArray[np.float64]


def balanced_accuracy(y: Any, labels: Any) -> Values:
    return _mean_recall_values(y, labels, np.unique(y))


def minority_recall(y_train: Any, y: Any, labels: Any) -> Values:
    return _mean_recall_values(y, labels, functions.smallest_classes(y_train, y))


def _mean_recall_values(y: Any, labels: Any, classes: Any) -> Values:
    members = [np.asarray(y == code) for code in classes]
    shares = sum(own / own.sum() for own in members) * len(y) / len(members)
    return functions.mean_recall(y, labels, classes) + _within_classes((labels == y) * shares, members)


def macro_f1(y: Any, labels: Any) -> Values:
    """Return values by the derivative of each class's F1, 2 TP/(true + predicted).

    Only the variation within classes counts, because splits are stratified.
    """
    classes = np.union1d(y, labels)
    true, predicted = (np.asarray(codes)[:, None] == classes for codes in (y, labels))
    counts = true.sum(axis=0) + predicted.sum(axis=0)
    hits = 2.0 * (true & predicted)
    scores = hits.sum(axis=0) / counts
    influence = ((hits - scores * (true.astype(float) + predicted)) / counts).mean(axis=1)
    return float(scores.mean()) + _within_classes(len(y) * influence, list(true.T))


def _within_classes(values: Values, members: list[NDArray[np.bool_]]) -> Values:
    """Return values v centred within each class of n samples, (v - mean) sqrt(n/(n - 1)).

    Their sum is 0, and the sum of their squares is m² times the variance of the mean of v. Classes of a single sample
    have no spread, so they are pooled into one class.
    """
    single = [own for own in members if own.sum() == 1]
    several = [own for own in members if own.sum() > 1]
    centred = np.zeros(len(values))
    for own in [*several, *([np.any(single, axis=0)] if len(single) > 1 else [])]:
        n = int(own.sum())
        centred[own] = (values[own] - values[own].mean()) * np.sqrt(n / (n - 1.0))
    return centred


def log_loss(y: Any, probabilities: Any, classes: Any) -> Values:
    """Return the negative logarithm of each true class's probability, clipped as in scikit-learn."""
    order = np.argsort(classes)
    places = order[np.searchsorted(np.asarray(classes)[order], y)]
    least = np.finfo(probabilities.dtype).eps
    return np.asarray(-np.log(np.clip(probabilities[np.arange(len(y)), places], least, 1.0 - least)))


def auc(y: Any, class_scores: Any, classes: Any) -> Values:
    """Return DeLong's placement values of positive and negative samples, averaged over the one-vs-rest curves."""
    members, columns = [np.asarray(y == code) for code in classes], functions.class_columns(class_scores)
    placed = np.mean([_placements(*pair) for pair in zip(members[-len(columns) :], columns, strict=True)], axis=0)
    return float(placed.mean()) + _within_classes(2.0 * placed, members)


def _placements(positive: NDArray[np.bool_], scores: Values) -> Values:
    """Compute for each sample the proportion of samples of the opposite class that it is ranked correctly against.

    The proportions are scaled by m/(2 n), with n samples in the sample's own class, so that their mean is the area.
    """
    ranks, n_positive = rankdata(scores), int(positive.sum())
    n_negative = len(scores) - n_positive
    placed = np.empty(len(scores))
    placed[positive] = (ranks[positive] - rankdata(scores[positive])) / n_negative
    placed[~positive] = 1.0 - (ranks[~positive] - rankdata(scores[~positive])) / n_positive
    return placed * np.where(positive, 1.0 / n_positive, 1.0 / n_negative) * len(scores) / 2.0


def r2(y_train: Any, y: Any, labels: Any) -> Values:
    return np.asarray(1.0 - (labels - y) ** 2 / np.var(y_train))


def rmse(y: Any, labels: Any) -> Values:
    error = functions.rmse(y, labels)
    return np.full(len(y), error) if error == 0 else np.asarray(error + ((labels - y) ** 2 / error - error) / 2.0)


def mae(y: Any, labels: Any) -> Values:
    return np.asarray(np.abs(labels - y))


def pearson(y: Any, labels: Any) -> Values:
    """Return r + z w - r (z² + w²)/2, with z and w the standardised true and predicted numbers."""
    r, z, w = functions.pearson(y, labels), functions.standardised(y), functions.standardised(labels)
    return np.asarray(r + z * w - r * (z**2 + w**2) / 2.0)


def spearman(y: Any, labels: Any) -> Values:
    """Return values by the influence ``12 (F(x) G(y) + E[F(X) 1(Y >= y)] + E[G(Y) 1(X >= x)]) - 9 - 3 rho``.

    The distribution functions F and G are estimated by ranks.
    """
    rho, m = functions.spearman(y, labels), len(y)
    one, other = ((rankdata(values) - 0.5) / m for values in (y, labels))
    influence = 12.0 * (one * other + _mean_above(one, labels) + _mean_above(other, y))
    return np.asarray(rho + influence - influence.mean())


def _mean_above(values: Values, keys: Any) -> Values:
    """Return for each sample i the mean over all samples j of value_j 1(key_j >= key_i), shape (m,)."""
    order = np.argsort(keys, kind="stable")
    above = np.cumsum(values[order][::-1])[::-1]
    first = np.searchsorted(np.asarray(keys)[order], keys, side="left")
    return np.asarray(above[first] / len(values))
