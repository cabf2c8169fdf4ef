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
    def descriptors(self) -> NDArray[np.float32]: ...  # (n, p, d)

    @property
    def positions(self) -> NDArray[np.float32]: ...  # (n, p, 2)

    @property
    def counts(self) -> NDArray[np.int32]: ...  # (n,)


def point_set_distances(
    X: PointSetsLike,
    Y: PointSetsLike | None = None,
    *,
    position_weight: float = 0.25,
    position_scale: float = 270.0,
    n_jobs: int | None = None,
) -> NDArray[np.float32]:
    """Compute the distances between the sets of `X` and of `Y`, (n, m), float32, in squared descriptor units.

    Memory beyond the result: a copy of the real points, ``(d + 3)`` float32 each, and about 1 MiB per thread.

    Parameters
    ----------
    X : mklearn.descriptors.point_sets.PointSets
        n sets of at most p points: `descriptors` (n, p, d), `positions` (n, p, 2), `counts` (n,).
    Y : PointSets, optional
        m sets. Default: `X`; the result is then exactly symmetric with an exactly zero diagonal. Between `X` and `Y`,
        equal sets have a distance of 0 up to rounding errors.
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
        Descriptors that are not finite, too large for float32 or of different lengths.

    Notes
    -----
    The distance between a set without points (an image without edges) and another set is twice the mean squared length
    of the other set's descriptors. This equals the squared distance of orthogonal descriptors of that length, without a
    position term. Two sets without points have distance 0. These values do not depend on the other test sets.
    """
    factor = check_nonnegative(position_weight, "position_weight") / check_positive(position_scale, "position_scale")
    columns = _Points.of(X if Y is None else Y, "X" if Y is None else "Y", factor)
    rows = columns if Y is None else _Points.of(X, "X", factor, origin=columns.origin)
    n = len(rows.to_empty)
    out = np.zeros((n, len(columns.to_empty)), dtype=np.float32)

    last = columns.tile_ends(rows.most)

    def compute(numbers: range) -> None:
        for i in numbers:
            first = i + 1 if Y is None else 0
            _set_to_sets(rows, i, columns, first, last, out[i, first:])
            if Y is None:
                out[first:, i] = out[i, first:]

    if n_jobs is None:
        compute(range(n))
        return out
    step = 8 * check_integer(n_jobs, "n_jobs", 1)  # interleaved, since the rows of a triangle get shorter
    with threadpool_limits(limits=1, user_api="blas"), ThreadPoolExecutor(n_jobs) as pool:
        list(pool.map(compute, (range(k, n, step) for k in range(step))))
    return out


@dataclass(frozen=True)
class _Points:
    """Real points of all sets, concatenated as columns, the fastest layout for the matrix product."""

    descriptors: NDArray[np.float32]  # (d, points), minus the origin, which reduces cancellation
    squared_norms: Vector  # (points,), of these descriptors
    positions: NDArray[np.float32]  # (2, points), scaled so that their distance is the position term
    offsets: NDArray[np.intp]  # (n + 1,): set i has the columns offsets[i] to offsets[i + 1]
    to_empty: Vector  # (n,): distance of each set to a set without points
    origin: NDArray[np.float64]  # (d,)

    @classmethod
    def of(cls, sets: PointSetsLike, name: str, factor: float, origin: NDArray[np.float64] | None = None) -> _Points:
        n, _, d = sets.descriptors.shape
        if origin is not None and len(origin) != d:
            raise DataError(f"{name} has descriptors of length {d}, the other sets of length {len(origin)}")
        offsets = np.concatenate([[0], np.cumsum(sets.counts)]).astype(np.intp)
        if origin is None:
            sums = (sets.descriptors[i, :k].sum(axis=0, dtype=np.float64) for i, k in enumerate(sets.counts))
            origin = sum(sums, np.zeros(d)) / max(1, offsets[-1])
        descriptors = np.empty((d, offsets[-1]), dtype=np.float32)
        squared_norms = np.empty(offsets[-1], dtype=np.float32)
        positions = np.empty((2, offsets[-1]), dtype=np.float32)
        to_empty = np.zeros(n, dtype=np.float32)
        with np.errstate(over="ignore", invalid="ignore"):  # entries that are not finite raise below
            for i, (k, real) in enumerate(zip(sets.counts, itertools.starmap(slice, pairwise(offsets)), strict=True)):
                exact = sets.descriptors[i, :k].astype(np.float64)
                moved = descriptors[:, real] = (exact - origin).T
                squared_norms[real] = np.einsum("ij,ij->j", moved, moved)
                to_empty[i] = 2 * np.einsum("ij,ij->", exact, exact) / max(1, k)
                positions[:, real] = factor * sets.positions[i, :k].T
                if not (np.isfinite(squared_norms[real]).all() and np.isfinite(to_empty[i])):
                    raise DataError(
                        f"{name}: set {i} has descriptors that are NaN, infinite or too large for float32; scale them"
                    )
        return cls(descriptors, squared_norms, positions, offsets, to_empty, origin)

    @property
    def most(self) -> int:
        """Largest number of points in a set, at least 1."""
        return int(np.diff(self.offsets).max(initial=1))

    def tile_ends(self, rows: int) -> NDArray[np.intp]:
        """Return the end of the tile that begins with each set, for products with at most `rows` points.

        Tiles are greedy and the same for every set of rows: a row's values do not depend on the rows before it.
        """
        ends = self.offsets[:-1] + max(_TILE_ENTRIES // rows, self.most)
        return np.searchsorted(self.offsets, ends, side="right") - 1


def _set_to_sets(
    rows: _Points, i: int, columns: _Points, first: int, last: NDArray[np.intp], out: Vector
) -> None:  # fmt: skip
    """Compute the distances of set `i` of `rows` to the sets of `columns` from `first` on, into `out`.

    `last` holds, for each set of `columns`, the end of the tile that begins with it.
    """
    require("numba")
    from mklearn.kernels.point_set_loops import mean_minima

    mine = slice(*rows.offsets[i : i + 2])
    if mine.stop == mine.start:
        out[:] = columns.to_empty[first:]
        return
    # apply the factor -2 once here (p d multiplications) instead of in every product
    scaled = np.ascontiguousarray(rows.descriptors[:, mine].T * np.float32(-2))
    s = first
    while s < len(last):
        t = int(last[s])
        tile = slice(columns.offsets[s], columns.offsets[t])
        left = scaled @ columns.descriptors[:, tile], rows.squared_norms[mine], *rows.positions[:, mine]
        right = columns.squared_norms[tile], *columns.positions[:, tile], columns.offsets[s : t + 1], tile.start
        mean_minima(*left, *right, out[s - first : t - first])
        s = t
    empty = columns.offsets[first + 1 :] == columns.offsets[first:-1]
    out[empty] = rows.to_empty[i]
