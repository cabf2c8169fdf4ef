"""Metrics of predicted labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from mklearn.cards import MetricCard
from mklearn.errors import NotApplicable


@MetricCard(
    kind="accuracy",
    title="Accuracy",
    mean_of_samples=True,
    by_leading_components="mklearn.study.evaluation.rules:accuracy_by_dimension",
)
def accuracy(y: Any, labels: Any) -> float:
    """Return the share of test samples that are predicted correctly."""
    return float(np.mean(labels == y))


@MetricCard(
    kind="balanced_accuracy",
    title="Balanced accuracy",
    by_sample="mklearn.study.evaluation.metrics.sample_values:balanced_accuracy_values",
)
def balanced_accuracy(y: Any, labels: Any) -> float:
    """Return the mean over the classes of the share of their samples that is predicted correctly."""
    return float(np.mean([np.mean(labels[y == code] == code) for code in np.unique(y)]))


@MetricCard(
    kind="minority_recall",
    title="Recall of the smallest class",
    by_sample="mklearn.study.evaluation.metrics.sample_values:minority_recall_values",
)
def minority_recall(y_train: Any, y: Any, labels: Any) -> float:
    """Return the recall of the class with the fewest training samples; of several such classes the mean."""
    fewest = smallest_classes(y_train, y)
    return float(np.mean([np.mean(labels[y == code] == code) for code in fewest]))


@MetricCard(
    kind="macro_f1", title="Macro F1", by_sample="mklearn.study.evaluation.metrics.sample_values:macro_f1_values"
)
def macro_f1(y: Any, labels: Any) -> float:
    """Return the mean F1 score over the classes that test samples have or are predicted to have."""
    from sklearn.metrics import f1_score  # here: every fit imports this file, for accuracy alone

    return float(f1_score(y, labels, average="macro"))


def smallest_classes(y_train: Any, y: Any) -> Any:
    """Return the classes with the fewest training samples.

    Raises
    ------
    NotApplicable
        One of them has no test sample.
    """
    classes, counts = np.unique(y_train, return_counts=True)
    fewest = classes[counts == counts.min()]
    missing = np.setdiff1d(fewest, y)
    if missing.size:
        raise NotApplicable(f"the recall of the smallest class needs test samples of it; class {missing[0]!s} has none")
    return fewest
