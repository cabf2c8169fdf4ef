"""Two-dimensional maximum margin criterion."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from mklearn.bilinear.alternation import Problem, TraceProblem
from mklearn.bilinear.embedding import BilinearEmbedding
from mklearn.bilinear.scatter import Scatter, StackedScatter, class_differences, energy
from mklearn.errors import NotApplicable

Array = NDArray[np.floating]


class TwoDMMC(BilinearEmbedding):
    """Two-dimensional maximum margin criterion.

    Maximises f(U, V) = S_b - lambda S_w over U'U = I and V'V = I, where

        S_b = sum_k n_k ||U'(M_k - M)V||_F^2,   S_w = sum_k sum_{X in k} ||U'(X - M_k)V||_F^2,

    M_k the mean picture of class k and M that of all, by taking in turn the leading eigenvectors of

        sum_k n_k (M_k - M)VV'(M_k - M)' - lambda sum_k sum_{X in k} (X - M_k)VV'(X - M_k)'

    for U, and of the same with transposed pictures and U for V. lambda is fixed before the first step.

    Parameters
    ----------
    n_components : int or (int, int), optional
        (l1, l2), or both at once. By default 10 a side, or the whole side where it is shorter.
    shape : (int, int), optional
        (rows, cols) of pictures that come flat; see `fit`.
    trade_off : "trace_ratio" or float
        lambda: a number, or tr S_b / tr S_w of the pictures themselves, as in the paper's experiments.
    init : {"identity", "random"} or array of shape (cols, l2)
        The first V: (I, 0)' or other orthonormal columns. The paper takes "any".
    max_iter : int
        20 in the paper.
    tol : float
        Stop when an iteration adds at most this share of tr S_b + lambda tr S_w to f.
    flatten : bool
        Features as (n, l1 * l2), or as (n, l1, l2).
    random_state : int, RandomState or None
        For ``init="random"``.

    Attributes
    ----------
    left_components_, right_components_ : arrays of shape (rows, l1), (cols, l2)
        U and V, in each column the entry of largest absolute value positive.
    objective_history_ : array of shape (2 * n_iter_,)
        f after every half step; never decreases.
    n_iter_ : int
    status_ : {"converged", "max_iter"}
    trade_off_ : float
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
        One class only, more components than rows or columns, or ``trade_off="trace_ratio"`` where no class varies.
    ConfigError
        ``n_components``, ``shape`` or ``init`` that are not legal.

    References
    ----------
    Gu and Zhou, "Two dimensional maximum margin criterion", ICASSP 2009. The trace ratio as lambda: Nie, Xiang, Song,
    Zhang, "Extracting the optimal dimensionality for discriminant analysis", ICASSP 2007.

    Notes
    -----
    Read differently from print: equations (7), (8) and Algorithm 1 exchange S_b and S_w against (3) to (6), which
    selects the directions that do not discriminate; (8) and step 5 lack transposes; M_k lacks 1/n_k; V is (cols, l2);
    the eigenproblems are of size rows and cols, so an iteration costs
    O(rows^3 + cols^3 + n rows cols (l1 + l2) + n rows^2 l2 + n cols^2 l1), not l1^3 + l2^3. ``max_iter`` iterations
    are made, where "t <= T" makes T + 1.

    f grows with l1 and l2 only as long as eigenvalues are positive; further columns are those with eigenvalue zero,
    then negative ones. A vector is a picture of one column, and the method is then the maximum margin criterion.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> digits = load_digits()
    >>> TwoDMMC(n_components=(3, 4)).fit_transform(digits.images, digits.target).shape
    (1797, 12)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BilinearEmbedding._parameter_constraints,
        "trade_off": [StrOptions({"trace_ratio"}), Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_components: int | tuple[int, int] | None = None,
        *,
        shape: tuple[int, int] | None = None,
        trade_off: str | float = "trace_ratio",
        init: Any = "identity",
        max_iter: int = 20,
        tol: float = 1e-8,
        flatten: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.shape = shape
        self.trade_off = trade_off
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.flatten = flatten
        self.random_state = random_state

    def _problem(self, pictures: Array, labels: NDArray[np.intp] | None, sweep: Sequence[int] | None) -> Problem:
        assert labels is not None
        between, within = class_differences(pictures, labels)
        spread, noise = energy(between), energy(within)
        if isinstance(self.trade_off, str):
            # Rounding leaves residuals of the size of the pixels times 1e-16 where a class does not vary.
            if noise <= 1e-24 * energy(pictures):
                raise NotApplicable(
                    "trade_off='trace_ratio' is tr S_b / tr S_w, but no class varies (S_w = 0): give several different "
                    "images per class, or trade_off as a number"
                )
            self.trade_off_ = spread / noise
        else:
            self.trade_off_ = float(self.trade_off)
        stacked = StackedScatter.of((1.0, between), (-self.trade_off_, within))
        scatter: Scatter = stacked if sweep is None else stacked.for_sweep(sweep)
        return TraceProblem(scatter, spread + self.trade_off_ * noise)
