"""What the report needs to know of a fitted method, beside its scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class FitRecord:
    """All repeats of one method on one data set and training size.

    Attributes
    ----------
    dataset, protocol : str
        Ids.
    train_size : int or None
        Training size of the protocol.
    method, method_title : str
        Id and the name to print.
    kernel_ids : list of str
        The M kernels, in the order of the weights.
    weights : ndarray of shape (R, M), optional
        Kernel weights of each repeat; a row of NaN for a repeat that failed.
    history : DataFrame, optional
        ``repeat, half_step, step ("A" or "beta"), value, bound``: the objective after each half step, and a lower bound
        of it where the step has one.
    embedding : DataFrame, optional
        ``x, y, label, role ("train" or "test")``: the first two dimensions in one repeat.
    kernel_info : DataFrame, optional
        ``kernel, min_eigenvalue, off_diagonal_mass`` and, where known, ``bandwidth, identity_like, n_negative, shift``
        and ``spectrum`` (a list of rank and eigenvalue, see :mod:`mklearn.kernels.spectrum`); one row for each kernel
        (and repeat).
    confusion : ndarray of shape (c, c), optional
        Test samples of all repeats by true class (row) and predicted class (column), at the dimension that inner
        cross-validation chose.
    classes : ndarray of shape (c,), optional
        Names of the classes.
    """

    dataset: str
    protocol: str
    train_size: int | None
    method: str
    method_title: str
    kernel_ids: list[str] = field(default_factory=list)
    weights: NDArray[np.float64] | None = None
    history: pd.DataFrame | None = None
    embedding: pd.DataFrame | None = None
    kernel_info: pd.DataFrame | None = None
    confusion: NDArray[np.integer] | None = None
    classes: NDArray[np.str_] | None = None
