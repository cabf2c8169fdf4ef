"""Distances between images described by sets of local descriptors at points, without matching them one to one.

Every point of one image looks for the nearest point of the other, and the other way round: the distance of Zhang, Berg,
Maire & Malik (SVM-KNN, CVPR 2006) that Lin, Liu & Fuh (NIPS 2008) use for geometric blur and for SIFT::

    d(A, B) = (mean_i min_j e(i, j) + mean_j min_i e(i, j)) / 2
    e(i, j) = ||a_i - b_j||^2 + (position_weight / position_scale) ||r_i - r_j||

with descriptors ``a_i``, ``b_j`` at positions ``r_i``, ``r_j`` in pixels. The position term is not squared.
The form and the defaults are those usually given for that paper; its equation itself was not at hand to compare. With
``position_weight=0`` it is the plain form, on descriptors alone.

Inner products of one set with many others are one matrix product (BLAS, float32) whose result stays in the processor's
cache, where one compiled pass takes both minima. All computations use the calling thread, and BLAS's threads as the
environment allows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.errors import DataError
from mklearn.kernels.row_blocks import check_rows, merge_row_blocks, row_starts

POSITION_WEIGHT = 0.25
"""Weight lambda of the position term."""

POSITION_SCALE = 270.0
"""Length r0 in pixels by which position differences are divided: about the side of an image of 60,000 pixels."""

# A tile of inner products has at most this many entries (1 MiB), unless two sets alone need more.
_TILE_ENTRIES = 2**18

Vector = NDArray[np.float32]


class PointSetsLike(Protocol):
    """What this module needs of `mklearn.descriptors.point_sets.PointSets`."""

    @property
    def descriptors(self) -> NDArray[np.float32]: ...  # (n, p, d)

    @property
    def positions(self) -> NDArray[np.float32]: ...  # (n, p, 2)

    @property
    def counts(self) -> NDArray[np.int32]: ...  # (n,)


def point_set_distance_rows(
    sets: PointSetsLike,
    rows: ArrayLike,
    *,
    position_weight: float = POSITION_WEIGHT,
    position_scale: float = POSITION_SCALE,
) -> Vector:
    """Some rows of the upper triangle of the distances of `sets` to themselves.

    A row's values do not depend on the other rows asked for. `mklearn.kernels.row_blocks` splits the rows and merges
    the parts. Apart from the result it needs a copy of the real points, ``(d + 3)`` float32 each, and tiles of
    `tile_bytes` (about 1 MiB), whatever the number of sets.

    Parameters
    ----------
    sets : PointSets
        n sets of at most p points: `descriptors` (n, p, d), `positions` (n, p, 2), `counts` (n,). Points beyond a
        set's count are not looked at.
    rows : array_like of int, shape (r,)
    position_weight : float, default 0.25
        At least 0; with 0 the positions are not looked at.
    position_scale : float, default 270
        In pixels.

    Returns
    -------
    ndarray of float32, shape (sum of n - 1 - rows,)
        Row after row: the distances of set ``i`` to the sets ``i + 1, ..., n - 1``, in squared units of the
        descriptors.

    Raises
    ------
    DataError
        Arrays of the wrong shape, counts out of range, real points that are not finite or too large for float32, a
        row that does not exist or is given twice, an illegal weight or scale.

    Notes
    -----
    A set without points (an image without edges) matches nothing: its distance to another set is the squared distance
    from the other's descriptors to unrelated (orthogonal) ones of the same length, which is twice their mean squared
    length (2 for unit vectors), without a position term; its distance to another set without points is 0. So it is
    finite, farther than sets with points are in practice, and needs no other samples: a test sample's distances do
    not depend on the rest of the test set.
    """
    points = _Points.of(sets, "sets", _factor(position_weight, position_scale))
    wanted = check_rows(rows, points.n)
    starts = row_starts(wanted, points.n)
    out = np.empty(starts[-1], dtype=np.float32)
    room = _Room(points, points)
    for row, start, stop in zip(wanted, starts, starts[1:], strict=False):
        _distances_to(points, int(row), points, int(row) + 1, room, out[start:stop])
    return out


def point_set_distances(
    X: PointSetsLike,
    Y: PointSetsLike | None = None,
    *,
    position_weight: float = POSITION_WEIGHT,
    position_scale: float = POSITION_SCALE,
) -> NDArray[np.float32]:
    """All distances between the sets of `X` and those of `Y`.

    Parameters
    ----------
    X : PointSets
        n sets.
    Y : PointSets, optional
        m sets. Default: `X`; the result then is exactly symmetric with an exactly zero diagonal. With a `Y`, equal
        sets have a distance of rounding errors, not exactly 0.
    position_weight, position_scale : float
        See `point_set_distance_rows`, also for sets without points.

    Returns
    -------
    ndarray of float32, shape (n, m)
        In squared units of the descriptors.

    Raises
    ------
    DataError
        As in `point_set_distance_rows`; descriptors of different lengths.
    """
    factor = _factor(position_weight, position_scale)
    if Y is None:
        n = len(X.counts)
        every = np.arange(n)
        upper = point_set_distance_rows(X, every, position_weight=position_weight, position_scale=position_scale)
        return merge_row_blocks([(every, upper)], n)
    columns = _Points.of(Y, "Y", factor)
    rows = _Points.of(X, "X", factor, origin=columns.origin)
    out = np.empty((rows.n, columns.n), dtype=np.float32)
    room = _Room(rows, columns)
    for i in range(rows.n):
        _distances_to(rows, i, columns, 0, room, out[i])
    return out


def tile_bytes(n_points: int, n_features: int) -> int:
    """Bytes of the buffers for sets of at most `n_points` points: the tile, one scaled set, the column minima."""
    return 4 * (max(_TILE_ENTRIES, n_points**2) + n_points * n_features + n_points)


@dataclass(frozen=True)
class _Points:
    """The real points of all sets, one after the other in columns, which is what the matrix product reads fastest."""

    descriptors: NDArray[np.float32]  # (d, points), moved by -origin: differences stay, cancellation shrinks
    squared_norms: Vector  # (points,), of the moved descriptors
    places: NDArray[np.float32] | None  # (2, points), scaled so that their distance is the position term
    offsets: NDArray[np.intp]  # (n + 1,): set i has the columns offsets[i] to offsets[i + 1]
    to_none: Vector  # (n,): distance of each set to a set without points
    origin: NDArray[np.float64]  # (d,)

    @property
    def n(self) -> int:
        return len(self.to_none)

    @property
    def largest(self) -> int:
        """Points of the largest set."""
        return int(np.diff(self.offsets).max())

    @classmethod
    def of(cls, sets: PointSetsLike, name: str, factor: float, origin: NDArray[np.float64] | None = None) -> _Points:
        given, positions, counts = (np.asarray(a) for a in (sets.descriptors, sets.positions, sets.counts))
        _check(given, positions, counts, name)
        n, _, d = given.shape
        if origin is not None and len(origin) != d:
            raise DataError(f"{name} has descriptors of length {d}, the other sets of length {len(origin)}")
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
        real = [slice(a, b) for a, b in pairwise(offsets)]
        if origin is None:
            total = np.zeros(d)
            for i in range(n):
                total += given[i, : counts[i]].sum(axis=0, dtype=np.float64)
            origin = total / max(1, offsets[-1])
        descriptors = np.empty((d, offsets[-1]), dtype=np.float32)
        squared_norms = np.empty(offsets[-1], dtype=np.float32)
        to_none = np.zeros(n, dtype=np.float32)
        places = np.empty((2, offsets[-1]), dtype=np.float32) if factor > 0 else None
        with np.errstate(over="ignore", invalid="ignore"):  # not finite: refused below, with the set's number
            for i in range(n):
                if counts[i] == 0:
                    continue
                exact = given[i, : counts[i]].astype(np.float64)
                moved = descriptors[:, real[i]] = (exact - origin).T
                squared_norms[real[i]] = np.einsum("ij,ij->j", moved, moved)
                to_none[i] = 2 * np.einsum("ij,ij->", exact, exact) / counts[i]
                if places is not None:
                    places[:, real[i]] = factor * positions[i, : counts[i]].T
                    if not np.isfinite(places[:, real[i]]).all():
                        raise DataError(f"{name}: set {i} has positions that are NaN or infinite")
                if not (np.isfinite(squared_norms[real[i]]).all() and np.isfinite(to_none[i])):
                    raise DataError(
                        f"{name}: set {i} has descriptors that are NaN, infinite or too large for float32; scale them"
                    )
        return cls(descriptors, squared_norms, places, offsets, to_none, origin)


class _Room:
    """Buffers that all rows share, and which of the column sets make up a tile."""

    def __init__(self, rows: _Points, columns: _Points) -> None:
        p = max(1, rows.largest)
        width = max(_TILE_ENTRIES // p, columns.largest)
        self.scaled = np.empty(p * len(rows.descriptors), dtype=np.float32)
        self.products = np.empty(p * width, dtype=np.float32)
        self.minima = np.empty(columns.largest, dtype=np.float32)
        # Greedy and the same for every row, so a row's values do not depend on the block that it is computed in.
        self.last = np.searchsorted(columns.offsets, columns.offsets[:-1] + width, side="right") - 1

    def tiles(self, first: int) -> Iterator[tuple[int, int]]:
        """Ranges of column sets from `first` on, as many in each as the tile has room for."""
        while first < len(self.last):
            yield first, int(self.last[first])
            first = int(self.last[first])


def _distances_to(rows: _Points, i: int, columns: _Points, first: int, room: _Room, out: Vector) -> None:
    """Distances of set `i` of `rows` to the sets of `columns` from `first` on, into `out`."""
    from mklearn.kernels import point_set_loops

    begin, end = rows.offsets[i], rows.offsets[i + 1]
    if begin == end:
        out[:] = columns.to_none[first:]
        return
    p, d = int(end - begin), len(rows.descriptors)
    # The factor -2 costs p d multiplications here and none for the p columns of every product.
    scaled = np.multiply(rows.descriptors[:, begin:end].T, -2, out=room.scaled[: p * d].reshape(p, d))
    norms = rows.squared_norms[begin:end]
    for s, t in room.tiles(first):
        left, right = columns.offsets[s], columns.offsets[t]
        products = room.products[: p * int(right - left)].reshape(p, int(right - left))
        np.matmul(scaled, columns.descriptors[:, left:right], out=products)
        near = (products, norms, columns.squared_norms[left:right], columns.offsets[s : t + 1], left, room.minima)
        if rows.places is None or columns.places is None:
            point_set_loops.plain(*near, out[s - first : t - first])
        else:
            places = (*rows.places[:, begin:end], *columns.places[:, left:right])
            point_set_loops.with_positions(*near, out[s - first : t - first], *places)
    without = columns.offsets[first + 1 :] == columns.offsets[first:-1]
    out[without] = rows.to_none[i]


def _factor(position_weight: float, position_scale: float) -> float:
    if not 0 <= position_weight < np.inf:
        raise DataError(
            f"position_weight is {position_weight!r}; a number of at least 0 is needed (0: no position term)"
        )
    if not 0 < position_scale < np.inf:
        raise DataError(f"position_scale is {position_scale!r}; a positive number of pixels is needed")
    return position_weight / position_scale


def _check(descriptors: NDArray[Any], positions: NDArray[Any], counts: NDArray[Any], name: str) -> None:
    if descriptors.ndim != 3 or 0 in (len(descriptors), descriptors.shape[-1]) or descriptors.dtype.kind not in "fiu":
        raise DataError(
            f"{name}.descriptors has shape {descriptors.shape} and dtype {descriptors.dtype}; real numbers of shape "
            "(sets, points, features) are needed, with at least one set"
        )
    n, p, _ = descriptors.shape
    if positions.shape != (n, p, 2):
        raise DataError(f"{name}.positions has shape {positions.shape}; {(n, p, 2)} belongs to these descriptors")
    if counts.shape != (n,) or counts.dtype.kind not in "iu":
        raise DataError(f"{name}.counts has shape {counts.shape} and dtype {counts.dtype}; {n} integers are needed")
    wrong = np.flatnonzero((counts < 0) | (counts > p))
    if wrong.size:
        raise DataError(f"{name}.counts says that set {wrong[0]} has {counts[wrong[0]]} points; 0 to {p} are possible")
