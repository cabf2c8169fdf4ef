"""Two-dimensional linear discriminant analysis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from mklearn.bilinear.alternation import Problem
from mklearn.bilinear.embedding import BilinearEmbedding
from mklearn.bilinear.scatter import Scatter, StackedScatter, class_differences, energy, seen_together
from mklearn.errors import NotApplicable
from mklearn.optimize.eigen import generalized_eigh_stack
from mklearn.optimize.graph_embedding import Scaling, rescale_columns

Array = NDArray[np.floating]


class TwoDLDA(BilinearEmbedding):
    """Two-dimensional linear discriminant analysis.

    Takes in turn the leading generalised eigenvectors, for L given R,

        S_b^R v = mu (S_w^R + rho I) v,   S_b^R = sum_k n_k (M_k - M)RR'(M_k - M)',
        S_w^R = sum_k sum_{X in k} (X - M_k)RR'(X - M_k)',   rho = ridge * tr(S_w^R) / rows,

    and for R given L those of the same with transposed pictures.

    Parameters
    ----------
    n_components : int or (int, int), optional
        (l1, l2), or both at once. By default 10 a side, or the whole side where it is shorter.
    shape : (int, int), optional
        (rows, cols) of pictures that come flat; see `fit`.
    ridge : float
        Relative to the mean eigenvalue of the one-sided within-class scatter. 0 is allowed where that is nonsingular.
    scaling : {"within", "total", "unit", "orthonormal"}
        Scale of the columns of L and R, after every half step: L'(S_w^R + rho I)L = I, L'(S_w^R + S_b^R + rho I)L = I,
        unit length, or an orthonormal basis of the same leading subspaces (QR). See the notes.
    init : {"identity", "random"} or array of shape (cols, l2)
        The first R: (I, 0)' as in the paper, or other orthonormal columns.
    max_iter : int
    tol : float
        Stop when an iteration changes the trace ratio by at most this share of it.
    flatten : bool
        Features as (n, l1 * l2), or as (n, l1, l2).
    random_state : int, RandomState or None
        For ``init="random"``.

    Attributes
    ----------
    left_components_, right_components_ : arrays of shape (rows, l1), (cols, l2)
        L and R, in each column the entry of largest absolute value positive.
    objective_history_ : array of shape (2 * n_iter_,)
        Trace ratio tr(L'S_b^R L) / tr(L'(S_w^R + rho I)L) after every half step for L, its mirror after those for R.
        **Not** monotone: a half step maximises another ratio, on its own side only.
    n_iter_ : int
    status_ : {"converged", "max_iter"}
    classes_ : array of shape (n_classes,)
    embedding_ : array of shape (n, l1 * l2) or (n, l1, l2)
    shape_ : (rows, cols)
    n_features_in_ : int
        rows * cols.

    Raises
    ------
    DataError
        X not finite or of another shape than said, y missing or malformed.
    NotApplicable
        One class only, more components than rows or columns, or classes that do not vary.
    SolverFailed
        A singular within-class scatter with ``ridge=0``.
    ConfigError
        ``n_components``, ``shape`` or ``init`` that are not legal.

    References
    ----------
    Ye, Janardan, Li, "Two-dimensional linear discriminant analysis", NIPS 2004.

    Notes
    -----
    The paper states neither ridge nor scale, and both decide the nearest-neighbour rate (by almost 30 points on Yale
    faces with two training pictures per class): report them. For no ridge use ``ridge=1e-10`` with ``"orthonormal"``:
    a ridge so small only orders the directions in which no class varies, and in any other scale those drown the rest.
    Without a ridge the alternation does not settle: rates go on changing by 1 to 3 points from iteration to iteration,
    so that ``max_iter`` is a parameter of the method like the others. With ``ridge=1`` it mostly does.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> digits = load_digits()
    >>> TwoDLDA(n_components=(3, 4)).fit_transform(digits.images, digits.target).shape
    (1797, 12)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BilinearEmbedding._parameter_constraints,
        "ridge": [Interval(Real, 0, None, closed="left")],
        "scaling": [StrOptions(set(get_args(Scaling)))],
    }

    def __init__(
        self,
        n_components: int | tuple[int, int] | None = None,
        *,
        shape: tuple[int, int] | None = None,
        ridge: float = 1.0,
        scaling: Scaling = "within",
        init: Any = "identity",
        max_iter: int = 20,
        tol: float = 1e-8,
        flatten: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.shape = shape
        self.ridge = ridge
        self.scaling = scaling
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.flatten = flatten
        self.random_state = random_state

    def _problem(self, pictures: Array, labels: NDArray[np.intp] | None, sweep: Sequence[int] | None) -> Problem:
        assert labels is not None
        differences = class_differences(pictures, labels)
        if energy(differences[1]) <= 1e-24 * energy(pictures):
            raise NotApplicable("no class varies (S_w = 0): give more than one different picture per class")
        scatters: list[Scatter] = []
        for stack in differences:
            stacked = StackedScatter.of((1.0, stack))
            scatters.append(stacked if sweep is None else stacked.for_sweep(sweep))
        return FisherProblem(scatters[0], scatters[1], self.ridge, self.scaling)


@dataclass(frozen=True)
class FisherProblem:
    """The half steps of 2DLDA on given between- and within-class scatters."""

    between: Scatter
    within: Scatter
    ridge: float
    scaling: Scaling
    scale: float = 0.0

    def left_steps(self, rights: Sequence[Array], sizes: Sequence[int]) -> list[tuple[Array, float]]:
        """L for each R, and the trace ratio."""
        return self._steps(seen_together("left", (self.between, self.within), rights), sizes)

    def right_steps(self, lefts: Sequence[Array], sizes: Sequence[int]) -> list[tuple[Array, float]]:
        """R for each L, and the trace ratio."""
        return self._steps(seen_together("right", (self.between, self.within), lefts), sizes)

    def _steps(self, scatters: Sequence[Array], sizes: Sequence[int]) -> list[tuple[Array, float]]:
        between, within = scatters
        side = within.shape[1]
        ridges = self.ridge * np.trace(within, axis1=1, axis2=2) / side
        regular = within + ridges[:, None, None] * np.eye(side)
        most = max(sizes)
        values, vectors = (array[..., :most] for array in generalized_eigh_stack(between, regular))
        # `rescale_columns` starts from V'(between + regular)V = I, where V'regular V = 1 / (1 + mu)
        total = 1.0 + np.maximum(values, 0.0)
        columns = rescale_columns(vectors / np.sqrt(total)[:, None, :], 1.0 / total, self.scaling)
        spread, noise = (np.cumsum((columns * (stack @ columns)).sum(axis=1), axis=1) for stack in (between, regular))
        ratios = spread / noise  # of the leading 1, 2, ... columns
        return [
            (np.ascontiguousarray(columns[number, :, :size]), float(ratios[number, size - 1]))
            for number, size in enumerate(sizes)
        ]
