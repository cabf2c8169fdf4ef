"""Distances or kernel values among samples, as a view of these samples."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.errors import DataError
from mklearn.kernels.views import SampleView

Array = NDArray[np.floating[Any]]


class Pairwise(SampleView):
    """Distances or kernel values among samples, as a view: kernels look their values up instead of computing them.

    Selecting samples selects rows of the matrix; which columns a kernel reads follows from its training samples. So
    cross-validation can split it, in `mklearn.kernels.Views` beside tables of features.

    Parameters
    ----------
    values : array of shape (N, N), or (m, N)
        What the kernel's ``measure`` says, such as squared distances, among N samples; or between m new samples and
        these, to some of which an estimator was fitted. Not copied, so that it may be memory-mapped.
    positions : array of shape (m,), optional
        Columns that stand for the samples in the rows; by default 0, 1, ... of a square matrix, and none of another.

    Raises
    ------
    DataError
        Not a matrix, or positions that are none of its columns.

    Examples
    --------
    >>> distances = Pairwise(np.array([[0.0, 1.0, 4.0], [1.0, 0.0, 1.0], [4.0, 1.0, 0.0]]))
    >>> distances[[0, 2]].among(), distances[[1]].against(distances[[0, 2]])
    (array([[0., 4.],
           [4., 0.]]), array([[1., 1.]]))
    """

    def __init__(self, values: ArrayLike, positions: ArrayLike | None = None) -> None:
        self._values = np.asanyarray(values)
        if self._values.ndim != 2 or 0 in self._values.shape:
            raise DataError(f"pairwise values have shape {self._values.shape}; expected samples in rows and in columns")
        n, self.n_columns = self._values.shape
        self._rows = np.arange(n)
        if positions is None:
            self._positions = self._rows if n == self.n_columns else None
        else:
            self._positions = np.asarray(positions)
            if self._positions.shape != (n,):
                raise DataError(f"positions have shape {self._positions.shape} for {n} rows of pairwise values")
            if self._positions.dtype.kind not in "iu" or not np.isin(self._positions, np.arange(self.n_columns)).all():
                raise DataError(f"positions of pairwise values must be integers from 0 to {self.n_columns - 1}")
        self.shape = self._values.shape
        self.dtype = np.dtype(np.float32 if self._values.dtype == np.float32 else np.float64)
        """Of kernels from these values."""

    def __getitem__(self, rows: Any) -> Self:
        chosen = copy.copy(self)
        chosen._rows = self._rows[rows]
        chosen._positions = None if self._positions is None else self._positions[rows]
        chosen.shape = (len(chosen._rows), self.n_columns)
        return chosen

    def __repr__(self) -> str:
        return f"Pairwise({self.shape[0]} samples, {self.n_columns} columns)"

    def among(self) -> Array:
        """Return the values among the samples, (n, n), a new array."""
        return self.against(self)

    def against(self, training: Pairwise) -> Array:
        """Return the values of the samples, in the rows, with training samples, in the columns: a new array (m, n)."""
        if training._positions is None:
            raise DataError("the rows of these pairwise values stand for no columns: kernels can't be fitted to them")
        return np.asarray(self._values[np.ix_(self._rows, training._positions)])

    def own(self) -> Array | None:
        """Return the value of each sample with itself, (m,); None of new samples, of which it is not known."""
        return None if self._positions is None else np.asarray(self._values[self._rows, self._positions])

    def lacking(self) -> NDArray[np.bool_]:
        """Find the samples without any value, NaN in the whole row, (m,)."""
        absent = np.zeros(len(self._rows), dtype=bool)
        if self._values.dtype.kind == "f":
            with_gaps = np.flatnonzero(np.isnan(self._values[self._rows, 0]))
            absent[with_gaps] = np.isnan(self._values[self._rows[with_gaps]]).all(axis=1)
        return absent
