"""A pairwise measure between many samples, block by block, and landmarks that stay the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mklearn.checks import Array
from mklearn.errors import DataError
from mklearn.kernels.distances import MEASURES
from mklearn.kernels.features import is_sparse, squared_norms

# A matrix of a block takes about this many bytes, or more if the block had fewer rows than these.
_BLOCK_BYTES = 2**21
_FEWEST_ROWS = 256
# It takes more than this only with a single row.
_MOST_BYTES = 2**23


class LandmarkMeasure:
    """A measure of `mklearn.kernels.distances` between samples and landmarks, in one precision.

    Parameters
    ----------
    measure : str
        One of `MEASURES`.
    landmarks : array or CSR array of shape (l, p)
    dtype : {"float32", "float64"}
        Precision of the measure. Chi-squared distances, and measures of sparse features, are computed in float64 and
        rounded to it. float32 squared distances have rounding errors of about 1e-7 of the squared distances of both
        samples from the mean landmark.

    What depends on the landmarks alone is computed once. In float64 the result is that of `MEASURES` to rounding.
    """

    def __init__(self, measure: str, landmarks: Any, dtype: str) -> None:
        self.measure = measure
        self.dtype = np.dtype(dtype)
        self.landmarks = landmarks.astype(np.float64)
        self._in_parts = not is_sparse(landmarks) and measure in ("squared_euclidean", "inner_product")
        if not self._in_parts:
            return
        if measure == "inner_product":
            self._origin = None
            self._checked_norms(self.landmarks)
            self._columns = self.landmarks.astype(self.dtype).T
            return
        # Differences from an origin that float32 has exactly are those of the rows as they were given.
        self._origin = self.landmarks.mean(axis=0).astype(self.dtype)
        centred = self.landmarks - self._origin
        norms = self._checked_norms(centred)
        # [x, |x|^2, 1] [-2z, 1, |z|^2]' = |x - z|^2: one product, and no further passes over its result
        columns = np.concatenate([-2.0 * centred, np.ones((len(centred), 1)), norms[:, None]], axis=1)
        self._columns = columns.astype(self.dtype).T

    def __call__(self, rows: Any) -> Array:
        """Return the measure between samples, shape (b, p), and the landmarks, shape (b, l); a new array.

        Features that it can't be computed from, or that are too large for the precision, raise `DataError`.
        """
        if not self._in_parts:
            measured: Array = MEASURES[self.measure](rows.astype(np.float64, copy=False), self.landmarks)
            return measured.astype(self.dtype, copy=False)
        if self._origin is None:
            self._checked_norms(rows)
            return np.asarray(rows.astype(self.dtype, copy=False) @ self._columns)
        extended = np.empty((rows.shape[0], rows.shape[1] + 2), dtype=self.dtype)
        centred = extended[:, :-2]
        with np.errstate(over="ignore"):  # `_checked_norms` finds it
            np.subtract(rows, self._origin, out=centred, casting="same_kind")
        extended[:, -2] = self._checked_norms(centred)
        extended[:, -1] = 1.0
        measured = extended @ self._columns
        return np.maximum(measured, 0, out=measured)

    def among_landmarks(self) -> Array:
        """Return the measure among the landmarks, shape (l, l), in float64 and exactly symmetric."""
        return MEASURES[self.measure](self.landmarks)

    def _checked_norms(self, rows: Array) -> Array:
        """Return squared norms in the precision; raise `DataError` if sums of them would overflow."""
        with np.errstate(over="ignore", invalid="ignore"):
            norms: Array = squared_norms(rows).astype(self.dtype, copy=False)
        if not norms.max(initial=0.0) < np.finfo(self.dtype).max / 16:
            advice = "rescale them, or compute in float64" if self.dtype == np.float32 else "rescale them"
            raise DataError(f"the features are too large for {self.dtype}: sums of their squares overflow; {advice}")
        return norms


def row_blocks(n_rows: int, width: int) -> Iterator[slice]:
    """Yield slices of rows, in order, for matrices with `width` columns of 8 bytes; one empty slice for no rows.

    A matrix of a block takes about 2 MB, up to 8 MB where it is wide, and more only if one row does.
    """
    row_bytes = 8 * max(1, width)
    rows = max(_BLOCK_BYTES // row_bytes, min(_FEWEST_ROWS, _MOST_BYTES // row_bytes), 1)
    for start in range(0, max(n_rows, 1), rows):
        yield slice(start, min(start + rows, n_rows))
