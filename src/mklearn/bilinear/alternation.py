"""Alternating optimisation of two projections: one side is solved exactly while the other is held."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.bilinear.scatter import Scatter
from mklearn.errors import ConfigError
from mklearn.optimize.eigen import generalized_eigh

Array = NDArray[np.floating]
Side = Literal["left", "right"]


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

    def left_step(self, right: Array, size: int) -> tuple[Array, float]:
        """L (rows, size) for the given R (cols, l2), and the objective of the two."""

    def right_step(self, left: Array, size: int) -> tuple[Array, float]:
        """R (cols, size) for the given L (rows, l1), and the objective of the two."""


@dataclass(frozen=True)
class TraceProblem:
    """Maximise sum_i w_i ||L'D_i R||_F^2 with L'L = I and R'R = I, given the scatter of the D_i.

    A half step takes the leading eigenvectors of a one-sided scatter, which is the exact maximum over that side: the
    objective never decreases.
    """

    scatter: Scatter
    scale: float

    def left_step(self, right: Array, size: int) -> tuple[Array, float]:
        """Leading eigenvectors of the scatter seen from the left, and their eigenvalues' sum: the objective."""
        values, vectors = generalized_eigh(self.scatter.left(right), None, size, which="largest")
        return vectors, float(values.sum())

    def right_step(self, left: Array, size: int) -> tuple[Array, float]:
        """The same from the right."""
        values, vectors = generalized_eigh(self.scatter.right(left), None, size, which="largest")
        return vectors, float(values.sum())


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
    left_size, right_size = sizes
    left = right = start
    while True:
        if held == "right":
            left, first = problem.left_step(right, left_size)
            right, second = problem.right_step(left, right_size)
        else:
            right, first = problem.right_step(left, right_size)
            left, second = problem.left_step(right, left_size)
        yield Iterate(left, right, (first, second))


def alternate(
    problem: Problem, start: Array, held: Side, sizes: tuple[int, int], max_iter: int, tol: float
) -> Alternation:
    """Iterate until the objective of an iteration changes by at most ``tol * max(scale, |objective|)``."""
    history: list[float] = []
    for n_iter, iterate in enumerate(iterates(problem, start, held, sizes), start=1):
        history += iterate.values
        value = iterate.values[1]
        converged = n_iter > 1 and abs(value - history[-3]) <= tol * max(problem.scale, abs(value))
        if converged or n_iter == max_iter:
            return Alternation(
                iterate.left, iterate.right, np.array(history), n_iter, "converged" if converged else "max_iter"
            )
    raise AssertionError("iterates() has no end")


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
