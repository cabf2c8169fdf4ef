"""Alternating optimisation of two projections: one side is solved for while the other is fixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from mklearn.checks import invalid
from mklearn.errors import ConfigError
from mklearn.optimize.eigen import generalized_eigh_stack
from mklearn.papers.two_d_mmc.scatter import Scatter, Side

Array = NDArray[np.floating]
Status = Literal["converged", "max_iter"]


class Problem(Protocol):
    """An optimisation problem in two projections L (rows, l1) and R (cols, l2)."""

    @property
    def scale(self) -> float:
        """Size of the objective that changes are compared with, besides its value; 0: with the value alone."""

    def steps(self, side: Side, projections: Sequence[Array], sizes: Sequence[int]) -> list[tuple[Array, float]]:
        """Return a solution with ``size`` columns for ``side``, and the objective, for each projection of the other."""


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
class Alternation:
    """Result of an alternation: both projections, and the objective after every half step."""

    left: Array  # (rows, l1)
    right: Array  # (cols, l2)
    history: Array  # (2 * n_iter,)
    status: Status

    def projection(self, side: Side) -> Array:
        """Return the projection of one side."""
        return self.left if side == "left" else self.right


def alternate(
    problem: Problem, start: Array, fixed: Side, sizes: tuple[int, int], max_iter: int, tol: float
) -> Alternation:
    """Iterate until the objective of an iteration changes by at most ``tol * max(scale, |objective|)``.

    ``start`` is the projection of the side ``fixed``; the other side is solved for first.
    """
    return alternate_all(problem, [start], fixed, [sizes], max_iter, tol)[0]


def alternate_all(
    problem: Problem, starts: Sequence[Array], fixed: Side, sizes: Sequence[tuple[int, int]], max_iter: int, tol: float
) -> list[Alternation]:
    """Run `alternate` for several sizes side by side: their eigenproblems have one shape and are solved together."""
    order: tuple[Side, Side] = ("left", "right") if fixed == "right" else ("right", "left")
    projections = dict(enumerate(starts))  # of those that have not ended
    histories: list[list[float]] = [[] for _ in starts]
    found: dict[int, Alternation] = {}
    for n_iter in range(1, max_iter + 1):
        active = list(projections)
        if not active:
            break
        latest: dict[Side, list[Array]] = {fixed: list(projections.values())}
        for side, other in zip(order, reversed(order), strict=True):
            columns = [sizes[i][side == "right"] for i in active]
            solved = problem.steps(side, latest[other], columns)
            latest[side] = [solution for solution, _ in solved]
            for i, (_, value) in zip(active, solved, strict=True):
                histories[i].append(value)
        for i, left, right in zip(active, latest["left"], latest["right"], strict=True):
            projections[i] = left if fixed == "left" else right
            value = histories[i][-1]
            converged = n_iter > 1 and abs(value - histories[i][-3]) <= tol * max(problem.scale, abs(value))
            if converged or n_iter == max_iter:
                status: Status = "converged" if converged else "max_iter"
                found[i] = Alternation(left, right, np.array(histories[i]), status)
                del projections[i]
    return [found[i] for i in range(len(starts))]


def starting_projection(init: Any, side: int, size: int, random_state: Any) -> Array:
    """Return orthonormal columns of shape (side, size): "identity" (I, 0)', "random", or given ones."""
    expected = f"'identity', 'random' or an array of shape ({side}, {size}) with orthonormal columns"
    if isinstance(init, str):
        if init == "identity":
            return np.eye(side, size)
        if init == "random":
            return np.linalg.qr(check_random_state(random_state).standard_normal((side, size)))[0]
        raise invalid(init, "init", expected)
    try:
        columns = np.array(init, dtype=np.float64)
    except (TypeError, ValueError):
        raise ConfigError(f"init is not numeric: expected {expected}") from None
    if columns.shape != (side, size):
        raise ConfigError(f"init has shape {columns.shape}: expected {expected}")
    if not np.allclose(columns.T @ columns, np.eye(size), rtol=0, atol=1e-8):
        raise ConfigError(f"init has no orthonormal columns (take the Q of its QR decomposition): expected {expected}")
    return columns
