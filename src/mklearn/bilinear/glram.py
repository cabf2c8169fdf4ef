"""Generalised low rank approximations of matrices: two-dimensional principal components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from mklearn.bilinear.alternation import Alternation, Problem, Side, TraceProblem
from mklearn.bilinear.embedding import BilinearEmbedding
from mklearn.bilinear.scatter import Scatter, StackedScatter, energy
from mklearn.errors import DataError

Array = NDArray[np.floating]


class GLRAM(BilinearEmbedding):
    """Generalised low rank approximations of matrices.

    Minimises sum_i ||X_i - L Y_i R'||_F^2 over L'L = I, R'R = I and Y_i, which is to maximise

        sum_i ||L'X_i R||_F^2,   Y_i = L'X_i R,

    by taking in turn the leading eigenvectors of sum_i X_i'LL'X_i and of sum_i X_i RR'X_i'.

    Parameters
    ----------
    n_components : int or (int, int), optional
        (l1, l2), or both at once. By default 10 a side, or the whole side where it is shorter.
    shape : (int, int), optional
        (rows, cols) of pictures that come flat; see `fit`.
    centre : bool
        Subtract the mean picture first. The paper does not.
    init : {"identity", "random"} or array of shape (rows, l1)
        The first L: (I, 0)' as in the paper, or other orthonormal columns.
    max_iter : int
    tol : float
        Stop when an iteration adds at most this share of sum_i ||X_i||_F^2 to the objective.
    flatten : bool
        Features as (n, l1 * l2), or as (n, l1, l2).
    random_state : int, RandomState or None
        For ``init="random"``.

    Attributes
    ----------
    left_components_, right_components_ : arrays of shape (rows, l1), (cols, l2)
        L and R, in each column the entry of largest absolute value positive.
    objective_history_ : array of shape (2 * n_iter_,)
        sum_i ||L'X_i R||_F^2 after every half step; never decreases.
    n_iter_ : int
    status_ : {"converged", "max_iter"}
    reconstruction_error_ : float
        Root mean square over pictures of ||X_i - L Y_i R'||_F.
    mean_ : array of shape (rows, cols)
        What is subtracted: zeros without ``centre``.
    embedding_ : array of shape (n, l1 * l2) or (n, l1, l2)
    shape_ : (rows, cols)
    n_features_in_ : int
        rows * cols.

    Raises
    ------
    DataError
        X not finite, or of no or another shape than said.
    NotApplicable
        More components than rows or columns.
    ConfigError
        ``n_components``, ``shape`` or ``init`` that are not legal.

    References
    ----------
    Ye, "Generalized low rank approximations of matrices", ICML 2004.

    Notes
    -----
    The optimum found is local: it depends on the start in theory, hardly in practice. The paper stops on the root mean
    square error; here the same is said of the energy kept, which is the same number turned round.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> pictures = load_digits().images
    >>> GLRAM(n_components=3).fit_transform(pictures).shape
    (1797, 9)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BilinearEmbedding._parameter_constraints,
        "centre": ["boolean"],
    }
    _needs_labels: ClassVar[bool] = False
    _held: ClassVar[Side] = "left"

    def __init__(
        self,
        n_components: int | tuple[int, int] | None = None,
        *,
        shape: tuple[int, int] | None = None,
        centre: bool = False,
        init: Any = "identity",
        max_iter: int = 20,
        tol: float = 1e-8,
        flatten: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.shape = shape
        self.centre = centre
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.flatten = flatten
        self.random_state = random_state

    def inverse_transform(self, Y: ArrayLike) -> NDArray[np.floating]:
        """Pictures from features: L Y R' (plus the mean).

        Parameters
        ----------
        Y : array of shape (m, l1 * l2) or (m, l1, l2)

        Returns
        -------
        array of shape (m, rows, cols)

        Raises
        ------
        DataError
            Y has another number of features.
        """
        check_is_fitted(self)
        sizes = (self.left_components_.shape[1], self.right_components_.shape[1])
        features = np.asarray(Y)
        if features.shape[1:] not in {sizes, (sizes[0] * sizes[1],)}:
            raise DataError(f"Y has shape {features.shape}: it must be (m, {sizes[0] * sizes[1]}) or (m, *{sizes})")
        return self._restored(features.reshape(-1, *sizes))

    def _problem(self, pictures: Array, labels: NDArray[np.intp] | None, sweep: Sequence[int] | None) -> Problem:
        self.mean_ = pictures.mean(axis=0) if self.centre else np.zeros(self.shape_)
        stacked = StackedScatter.of((1.0, self._centred(pictures)))
        scatter: Scatter = stacked if sweep is None else stacked.for_sweep(sweep)
        return TraceProblem(scatter, energy(self._centred(pictures)))

    def _centred(self, pictures: Array) -> Array:
        return pictures - self.mean_ if self.centre else pictures

    def _finish(self, pictures: Array, dtype: np.dtype[Any], found: Alternation) -> None:
        super()._finish(pictures, dtype, found)
        # from the residuals and not as a difference of energies, which would leave rounding where nothing is lost
        sizes = (found.left.shape[1], found.right.shape[1])
        features = self._embedded(pictures, np.dtype(np.float64)).reshape(-1, *sizes)
        self.reconstruction_error_ = float(np.sqrt(energy(pictures - self._restored(features)) / len(pictures)))

    def _restored(self, features: NDArray[Any]) -> Array:
        return self.left_components_ @ features @ self.right_components_.T + self.mean_
