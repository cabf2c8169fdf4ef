"""A metric: the accuracy of the class that is predicted worst."""

from __future__ import annotations

from typing import Any

from mklearn.cards import MetricCard


@MetricCard(kind="worst_class_accuracy", title="Accuracy of the worst class")
def worst_class_accuracy(y: Any, labels: Any) -> float:
    """Return the lowest share of correctly predicted samples of a class."""
    return min(float((labels[y == code] == code).mean()) for code in sorted(set(y.tolist())))
