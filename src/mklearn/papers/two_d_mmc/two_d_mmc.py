"""Two-dimensional maximum margin criterion."""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mklearn.base.parameters import Nonnegative, parameters
from mklearn.errors import NotApplicable
from mklearn.papers.two_d_mmc.bilinear import (
    Array,
    BilinearEmbedding,
    Scatter,
    Step,
    class_differences,
    energy,
    trace_step,
)


@parameters
class TwoDMMC(BilinearEmbedding):
    """Two-dimensional maximum margin criterion.

    Maximises f(U, V) = S_b - lambda S_w over U'U = I and V'V = I, where

        S_b = sum_k n_k ||U'(M_k - M)V||_F^2,   S_w = sum_k sum_{X in k} ||U'(X - M_k)V||_F^2,

    M_k the mean image of class k and M the mean image, by alternating between the leading eigenvectors of

        sum_k n_k (M_k - M)VV'(M_k - M)' - lambda sum_k sum_{X in k} (X - M_k)VV'(X - M_k)'

    for U and, by the same problem with transposed images, for V. lambda is fixed before the first step.

    Parameters
    ----------
    n_components
        As for `mklearn.papers.two_d_mmc.glram.GLRAM`.
    trade_off : "trace_ratio" or float
        lambda: a number, or tr S_b / tr S_w of the images, as in the paper's experiments.
    exchanged : bool
        Exchange S_b and S_w in f and in both eigenproblems, as equations (7), (8) and Algorithm 1 print.
    max_iter : int
        Largest number of iterations; 20 in the paper.
    tol : float
        Stop when an iteration increases f by at most this fraction of tr S_b + lambda tr S_w.

    Attributes
    ----------
    left_components_, right_components_ : arrays of shape (rows, l1), (cols, l2)
        U and V, in each column the entry of largest absolute value positive.
    objective_history_ : array of shape ``(2 * n_iter_,)``
        f after every half step; never decreases.
    trade_off_ : float
        lambda as a number.
    classes_ : array of shape (n_classes,)
    n_iter_, status_, embedding_, shape_, n_features_in_
        As for `mklearn.papers.two_d_mmc.glram.GLRAM`, as are the errors. `DataError` also for y missing or malformed,
        and `NotApplicable` for one class only, or for ``trade_off="trace_ratio"`` if no class varies.

    References
    ----------
    Gu and Zhou, "Two dimensional maximum margin criterion", ICASSP 2009. The trace ratio as lambda: Nie, Xiang, Song,
    Zhang, "Extracting the optimal dimensionality for discriminant analysis", ICASSP 2007.

    Notes
    -----
    Corrections of the paper: equations (7), (8) and Algorithm 1 exchange S_b and S_w of (3) to (6), which selects the
    directions that do not discriminate (``exchanged=True``); (8) and step 5 lack transposes; M_k lacks 1/n_k; V is
    (cols, l2); the eigenproblems are of size rows and cols, so an iteration costs
    O(rows^3 + cols^3 + n rows cols (l1 + l2) + n rows^2 l2 + n cols^2 l1), not l1^3 + l2^3; there are ``max_iter``
    iterations, while "t <= T" makes T + 1.

    The first V is (I, 0)'; the paper allows any orthogonal matrix. f grows with l1 and l2 only as long as eigenvalues
    are positive; further columns have eigenvalue zero, then negative eigenvalues. For images of one column the method
    is the maximum margin criterion.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> digits = load_digits()
    >>> TwoDMMC(n_components=(3, 4)).fit_transform(digits.images, digits.target).shape
    (1797, 12)
    """

    trade_off: Literal["trace_ratio"] | Nonnegative = "trace_ratio"
    exchanged: bool = False

    def _problem(self, images: Array, codes: NDArray[np.intp] | None) -> tuple[Step, float]:
        assert codes is not None
        between, within = class_differences(images, codes)
        spread, noise = energy(between), energy(within)
        if isinstance(self.trade_off, str):
            # Rounding leaves residuals of 1e-16 times the pixels if no class varies.
            if noise <= 1e-24 * energy(images):
                raise NotApplicable(
                    "trade_off='trace_ratio' is tr S_b / tr S_w, but no class varies (S_w = 0): give several different "
                    "images per class, or trade_off as a number"
                )
            self.trade_off_ = spread / noise
        else:
            self.trade_off_ = float(self.trade_off)
        gain, loss = (within, between) if self.exchanged else (between, within)
        scatter = Scatter((1.0, gain), (-self.trade_off_, loss))
        return partial(trace_step, scatter), spread + self.trade_off_ * noise
