"""One-sided scatter matrices of pictures: sum_i w_i D_i R R'D_i' for a projection R of their columns, and its mirror.

Every bilinear method alternates between these two. They are computed from stacked differences by two matrix products,
or, in a sweep over many projections of the same pictures, from their second moments by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk

Array = NDArray[np.floating]
Side = Literal["left", "right"]

_MOST_MOMENTS = 1 << 22  # entries of second moments that a sweep may hold: 32 MB, four times that while they are made


class Scatter(Protocol):
    """Scatter of matrices D_i (rows, cols) with weights w_i, seen from one side at a time."""

    def left(self, right: Array) -> Array:
        """sum_i w_i D_i R R'D_i', shape (rows, rows), of R (cols, l)."""

    def right(self, left: Array) -> Array:
        """sum_i w_i D_i'L L'D_i, shape (cols, cols), of L (rows, l)."""

    def lefts(self, rights: Sequence[Array]) -> Array:
        """`left` of several, shape (k, rows, rows); they may have different numbers of columns."""

    def rights(self, lefts: Sequence[Array]) -> Array:
        """`right` of several, shape (k, cols, cols)."""


@dataclass(frozen=True, eq=False)
class StackedScatter:
    """Weighted sum of the scatters of stacks of matrices.

    A step costs O(N rows cols l + N side^2 l) for N matrices in all, both terms matrix products.

    Parameters
    ----------
    terms : sequence of (weight, stack)
        Each stack an array of shape (N_k, rows, cols); weights of any sign.
    """

    terms: tuple[tuple[float, Array, Array], ...]

    @classmethod
    def of(cls, *terms: tuple[float, Array]) -> StackedScatter:
        """From (weight, stack) pairs. Each stack is kept twice, so that either side's products run over whole rows."""
        return cls(
            tuple(
                (
                    float(weight),
                    np.ascontiguousarray(stack.transpose(1, 0, 2)),
                    np.ascontiguousarray(stack.transpose(2, 0, 1)),
                )
                for weight, stack in terms
            )
        )

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, cols)."""
        return self.terms[0][1].shape[0], self.terms[0][2].shape[0]

    @property
    def n_matrices(self) -> int:
        """N, over all stacks."""
        return sum(rows_first.shape[1] for _, rows_first, _ in self.terms)

    def left(self, right: Array) -> Array:
        """sum_i w_i D_i R R'D_i'."""
        return _sum([weight * _outer(rows_first, right) for weight, rows_first, _ in self.terms])

    def right(self, left: Array) -> Array:
        """sum_i w_i D_i'L L'D_i."""
        return _sum([weight * _outer(cols_first, left) for weight, _, cols_first in self.terms])

    def lefts(self, rights: Sequence[Array]) -> Array:
        """`left` of several, one after the other."""
        return np.stack([self.left(right) for right in rights])

    def rights(self, lefts: Sequence[Array]) -> Array:
        """`right` of several, one after the other."""
        return np.stack([self.right(left) for left in lefts])

    def condensed(self) -> CondensedScatter:
        """The same from second moments: O((rows cols)^2 / 4) a step, whatever N and l."""
        rows, cols = self.shape
        moments = np.zeros((rows * cols, rows * cols), order="F")
        for weight, rows_first, _ in self.terms:
            samples = rows_first.transpose(1, 0, 2).reshape(-1, rows * cols)
            moments = dsyrk(weight, samples.T, beta=1.0, c=moments, overwrite_c=True)
        triangles = (_Triangle.of(rows), _Triangle.of(cols))
        # sum_i w_i D_i[a, c] D_i[b, d], wanted only symmetric in (a, b) and in (c, d); `dsyrk` gives b >= a, if need be
        # with c >= d only.
        condensed = np.empty((len(triangles[0].positions), len(triangles[1].positions)))
        end = 0
        for a in range(rows):
            own = moments[a * cols : (a + 1) * cols, a * cols : (a + 1) * cols]
            own += np.triu(own, 1).T
            of_row = moments[a * cols : (a + 1) * cols, a * cols :].reshape(cols, rows - a, cols)
            pairs = of_row.transpose(1, 0, 2) + of_row.transpose(1, 2, 0)
            start, end = end, end + rows - a
            pairs.reshape(rows - a, -1).take(triangles[1].positions, axis=1, out=condensed[start:end])
        condensed /= 2
        return CondensedScatter(condensed, triangles)

    def for_sweep(self, sizes: Sequence[int]) -> Scatter:
        """The cheaper of the two forms for many steps with projections on so many dimensions."""
        rows, cols = self.shape
        entries = rows * (rows + 1) * cols * (cols + 1) // 4
        stacked = self.n_matrices * rows * cols * max(1.0, float(np.mean(sizes)))
        # the moments cost about as much as a few steps of every size save, for they are one product
        return self.condensed() if entries <= min(stacked, _MOST_MOMENTS) else self


@dataclass(frozen=True, eq=False)
class CondensedScatter:
    """A scatter as a linear map from RR' to the scatter, both symmetric and stored by their upper triangles.

    Parameters
    ----------
    moments : array of shape (rows (rows + 1) / 2, cols (cols + 1) / 2)
    triangles : how symmetric matrices of size rows, and of size cols, are stored
    """

    moments: Array
    triangles: tuple[_Triangle, _Triangle]

    def left(self, right: Array) -> Array:
        """sum_i w_i D_i R R'D_i'."""
        scatter: Array = self.lefts([right])[0]
        return scatter

    def right(self, left: Array) -> Array:
        """sum_i w_i D_i'L L'D_i."""
        scatter: Array = self.rights([left])[0]
        return scatter

    def lefts(self, rights: Sequence[Array]) -> Array:
        """`left` of several by one matrix product."""
        return self.seen("left", self.packed("left", rights))

    def rights(self, lefts: Sequence[Array]) -> Array:
        """`right` of several by one matrix product."""
        return self.seen("right", self.packed("right", lefts))

    def packed(self, side: Side, projections: Sequence[Array]) -> Array:
        """The other side's projections as `seen` takes them: the same for all scatters of pictures of one shape."""
        return self.triangles[1 if side == "left" else 0].packed(projections)

    def seen(self, side: Side, packed: Array) -> Array:
        """`lefts` or `rights`, of projections that are packed."""
        if side == "left":
            return self.triangles[0].unpacked(packed @ self.moments.T)
        return self.triangles[1].unpacked(packed @ self.moments)


