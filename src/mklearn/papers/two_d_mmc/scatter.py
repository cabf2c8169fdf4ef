"""One-sided scatter matrices of images: sum_i w_i D_i R R'D_i' for a projection R of their columns, and its transpose.

Every bilinear method alternates between these two. They are computed from stacked differences by two matrix products,
or, in a sweep over many projections of the same images, from their second moments by one.
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

_MOST_MOMENTS = 1 << 22  # entries of second moments in a sweep: 32 MB, and four times that while they are computed


class Scatter(Protocol):
    """Scatter of matrices D_i (rows, cols) with weights w_i."""

    def one_sided(self, side: Side, projections: Sequence[Array]) -> Array:
        """Compute the one-sided scatter, (k, rows, rows) or (k, cols, cols), for k projections of the other side.

        "left": sum_i w_i D_i R R'D_i' for R (cols, l); "right": sum_i w_i D_i'L L'D_i for L (rows, l). The numbers of
        columns l may differ.
        """


@dataclass(frozen=True, eq=False)
class StackedScatter:
    """Weighted sum of the scatters of stacks of matrices.

    ``terms`` are (weight, rows_first, cols_first): a weight of any sign and a stack of shape (N_k, rows, cols), stored
    twice, as (rows, N_k, cols) and as (cols, N_k, rows), so that the products of either side run over contiguous rows.
    """

    terms: tuple[tuple[float, Array, Array], ...]

    @classmethod
    def of(cls, *terms: tuple[float, Array]) -> StackedScatter:
        """Build from (weight, stack) pairs, each stack of shape (N_k, rows, cols)."""
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

    def one_sided(self, side: Side, projections: Sequence[Array]) -> Array:
        """See `Scatter`: computed for one projection after the other."""
        return np.stack([self._one_sided(side, projection) for projection in projections])

    def _one_sided(self, side: Side, projection: Array) -> Array:
        products = [
            weight * _outer(rows_first if side == "left" else cols_first, projection)
            for weight, rows_first, cols_first in self.terms
        ]
        total = products[0]
        for product in products[1:]:
            total = total + product
        return total

    def condensed(self) -> CondensedScatter:
        """Compute the second moments: a step then costs O((rows cols)^2 / 4) for any N and l."""
        rows, cols = self.shape
        moments = np.zeros((rows * cols, rows * cols), order="F")
        for weight, rows_first, _ in self.terms:
            samples = rows_first.transpose(1, 0, 2).reshape(-1, rows * cols)
            moments = dsyrk(weight, samples.T, beta=1.0, c=moments, overwrite_c=True)
        triangles = (_Triangle.of(rows), _Triangle.of(cols))
        # Needed is sum_i w_i D_i[a, c] D_i[b, d], made symmetric in (a, b) and in (c, d). `dsyrk` computes the entries
        # with b > a, and those with b = a and d >= c.
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

    def for_sweep(self, sizes: Sequence[int] | None) -> Scatter:
        """Return the cheaper of the two forms for a sweep over sizes of projections; itself if there is no sweep."""
        if sizes is None:
            return self
        rows, cols = self.shape
        entries = rows * (rows + 1) * cols * (cols + 1) // 4
        stacked = self.n_matrices * rows * cols * max(1.0, float(np.mean(sizes)))
        # The moments are one product, and cost about as much as a few steps of every size save.
        return self.condensed() if entries <= min(stacked, _MOST_MOMENTS) else self


@dataclass(frozen=True, eq=False)
class CondensedScatter:
    """A scatter as a linear map from RR' to the one-sided scatter, both symmetric and stored by upper triangles."""

    moments: Array  # (rows (rows + 1) / 2, cols (cols + 1) / 2)
    triangles: tuple[_Triangle, _Triangle]  # of size rows, and of size cols

    def one_sided(self, side: Side, projections: Sequence[Array]) -> Array:
        """See `Scatter`: computed by one matrix product."""
        of_rows, of_cols = self.triangles
        if side == "left":
            return of_rows.unpacked(of_cols.packed(projections) @ self.moments.T)
        return of_cols.unpacked(of_rows.packed(projections) @ self.moments)


@dataclass(frozen=True, eq=False)
class _Triangle:
    """The upper triangle of symmetric matrices of one size."""

    positions: NDArray[np.intp]  # (entries,), of each entry of the triangle in the flattened matrix
    multiplicity: Array  # (entries,), how many entries of the matrix each stands for, 1 or 2
    index: NDArray[np.intp]  # (size, size), position of each entry of the matrix in the triangle

    @classmethod
    def of(cls, size: int) -> _Triangle:
        row, col = np.triu_indices(size)
        index = np.empty((size, size), dtype=np.intp)
        index[row, col] = index[col, row] = np.arange(len(row))
        return cls(row * size + col, np.where(row == col, 1.0, 2.0), index)

    def packed(self, projections: Sequence[Array]) -> Array:
        """Return the triangle of each RR' times the multiplicity, shape (k, entries)."""
        padded = np.zeros((len(projections), len(self.index), max(R.shape[1] for R in projections)))
        for row, projection in zip(padded, projections, strict=True):
            row[:, : projection.shape[1]] = projection
        products = padded @ padded.transpose(0, 2, 1)
        packed: Array = products.reshape(len(projections), -1)[:, self.positions] * self.multiplicity
        return packed

    def unpacked(self, triangles: Array) -> Array:
        """Return the symmetric matrices of triangles of shape (..., entries)."""
        return triangles[..., self.index]


def class_differences(images: Array, labels: NDArray[np.intp]) -> tuple[Array, Array]:
    """Compute the matrices whose second moments are the between- and the within-class scatter.

    They are sqrt(n_k) (M_k - M), shape (c, rows, cols), and X_i - M_k of its class, shape (n, rows, cols). The labels
    are class codes 0..c-1; each must occur.
    """
    n = len(images)
    # Centred first: the differences are then as exact as the pixels, however bright the images.
    centred = images.reshape(n, -1) - images.reshape(n, -1).mean(axis=0)
    counts = np.bincount(labels)
    indicator = np.zeros((len(counts), n))
    indicator[labels, np.arange(n)] = 1.0
    means = (indicator @ centred) / counts[:, None]
    between = np.sqrt(counts)[:, None] * means
    return between.reshape(-1, *images.shape[1:]), (centred - means[labels]).reshape(images.shape)


def energy(stack: Array) -> float:
    """Compute the sum of squares: the trace of the stack's scatter."""
    return float(np.vdot(stack, stack))


def _outer(side_first: Array, projection: Array) -> Array:
    """Compute sum_i E_i R R'E_i' for E stacked as (side, N, other side), by two matrix products."""
    side = side_first.shape[0]
    projected = (side_first.reshape(-1, side_first.shape[2]) @ projection).reshape(side, -1)
    return projected @ projected.T
