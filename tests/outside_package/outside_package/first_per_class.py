"""Splits by the order of the samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mklearn.study.data.splits import Split, Splits


def first_per_class(target: ArrayLike, train_size: int, *, seed: int, name: str, classes: Any = None) -> Splits:
    """Take the first samples of each class for training; nothing is random."""
    codes = np.asarray(target)
    nth = np.array([np.sum(codes[:position] == code) for position, code in enumerate(codes)])
    train, test = np.flatnonzero(nth < train_size), np.flatnonzero(nth >= train_size)
    return Splits((Split(0, 0, train, test, train_size),), len(codes))
