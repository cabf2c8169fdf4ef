"""Alternating optimisation of two projections: one side is solved exactly while the other is held."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.bilinear.scatter import Scatter, Side
from mklearn.errors import ConfigError
from mklearn.optimize.eigen import generalized_eigh_stack

Array = NDArray[np.floating]


class Problem(Protocol):
    """What is optimised: each half step gives the new projection of one side and the value it reaches.

    Attributes
    ----------
    scale : float
        Size of the objective that changes are compared with, beside its value; 0 to compare with the value alone.
    """

    @property
    def scale(self) -> float:
        """See the class."""

    def left_steps(self, rights: Sequence[Array], sizes: Sequence[int]) -> list[tuple[Array, float]]:
        """L (rows, size) for each of the given R (cols, l2), and the objective of the two."""

    def right_steps(self, lefts: Sequence[Array], sizes: Sequence[int]) -> list[tuple[Array, float]]:
        """R (cols, size) for each of the given L (rows, l1), and the objective of the two."""


@dataclass(frozen=True)
class TraceProblem:
    """Maximise sum_i w_i ||L'D_i R||_F^2 with L'L = I and R'R = I, given the scatter of the D_i.

    A half step takes the leading eigenvectors of a one-sided scatter, which is the exact maximum over that side: the
    objective never decreases.
    """

    scatter: Scatter
    scale: float

    def left_steps(self, rights: Sequence[Array], sizes: Sequence[int]) -> list[tuple[Array, float]]:
        """Leading eigenvectors of the scatter seen from the left, and their eigenvalues' sum: the objective."""
        return self._steps(self.scatter.lefts(rights), sizes)

    def right_steps(self, lefts: Sequence[Array], sizes: Sequence[int]) -> list[tuple[Array, float]]:
        """The same from the right."""
        return self._steps(self.scatter.rights(lefts), sizes)

    def _steps(self, scatters: Array, sizes: Sequence[int]) -> list[tuple[Array, float]]:
        values, vectors = generalized_eigh_stack(scatters)
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


@dataclass(frozen=True)
class Alternation:
    """Where the alternation ended.

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


def iterates(problem: Problem, start: Array, held: Side, sizes: tuple[int, int]) -> Iterator[Iterate]:
    """Iterate without end, from the projection ``start`` of the side ``held``: the other side is solved for first."""
    projection = start
    while True:
        (iterate,) = _iterated(problem, [projection], held, [sizes])
        projection = iterate.right if held == "right" else iterate.left
        yield iterate


def alternate(
    problem: Problem, start: Array, held: Side, sizes: tuple[int, int], max_iter: int, tol: float
) -> Alternation:
    """Iterate until the objective of an iteration changes by at most ``tol * max(scale, |objective|)``."""
    return alternate_all(problem, [start], held, [sizes], max_iter, tol)[0]


def alternate_all(
    problem: Problem, starts: Sequence[Array], held: Side, sizes: Sequence[tuple[int, int]], max_iter: int, tol: float
) -> list[Alternation]:
    """`alternate` for several sizes side by side: their problems are of one shape, and are solved together."""
    projections = dict(enumerate(starts))
    histories: list[list[float]] = [[] for _ in starts]
    found: dict[int, Alternation] = {}
    for n_iter in range(1, max_iter + 1):
        if not projections:
            break
        going = list(projections)
        iterates_now = _iterated(problem, [projections[i] for i in going], held, [sizes[i] for i in going])
        for i, iterate in zip(going, iterates_now, strict=True):
            history = histories[i]
            history += iterate.values
            value = iterate.values[1]
            converged = n_iter > 1 and abs(value - history[-3]) <= tol * max(problem.scale, abs(value))
            if converged or n_iter == max_iter:
                status = "converged" if converged else "max_iter"
                found[i] = Alternation(iterate.left, iterate.right, np.array(history), n_iter, status)
                del projections[i]
            else:
                projections[i] = iterate.right if held == "right" else iterate.left
    return [found[i] for i in range(len(starts))]


def _iterated(
    problem: Problem, projections: Sequence[Array], held: Side, sizes: Sequence[tuple[int, int]]
) -> list[Iterate]:
    """One iteration of each, from the projections of the side that is held."""
    left_sizes, right_sizes = ([pair[side] for pair in sizes] for side in (0, 1))
    if held == "right":
        lefts = problem.left_steps(projections, left_sizes)
        rights = problem.right_steps([left for left, _ in lefts], right_sizes)
        return [Iterate(L, R, (first, second)) for (L, first), (R, second) in zip(lefts, rights, strict=True)]
    rights = problem.right_steps(projections, right_sizes)
    lefts = problem.left_steps([right for right, _ in rights], left_sizes)
    return [Iterate(L, R, (first, second)) for (L, second), (R, first) in zip(lefts, rights, strict=True)]


def starting_projection(init: Any, side: int, size: int, random_state: Any) -> Array:
    """(side, size) orthonormal columns: "identity" (I, 0)', "random", or given ones.

    Raises
    ------
    ConfigError
        An unknown name, or an array of another shape or without orthonormal columns.
    """
    if isinstance(init, str):
        if init == "identity":
            return np.eye(side, size)
        if init == "random":
            from sklearn.utils import check_random_state

            return np.linalg.qr(check_random_state(random_state).standard_normal((side, size)))[0]
        raise ConfigError(f"init={init!r}: must be 'identity', 'random' or an array of shape ({side}, {size})")
    return _given_projection(init, side, size)


def _given_projection(init: ArrayLike, side: int, size: int) -> Array:
    try:
        columns = np.array(init, dtype=np.float64)
    except (TypeError, ValueError):
        raise ConfigError(f"init must be 'identity', 'random' or numbers of shape ({side}, {size})") from None
    if columns.shape != (side, size):
        raise ConfigError(f"init has shape {columns.shape}: it must be ({side}, {size})")
    if not np.allclose(columns.T @ columns, np.eye(size), rtol=0, atol=1e-8):
        raise ConfigError("init must have orthonormal columns: take the Q of its QR decomposition")
    return columns
