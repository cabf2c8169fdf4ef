"""A descriptor, a protocol and a metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.base.parameters import POSITIVE, ListOf, at_least, constrained
from mklearn.study.data.splits import Split, Splits
from mklearn.study.evaluation.metrics.metric import Metric
from outside_package.powers import raised


@constrained(power=[POSITIVE])
def column_means(batch: Sequence[NDArray[Any]] | NDArray[Any], power: float = 1.0) -> NDArray[np.float64]:
    """Return the mean of each column, (n, columns), to some power.

    Parameters
    ----------
    power : float
        Exponent of the means.
    """
    return raised(np.asarray(batch, dtype=float).mean(axis=1), power)


@constrained(train_size=[at_least(1), ListOf(at_least(1))])
def first_per_class(
    target: ArrayLike, train_size: Sequence[int], *, seed: int, name: str, classes: Any = None
) -> Splits:
    """Train on the first samples of each class and test on the rest; deterministic.

    Parameters
    ----------
    train_size : sequence of int
        Training samples of each class, or a list of sizes.
    """
    codes = np.asarray(target)
    nth = np.array([np.sum(codes[:position] == code) for position, code in enumerate(codes)])
    splits = [Split(0, 0, np.flatnonzero(nth < size), np.flatnonzero(nth >= size), size) for size in train_size]
    return Splits(tuple(splits), len(codes))


def worst_class_accuracy(y: Any, labels: Any) -> float:
    """Return the lowest share of correctly predicted samples of a class."""
    return min(float((labels[y == code] == code).mean()) for code in sorted(set(y.tolist())))


setattr(worst_class_accuracy, "study_row", Metric(title="Accuracy of the worst class"))  # noqa: B010
