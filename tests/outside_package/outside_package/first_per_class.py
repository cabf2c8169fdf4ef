"""A protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mklearn.base.parameters import ListOf, at_least, constrained
from mklearn.study.data.splits import Split, Splits


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
