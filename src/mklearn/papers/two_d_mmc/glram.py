"""Generalised low rank approximations of matrices: two-dimensional principal components."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mklearn.papers.two_d_mmc.bilinear import Array, BilinearEmbedding, Scatter, Side, Step, energy, trace_step


class GLRAM(BilinearEmbedding):
    """Generalised low rank approximations of matrices.

    Minimises sum_i ||X_i - L Y_i R'||_F^2 over L'L = I, R'R = I and Y_i, that is, maximises

        sum_i ||L'X_i R||_F^2,   Y_i = L'X_i R,

    by alternating between the leading eigenvectors of sum_i X_i'LL'X_i and of sum_i X_i RR'X_i'.

    Parameters
    ----------
    n_components : int or (int, int), optional
        (l1, l2), or one number for both. By default 10 per side, or the length of a shorter side.
    max_iter : int
        Largest number of iterations.
    tol : float
        Stop when an iteration increases the objective by at most this fraction of sum_i ||X_i||_F^2.

    Attributes
    ----------
    left_components_, right_components_ : arrays of shape (rows, l1), (cols, l2)
        L and R, in each column the entry of largest absolute value positive.
    objective_history_ : array of shape ``(2 * n_iter_,)``
        sum_i ||L'X_i R||_F^2 after every half step; never decreases.
    n_iter_ : int
    status_ : {"converged", "max_iter"}
    embedding_ : array of shape (n, l1 * l2)
    shape_ : (rows, cols)
    n_features_in_ : int
        rows * cols.

    Raises
    ------
    DataError
        X not finite or of an unexpected shape.
    NotApplicable
        More components than rows or columns.
    ConfigError
        Invalid ``n_components``.

    References
    ----------
    Ye, "Generalized low rank approximations of matrices", ICML 2004.

    Notes
    -----
    The first L is (I, 0)', as in the paper, and the mean image is not subtracted. The optimum is local: in theory it
    depends on the start, in practice hardly. The paper stops by the root mean square error; here the equivalent
    condition on the objective is used.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> images = load_digits().images
    >>> GLRAM(n_components=3).fit_transform(images).shape
    (1797, 9)
    """

    _needs_labels = False
    _fixed_side: ClassVar[Side] = "left"

    def _problem(self, images: Array, codes: NDArray[np.intp] | None) -> tuple[Step, float]:
        return partial(trace_step, Scatter((1.0, images))), energy(images)
