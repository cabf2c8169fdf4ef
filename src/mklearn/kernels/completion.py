"""Samples that lack a view: detection, and completion of their kernel rows by the mean of the training samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mklearn.checks import Array
from mklearn.errors import DataError
from mklearn.kernels.base import Kernel
from mklearn.kernels.features import is_sparse
from mklearn.kernels.views import Pairwise

MissingViews = Literal["error", "mean"]
"""Treatment of samples that lack the view of a kernel."""
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class MeanCompletion:
    """Mean completion of a kernel: a sample without the view is placed at the mean of the observed training samples.

    With the feature map phi of the fitted kernel and its n observed training samples,
    ``phi(x) = (1/n) sum_i phi(x_i)`` for every sample x that lacks the view. Hence

    - ``k(x, x_j) = (1/n) sum_i k(x_i, x_j)`` for a sample j that has the view,
    - ``k(x, x') = (1/n^2) sum_ij k(x_i, x_j)`` for two samples that lack it.

    The completed training kernel is ``A K A'`` with the kernel K of the observed training samples, and each row of
    A a unit vector or ``1'/n``: it is positive semidefinite if K is, and stays centred. Rows of samples that lack
    the view are zero if K is centred. A linear kernel equals the linear kernel of features with each column's mean
    filled in.

    Bandwidth, means, repair and scaling are fitted to the observed training samples alone, and k is the kernel after
    these steps. So a sample that lacks the view has no unit diagonal.
    """

    observed: Mask  # (n_train,), the training samples that have the view
    row: Array  # (n_observed,), kernel between the mean and each observed training sample
    square: float  # kernel between the mean and itself

    @classmethod
    def of(cls, kernel: Kernel, observed: Mask) -> MeanCompletion:
        """Construct the completion of a kernel that was fitted to the observed training samples."""
        K = kernel.kernel_train_
        if kernel.centre:
            return cls(observed, np.zeros(len(K), dtype=K.dtype), 0.0)  # avoids the rounding errors of the mean
        row = K.mean(axis=0, dtype=np.float64)
        return cls(observed, row.astype(K.dtype), float(row.mean()))

    def training_kernel(self, K: Array) -> Array:
        """Complete the kernel of the observed training samples, (n_observed, n_observed), to (n_train, n_train)."""
        completed = self.rows(K, self.observed)
        if not self.observed.all():  # exactly symmetric: row means and column means differ by rounding
            completed[np.ix_(self.observed, ~self.observed)] = self.row[:, None]
        return completed

    def rows(self, K: Array, present: Mask) -> Array:
        """Complete K, (n_present, n_observed), whose rows are the samples that have the view, to (m, n_train)."""
        if present.all() and self.observed.all():
            return K
        is_centred = self.square == 0 and not self.row.any()
        completed = np.zeros((len(present), len(self.observed)), dtype=self.row.dtype)
        completed[np.ix_(present, self.observed)] = K
        if not is_centred:
            completed[np.ix_(present, ~self.observed)] = K.mean(axis=1, dtype=np.float64, keepdims=True)
            completed[np.ix_(~present, self.observed)] = self.row
            completed[np.ix_(~present, ~self.observed)] = self.square
        return completed


def lacking(table: Any) -> Mask:
    """Return a mask, (n,), of the samples that lack a view: every entry of their row is missing (NaN, None or NA).

    The table is an array, a DataFrame, `Pairwise` or a sparse matrix. A row of a sparse matrix lacks the view if it has
    stored entries and all are NaN. Only rows whose first entry is missing are searched: complete tables cost O(n).
    """
    if isinstance(table, Pairwise):
        return table.lacking()
    if is_sparse(table):
        rows = table.tocsr()
        if rows.dtype.kind != "f" or not np.isnan(rows.data).any():
            return np.zeros(table.shape[0], dtype=bool)
        stored = np.diff(rows.indptr)
        of_row = np.repeat(np.arange(len(stored)), stored)
        absent = np.bincount(of_row, weights=np.isnan(rows.data), minlength=len(stored))
        return (stored > 0) & (absent == stored)
    if hasattr(table, "iloc") and len(table.shape) == 1:
        return np.asarray(table.isna().to_numpy(dtype=bool))
    if hasattr(table, "iloc"):
        found = table.iloc[:, 0].isna().to_numpy(dtype=bool, copy=True)
        if found.any():
            found[found] = table.iloc[np.flatnonzero(found)].isna().all(axis=1).to_numpy(dtype=bool)
        return found
    values = np.asarray(table).reshape(len(table), -1)
    found = _absent(values[:, 0])
    if found.any():
        found[found] = _absent(values[found]).all(axis=1)
    return found


def refuse_lacking(samples: Any, name: str) -> None:
    """Raise `DataError` if any sample lacks the view; the message names the samples and says what to do."""
    if len(samples):
        listed = ", ".join(map(str, samples[:5])) + (f", ... ({len(samples)} in all)" if len(samples) > 5 else "")
        raise DataError(
            f"{name} is missing (NaN in every column) for the samples {listed}. Set missing_views='mean' in the spec "
            "of the kernel, which puts them at the mean of the training samples that have it, or leave them out"
        )


def _absent(values: NDArray[Any]) -> Mask:
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind != "O":
        return np.zeros(values.shape, dtype=bool)
    flat = [value is None or type(value).__name__ in ("NAType", "NaTType") or value != value for value in values.flat]
    return np.array(flat, dtype=bool).reshape(values.shape)
