"""A metric."""

from __future__ import annotations

from typing import Any

from mklearn.study.evaluation.metrics.metric import Metric


def worst_class_accuracy(y: Any, labels: Any) -> float:
    """Return the lowest share of correctly predicted samples of a class."""
    return min(float((labels[y == code] == code).mean()) for code in sorted(set(y.tolist())))


setattr(worst_class_accuracy, "study_row", Metric(title="Accuracy of the worst class"))  # noqa: B010
