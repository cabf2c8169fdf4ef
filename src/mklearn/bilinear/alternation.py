"""Alternating optimisation of two projections: one side is solved for while the other is fixed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from mklearn.bilinear.scatter import Scatter, Side
from mklearn.errors import ConfigError
from mklearn.optimize.eigen import generalized_eigh_stack

Array = NDArray[np.floating]


class Problem(Protocol):
    """An optimisation problem in two projections L (rows, l1) and R (cols, l2).

    Attributes
    ----------
    scale : float
        Size of the objective that changes are compared with, besides its value; 0 to compare with the value alone.
    """

    @property
    def scale(self) -> float:
        """See the class."""

    def steps(self, side: Side, projections: Sequence[Array], sizes: Sequence[int]) -> list[tuple[Array, float]]:
        """Solve for one side, for each given projection of the other side.

        Parameters
        ----------
        side : {"left", "right"}
            The side that is solved for.
        projections : sequence of arrays of shape (cols, l2) or (rows, l1)
        sizes : sequence of int
            Number of columns of each solution.

        Returns
        -------
        list of (solution, objective)
        """


@dataclass(frozen=True)
class TraceProblem:
    """Maximise sum_i w_i ||L'D_i R||_F^2 with L'L = I and R'R = I, given the scatter of the D_i.

    A half step takes the leading eigenvectors of a one-sided scatter, the exact maximum over that side: the objective
    never decreases.
    """

    scatter: Scatter
    scale: float

    def steps(self, side: Side, projections: Sequence[Array], sizes: Sequence[int]) -> list[tuple[Array, float]]:
        """See `Problem`: leading eigenvectors, and the sum of their eigenvalues."""
        values, vectors = generalized_eigh_stack(self.scatter.one_sided(side, projections))
        return [
            (np.ascontiguousarray(V[:, :size]), float(v[:size].sum()))
            for v, V, size in zip(values, vectors, sizes, strict=True)
        ]


@dataclass(frozen=True)
class Iterate:
    """Both projections after an iteration, and the objective after each of its two half steps."""

    left: Array
    right: Array
    values: tuple[float, float]

    def projection(self, side: Side) -> Array:
        """Return the projection of one side."""
        return self.left if side == "left" else self.right


@dataclass(frozen=True)
class Alternation:
    """Result of an alternation.

    Attributes
    ----------
    left, right : arrays of shape (rows, l1), (cols, l2)
    history : array of shape (2 * n_iter,)
        The objective after every half step.
    n_iter : int
    status : {"converged", "max_iter"}
    """

    left: Array
    right: Array
    history: Array
    n_iter: int
    status: str


def iterates(problem: Problem, start: Array, fixed: Side, sizes: tuple[int, int]) -> Iterator[Iterate]:
    """Iterate without end from the projection ``start`` of the side ``fixed``; the other side is solved for first."""
    projection = start
    while True:
        (iterate,) = _iterate_all(problem, [projection], fixed, [sizes])
        projection = iterate.projection(fixed)
        yield iterate


def alternate(
    problem: Problem, start: Array, fixed: Side, sizes: tuple[int, int], max_iter: int, tol: float
) -> Alternation:
    """Iterate until the objective of an iteration changes by at most ``tol * max(scale, |objective|)``."""
    return alternate_all(problem, [start], fixed, [sizes], max_iter, tol)[0]


def alternate_all(
    problem: Problem, starts: Sequence[Array], fixed: Side, sizes: Sequence[tuple[int, int]], max_iter: int, tol: float
) -> list[Alternation]:
    """Run `alternate` for several sizes side by side: their eigenproblems have one shape and are solved together."""
    projections = dict(enumerate(starts))
    histories: list[list[float]] = [[] for _ in starts]
    found: dict[int, Alternation] = {}
    for n_iter in range(1, max_iter + 1):
        if not projections:
            break
        active = list(projections)
        current = _iterate_all(problem, [projections[i] for i in active], fixed, [sizes[i] for i in active])
        for i, iterate in zip(active, current, strict=True):
            history = histories[i]
            history += iterate.values
            value = iterate.values[1]
            converged = n_iter > 1 and abs(value - history[-3]) <= tol * max(problem.scale, abs(value))
            if converged or n_iter == max_iter:
                status = "converged" if converged else "max_iter"
                found[i] = Alternation(iterate.left, iterate.right, np.array(history), n_iter, status)
                del projections[i]
            else:
                projections[i] = iterate.projection(fixed)
    return [found[i] for i in range(len(starts))]


def _iterate_all(
    problem: Problem, projections: Sequence[Array], fixed: Side, sizes: Sequence[tuple[int, int]]
) -> list[Iterate]:
    """Take one iteration from each of the given projections of the side ``fixed``."""
    left_sizes, right_sizes = zip(*sizes, strict=True)
    if fixed == "right":
        lefts = problem.steps("left", projections, left_sizes)
        rights = problem.steps("right", [left for left, _ in lefts], right_sizes)
        return [Iterate(L, R, (first, second)) for (L, first), (R, second) in zip(lefts, rights, strict=True)]
    rights = problem.steps("right", projections, right_sizes)
    lefts = problem.steps("left", [right for right, _ in rights], left_sizes)
    return [Iterate(L, R, (first, second)) for (L, second), (R, first) in zip(lefts, rights, strict=True)]


def starting_projection(init: Any, side: int, size: int, random_state: Any) -> Array:
    """Return orthonormal columns of shape (side, size): "identity" (I, 0)', "random", or given ones.

    Raises
    ------
    ConfigError
        An unknown name, or an array of another shape or without orthonormal columns.
    """
    expected = f"expected 'identity', 'random' or an array of shape ({side}, {size}) with orthonormal columns"
    if isinstance(init, str):
        if init == "identity":
            return np.eye(side, size)
        if init == "random":
            return np.linalg.qr(check_random_state(random_state).standard_normal((side, size)))[0]
        raise ConfigError(f"invalid value {init!r} for init: {expected}")
    try:
        columns = np.array(init, dtype=np.float64)
    except (TypeError, ValueError):
        raise ConfigError(f"init is not numeric: {expected}") from None
    if columns.shape != (side, size):
        raise ConfigError(f"init has shape {columns.shape}: {expected}")
    if not np.allclose(columns.T @ columns, np.eye(size), rtol=0, atol=1e-8):
        raise ConfigError(f"init has no orthonormal columns (take the Q of its QR decomposition): {expected}")
    return columns
