"""Explicit features of one kernel by the Nystroem method with landmarks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mklearn.checks import Array
from mklearn.errors import DataError, NotApplicable
from mklearn.kernels.base import DISTANCE_MEASURES, Kernel
from mklearn.kernels.distances import MEASURES
from mklearn.kernels.features import is_sparse, squared_norms
from mklearn.kernels.matrices import psd_tolerance, unit_diagonal

# Target size of a block's matrix in bytes; wide matrices exceed it, see `row_blocks`.
_BLOCK_BYTES = 2**21
_FEWEST_ROWS = 256
# Largest size of a block's matrix in bytes, exceeded only by a single row.
_MOST_BYTES = 2**23


class LandmarkMeasure:
    """A measure of `mklearn.kernels.distances` between samples and landmarks, dense or CSR, in a given precision.

    Chi-squared distances, and measures of sparse features, are computed in float64 and rounded. Rounding errors of
    squared distances in float32 are about 1e-7 of the squared distances of both samples from the mean landmark. In
    float64 the result equals `MEASURES` up to rounding. Terms of the landmarks alone are computed once.
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
        # The origin is exact in float32, so that subtracting it does not change differences between rows.
        self._origin = self.landmarks.mean(axis=0).astype(self.dtype)
        centred = self.landmarks - self._origin
        norms = self._checked_norms(centred)
        # [x, |x|^2, 1] [-2z, 1, |z|^2]' = |x - z|^2: a single product, without further passes over the result
        columns = np.concatenate([-2.0 * centred, np.ones((len(centred), 1)), norms[:, None]], axis=1)
        self._columns = columns.astype(self.dtype).T

    def __call__(self, rows: Any) -> Array:
        """Compute the measure, (b, l), between samples, (b, p), and the landmarks.

        Raises `DataError` for features that the measure can't be computed from, or that are too large for the
        precision.
        """
        if not self._in_parts:
            measured: Array = MEASURES[self.measure](rows.astype(np.float64, copy=False), self.landmarks)
            return measured.astype(self.dtype, copy=False)
        if self._origin is None:
            self._checked_norms(rows)
            return np.asarray(rows.astype(self.dtype, copy=False) @ self._columns)
        extended = np.empty((rows.shape[0], rows.shape[1] + 2), dtype=self.dtype)
        centred = extended[:, :-2]
        with np.errstate(over="ignore"):  # `_checked_norms` detects it
            np.subtract(rows, self._origin, out=centred, casting="same_kind")
        extended[:, -2] = self._checked_norms(centred)
        extended[:, -1] = 1.0
        measured = extended @ self._columns
        return np.maximum(measured, 0, out=measured)

    def among_landmarks(self) -> Array:
        """Compute the measure among the landmarks, shape (l, l), in float64 and exactly symmetric."""
        return MEASURES[self.measure](self.landmarks)

    def _checked_norms(self, rows: Array) -> Array:
        """Return the squared norms of rows in the chosen precision; raise `DataError` if their sums would overflow."""
        with np.errstate(over="ignore", invalid="ignore"):
            norms: Array = squared_norms(rows).astype(self.dtype, copy=False)
        if not norms.max(initial=0.0) < np.finfo(self.dtype).max / 16:
            advice = "rescale them, or compute in float64" if self.dtype == np.float32 else "rescale them"
            raise DataError(f"the features are too large for {self.dtype}: sums of their squares overflow; {advice}")
        return norms


def row_blocks(n_rows: int, width: int) -> Iterator[slice]:
    """Yield slices of rows, in order, for matrices with `width` columns of 8 bytes; one empty slice for no rows.

    The matrix of a block takes about 2 MB, or up to 8 MB if it is wide. Only a single row can take more.
    """
    row_bytes = 8 * max(1, width)
    rows = max(_BLOCK_BYTES // row_bytes, min(_FEWEST_ROWS, _MOST_BYTES // row_bytes), 1)
    for start in range(0, max(n_rows, 1), rows):
        yield slice(start, min(start + rows, n_rows))


@dataclass(frozen=True, eq=False)
class LandmarkMap:
    """A feature map phi with ``phi(x)'phi(y)`` close to k(x, y), and equal to it if x is a landmark.

    Of the kernel, its function with fitted parameters is used, and its scaling to unit diagonal if chosen, but no
    centring, repair or scaling to unit trace.
    """

    kernel: Kernel
    measures: tuple[LandmarkMeasure, ...]  # one for each input; none for a linear kernel, of the samples' own features
    projection: Array | None  # (l, r), U W^(-1/2) for the kernel U W U' among the landmarks; None for the identity
    rank: int  # r, the number of features
    dtype: np.dtype[Any]

    @property
    def landmarks(self) -> Any:
        """Features of the landmarks, shape (l, p); None if there are none."""
        return self.measures[0].landmarks if self.measures else None

    @property
    def width(self) -> int:
        """Number of columns of the widest matrix in `transform`: of landmarks, or of features without landmarks."""
        return self.rank if self.projection is None else len(self.projection)

    def transform(self, rows: Any, measured: Sequence[Array], out: Array) -> None:
        """Compute the features of samples into `out`, shape (b, r).

        `rows` are the inputs of the kernel for these samples, and `measured` their measures to the landmarks, (b, l)
        each.
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
            own = None
            if not DISTANCE_MEASURES.issuperset(measure for _, measure in self.kernel.inputs):
                own = [squared_norms(rows.astype(np.float64, copy=False))] * len(self.kernel.inputs)
            out[:] = unit_diagonal(out, self.kernel.self_similarity(own, len(out)), np.ones(self.rank))

    def times(self, coefficients: Array) -> LandmarkMap:
        """Return the map whose features are these features times coefficients, shape (r, p)."""
        projection = coefficients if self.projection is None else self.projection.astype(np.float64) @ coefficients
        return replace(self, projection=projection.astype(self.dtype), rank=coefficients.shape[1])


def landmark_map(
    kernel: Kernel, measures: tuple[LandmarkMeasure, ...], rank_tolerance: float, dtype: str
) -> LandmarkMap:
    """Compute the feature map of a kernel with fitted parameters from its values among the landmarks.

    Eigenvalues up to `rank_tolerance` times the largest one are dropped. The map is computed in float64 and cast once.
    Raises `DataError` if the kernel is zero among the landmarks, or not positive semidefinite without ``psd="clip"``.
    """
    gram = kernel.kernel_function([measure.among_landmarks() for measure in measures])
    values, vectors = scipy.linalg.eigh(gram)
    values, vectors = values[::-1], vectors[:, ::-1]
    largest = float(values[0])
    negative = values < -psd_tolerance(gram) * np.abs(values).max()
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


def random_per_class(labels: NDArray[Any], n_landmarks: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw landmarks at random and return their positions; classes have equal numbers as far as their sizes allow.

    Raises `NotApplicable` for fewer landmarks than classes, or more than samples.
    """
    if n_landmarks > (n := len(labels)):
        raise NotApplicable(f"n_landmarks={n_landmarks}, but there are {n} training samples: give at most {n}")
    classes, codes = np.unique(labels, return_inverse=True)
    if n_landmarks < len(classes):
        raise NotApplicable(
            f"n_landmarks={n_landmarks}, but y has {len(classes)} classes, and each needs a landmark: give at least "
            f"{len(classes)}"
        )
    shuffled = rng.permutation(len(codes))
    order = shuffled[np.argsort(codes[shuffled], kind="stable")]  # by class, in random order within a class
    sizes = np.bincount(codes)
    turns = np.arange(len(codes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return order[np.argsort(turns, kind="stable")][:n_landmarks]
