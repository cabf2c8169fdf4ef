"""Distances between images described by sets of local descriptors at points, without one-to-one matching.

Every point of an image is compared with the nearest point of the other image. This is the distance of Zhang, Berg,
Maire & Malik (SVM-KNN, CVPR 2006), which Lin, Liu & Fuh (NIPS 2008) use for geometric blur and for SIFT::

    d(A, B) = (mean_i min_j e(i, j) + mean_j min_i e(i, j)) / 2
    e(i, j) = ||a_i - b_j||^2 + (position_weight / position_scale) ||r_i - r_j||

with descriptors ``a_i``, ``b_j`` at positions ``r_i``, ``r_j`` in pixels. The form and the defaults are those usually
quoted for that paper; they were not checked against its equation.

The inner products of one set with many others are one matrix product (BLAS, float32). Its result stays in the
processor's cache, where one compiled pass computes both minima.
"""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mklearn.checks import check_integer, check_nonnegative, check_positive
from mklearn.errors import DataError
from mklearn.extras import require

# Largest number of inner products in a tile (1 MiB), unless two sets alone need more.
_TILE_ENTRIES = 2**18

Vector = NDArray[np.float32]


class PointSetsLike(Protocol):
    """Attributes of `mklearn.descriptors.point_sets.PointSets` that the distance needs."""

    @property
    def descriptors(self) -> NDArray[np.float32]: ...  # (n_points, d)

    @property
    def positions(self) -> NDArray[np.float32]: ...  # (n_points, 2)

    @property
    def counts(self) -> NDArray[np.int32]: ...  # (n,)


def point_set_distances(
    sets: PointSetsLike, *, position_weight: float = 0.25, position_scale: float = 270.0, n_jobs: int | None = None
) -> NDArray[np.float32]:
    """Compute the distances among point sets, (n, n), float32, in squared descriptor units.

    The result is exactly symmetric with an exactly zero diagonal. Memory beyond it: a copy of the points, ``(d + 3)``
    float32 each, and about 1 MiB per thread.

    Parameters
    ----------
    sets : mklearn.descriptors.point_sets.PointSets
    position_weight : float
        >= 0; with 0 the positions are ignored.
    position_scale : float
        > 0, in pixels. The default is about the side length of an image of 60,000 pixels.
    n_jobs : int, optional
        Number of threads, each with one BLAS thread. The result does not depend on it. Default: the calling thread
        with all BLAS threads.

    Raises
    ------
    ConfigError
        Invalid weight or scale.
    DataError
        Descriptors that are not finite or too large for float32.

    Notes
    -----
    The distance between a set without points (an image without edges) and another set is twice the mean squared length
    of the other set's descriptors. This equals the squared distance of orthogonal descriptors of that length, without a
    position term. Two sets without points have distance 0.
    """
    factor = check_nonnegative(position_weight, "position_weight") / check_positive(position_scale, "position_scale")
    points = _Points.of(sets, factor)
    n = len(points.to_empty)
    out = np.zeros((n, n), dtype=np.float32)
    last = points.tile_ends()

    def compute(numbers: range) -> None:
        for i in numbers:
            _set_to_others(points, i, last, out[i, i + 1 :])
            out[i + 1 :, i] = out[i, i + 1 :]

    if n_jobs is None:
        compute(range(n))
        return out
    step = 8 * check_integer(n_jobs, "n_jobs", 1)  # interleaved, since the rows of a triangle get shorter
    with threadpool_limits(limits=1, user_api="blas"), ThreadPoolExecutor(n_jobs) as pool:
        list(pool.map(compute, (range(k, n, step) for k in range(step))))
    return out


@dataclass(frozen=True)
class _Points:
    """Points of all sets as columns, the fastest layout for the matrix product."""

    descriptors: NDArray[np.float32]  # (d, points), minus the origin, which reduces cancellation
    squared_norms: Vector  # (points,), of these descriptors
    positions: NDArray[np.float32]  # (2, points), scaled so that their distance is the position term
    offsets: NDArray[np.intp]  # (n + 1,): set i has the columns offsets[i] to offsets[i + 1]
    to_empty: Vector  # (n,): distance of each set to a set without points

    @classmethod
    def of(cls, sets: PointSetsLike, factor: float) -> _Points:
        offsets = np.concatenate([[0], np.cumsum(sets.counts)]).astype(np.intp)
        of_sets = list(itertools.starmap(slice, pairwise(offsets)))
        d = sets.descriptors.shape[1]
        sums = (sets.descriptors[own].sum(axis=0, dtype=np.float64) for own in of_sets)
        origin = sum(sums, np.zeros(d)) / max(1, offsets[-1])
        descriptors = np.empty((d, offsets[-1]), dtype=np.float32)
        squared_norms = np.empty(offsets[-1], dtype=np.float32)
        to_empty = np.zeros(len(of_sets), dtype=np.float32)
        with np.errstate(over="ignore", invalid="ignore"):  # entries that are not finite raise below
            for i, own in enumerate(of_sets):
                exact = sets.descriptors[own].astype(np.float64)
                moved = descriptors[:, own] = (exact - origin).T
                squared_norms[own] = np.einsum("ij,ij->j", moved, moved)
                to_empty[i] = 2 * np.einsum("ij,ij->", exact, exact) / max(1, len(exact))
                if not (np.isfinite(squared_norms[own]).all() and np.isfinite(to_empty[i])):
                    raise DataError(
                        f"set {i} has descriptors that are NaN, infinite or too large for float32; scale them"
                    )
        positions = np.ascontiguousarray(factor * sets.positions.T)
        return cls(descriptors, squared_norms, positions, offsets, to_empty)

    def tile_ends(self) -> NDArray[np.intp]:
        """Return the end of the tile that begins with each set; tiles are greedy."""
        most = int(np.diff(self.offsets).max(initial=1))
        ends = self.offsets[:-1] + max(_TILE_ENTRIES // most, most)
        return np.searchsorted(self.offsets, ends, side="right") - 1


def _set_to_others(points: _Points, i: int, last: NDArray[np.intp], out: Vector) -> None:
    """Compute the distances of set `i` to the sets after it into `out`.

    `last` holds, for each set, the end of the tile that begins with it.
    """
    require("numba")
    from mklearn.kernels.point_set_loops import mean_minima

    mine, first = slice(*points.offsets[i : i + 2]), i + 1
    if mine.stop == mine.start:
        out[:] = points.to_empty[first:]
        return
    # apply the factor -2 once here (p d multiplications) instead of in every product
    scaled = np.ascontiguousarray(points.descriptors[:, mine].T * np.float32(-2))
    s = first
    while s < len(last):
        t = int(last[s])
        tile = slice(points.offsets[s], points.offsets[t])
        left = scaled @ points.descriptors[:, tile], points.squared_norms[mine], *points.positions[:, mine]
        right = points.squared_norms[tile], *points.positions[:, tile], points.offsets[s : t + 1], tile.start
        mean_minima(*left, *right, out[s - first : t - first])
        s = t
    empty = points.offsets[first + 1 :] == points.offsets[first:-1]
    out[empty] = points.to_empty[i]
