"""Metrics of predicted labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from mklearn.errors import NotApplicable


def accuracy(y: Any, labels: Any) -> float:
    """Return the share of test samples that are predicted correctly."""
    return float(np.mean(labels == y))


def balanced_accuracy(y: Any, labels: Any) -> float:
    """Return the mean over the classes of the share of their samples that is predicted correctly."""
    return float(np.mean([np.mean(labels[y == code] == code) for code in np.unique(y)]))


def minority_recall(y_train: Any, y: Any, labels: Any) -> float:
    """Return the recall of the class with the fewest training samples; of several such classes the mean."""
    fewest = smallest_classes(y_train, y)
    return float(np.mean([np.mean(labels[y == code] == code) for code in fewest]))


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