@dataclass(frozen=True, eq=False)
class _Triangle:
    """The upper triangle of symmetric matrices of one size.

    Attributes
    ----------
    positions : where its entries are in the flattened matrix
    multiplicity : how many entries of the matrix each stands for, 1 or 2
    places : (size, size), where each entry of the matrix is in the triangle
    """

    positions: NDArray[np.intp]
    multiplicity: Array
    places: NDArray[np.intp]

    @classmethod
    def of(cls, size: int) -> _Triangle:
        row, col = np.triu_indices(size)
        places = np.empty((size, size), dtype=np.intp)
        places[row, col] = places[col, row] = np.arange(len(row))
        return cls(row * size + col, np.where(row == col, 1.0, 2.0), places)

    def packed(self, projections: Sequence[Array]) -> Array:
        """Each RR' as the weights of a sum over the whole matrix that runs over the triangle only, (k, entries)."""
        padded = np.zeros((len(projections), len(self.places), max(R.shape[1] for R in projections)))
        for place, projection in zip(padded, projections, strict=True):
            place[:, : projection.shape[1]] = projection
        products = padded @ padded.transpose(0, 2, 1)
        packed: Array = products.reshape(len(projections), -1)[:, self.positions] * self.multiplicity
        return packed

    def unpacked(self, triangle: Array) -> Array:
        """The symmetric matrix, or matrices where there are several triangles, (..., entries)."""
        return triangle[..., self.places]


def seen_together(side: Side, scatters: Sequence[Scatter], projections: Sequence[Array]) -> list[Array]:
    """`lefts` or `rights` of several scatters of pictures of one shape; what they share is done once."""
    condensed = [scatter for scatter in scatters if isinstance(scatter, CondensedScatter)]
    if len(condensed) < len(scatters):
        return [scatter.lefts(projections) if side == "left" else scatter.rights(projections) for scatter in scatters]
    packed = condensed[0].packed(side, projections)
    return [scatter.seen(side, packed) for scatter in condensed]


def class_differences(pictures: Array, labels: NDArray[np.intp]) -> tuple[Array, Array]:
    """What the between- and the within-class scatter are the second moments of.

    Parameters
    ----------
    pictures : array of shape (n, rows, cols)
    labels : array of shape (n,)
        Class codes 0..c-1, each occurring.

    Returns
    -------
    between : array of shape (c, rows, cols)
        sqrt(n_k) (M_k - M): class means about the mean.
    within : array of shape (n, rows, cols)
        X_i - M_k of its class: residuals.
    """
    n = len(pictures)
    # about the mean from the start: the differences are then as exact as the pixels, however bright the pictures
    centred = pictures.reshape(n, -1) - pictures.reshape(n, -1).mean(axis=0)
    counts = np.bincount(labels)
    indicator = np.zeros((len(counts), n))
    indicator[labels, np.arange(n)] = 1.0
    means = (indicator @ centred) / counts[:, None]
    between = np.sqrt(counts)[:, None] * means
    return between.reshape(-1, *pictures.shape[1:]), (centred - means[labels]).reshape(pictures.shape)


def energy(stack: Array) -> float:
    """Sum of squares: the trace of the stack's scatter."""
    return float(np.vdot(stack, stack))


def _sum(matrices: list[Array]) -> Array:
    total = matrices[0]
    for matrix in matrices[1:]:
        total = total + matrix
    return total


def _outer(side_first: Array, projection: Array) -> Array:
    """sum_i E_i R R'E_i' for E stacked as (side, N, other side): one product with R, one of the result with itself."""
    side = side_first.shape[0]
    projected = (side_first.reshape(-1, side_first.shape[2]) @ projection).reshape(side, -1)
    return projected @ projected.T
