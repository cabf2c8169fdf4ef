"""Explicit features of one kernel: the Nystroem map of its values at landmarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg

from mklearn.checks import Array
from mklearn.errors import DataError
from mklearn.kernels.base import DISTANCE_MEASURES, Kernel
from mklearn.kernels.features import is_sparse, squared_norms
from mklearn.kernels.landmark_measure import LandmarkMeasure
from mklearn.kernels.normalise import unit_diagonal

# Negative eigenvalues beyond this, relative to the largest, are no rounding errors; as in `mklearn.kernels.psd`.
_INDEFINITE = 1e-10


@dataclass(frozen=True, eq=False)
class LandmarkMap:
    """A map phi of samples to features with ``phi(x)'phi(y)`` about k(x, y), exactly so where x is a landmark.

    Parameters
    ----------
    kernel : Kernel
        Its parameters are fitted. Its kernel function is used, and the scaling to unit diagonal if it is chosen; no
        centring, repair or scaling to unit trace.
    measures : tuple of LandmarkMeasure
        One for each of the kernel's inputs; none for a linear kernel, whose features are those of the samples.
    projection : array of shape (l, r), or None
        ``U W^(-1/2)`` of the kernel among the landmarks, ``U W U'``; None: the identity.
    rank : int
        r, the number of features.
    dtype : dtype
    """

    kernel: Kernel
    measures: tuple[LandmarkMeasure, ...]
    projection: Array | None
    rank: int
    dtype: np.dtype[Any]

    @property
    def landmarks(self) -> Any:
        """Features of the landmarks, shape (l, p); None if there are none."""
        return self.measures[0].landmarks if self.measures else None

    @property
    def width(self) -> int:
        """Columns of the widest matrix that features of samples need: the number of landmarks, or else of features."""
        return self.rank if self.projection is None else len(self.projection)

    def transform(self, rows: Any, measured: Sequence[Array], out: Array) -> None:
        """Compute features of samples into an array of shape (b, r).

        `rows` are what the kernel reads of them, `measured` the measures between them and the landmarks, (b, l) each.
        """
        if self.measures:
            values = self.kernel.kernel_function(measured)
        else:
            values = rows.toarray() if is_sparse(rows) else rows
        if self.projection is None:
            out[:] = values
        else:
            np.matmul(values, self.projection, out=out)
        if self.kernel.normalise == "unit_diagonal":
            out[:] = unit_diagonal(out, self_similarities(self.kernel, rows), np.ones(self.rank))

    def times(self, coefficients: Array) -> LandmarkMap:
        """Return the map to these features times coefficients, shape (r, p)."""
        projection = coefficients if self.projection is None else self.projection.astype(np.float64) @ coefficients
        return replace(self, projection=projection.astype(self.dtype), rank=coefficients.shape[1])


def linear_map(kernel: Kernel, width: int, dtype: str) -> LandmarkMap:
    """Return the map of a linear kernel on `width` features, which needs no landmarks."""
    return LandmarkMap(kernel, (), None, width, np.dtype(dtype))


def landmark_map(
    kernel: Kernel, measures: tuple[LandmarkMeasure, ...], rank_tolerance: float, dtype: str
) -> LandmarkMap:
    """Compute the map of a kernel, whose parameters are fitted, from its values among the landmarks.

    Eigenvalues up to `rank_tolerance` times the largest one are left out. The map is computed in float64 and cast once.

    Raises
    ------
    DataError
        The kernel is zero among the landmarks, or it is not positive semidefinite and its `psd` is not "clip".
    """
    gram = kernel.kernel_function([measure.among_landmarks() for measure in measures])
    values, vectors = scipy.linalg.eigh(gram)
    values, vectors = values[::-1], vectors[:, ::-1]
    largest = float(values[0])
    negative = values < -max(_INDEFINITE, len(values) * np.finfo(np.float64).eps) * np.abs(values).max()
    if negative.any() and kernel.psd != "clip":
        raise DataError(
            f"the kernel has {negative.sum()} negative eigenvalues among the landmarks, and psd={kernel.psd!r} needs "
            "all training samples; choose psd='clip', which leaves them out"
        )
    rank = int((values > rank_tolerance * largest).sum()) if largest > 0 else 0
    if rank == 0:
        raise DataError("the kernel is zero among the landmarks, so that no features can be derived from them")
    vectors = vectors[:, :rank]
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(rank)])
    projection = vectors * (signs / np.sqrt(values[:rank]))
    return LandmarkMap(kernel, measures, projection.astype(dtype), rank, np.dtype(dtype))


def self_similarities(kernel: Kernel, rows: Any) -> Array:
    """Compute the kernel function between each sample and itself, shape (n,), from what it reads, shape (n, p)."""
    norms: Array = np.zeros(0)
    if any(measure not in DISTANCE_MEASURES for _, measure in kernel.inputs):
        norms = squared_norms(rows.astype(np.float64, copy=False))
    zeros = np.zeros(rows.shape[0])
    own = [(zeros if measure in DISTANCE_MEASURES else norms)[:, None] for _, measure in kernel.inputs]
    return kernel.kernel_function(own)[:, 0]
