"""Ridge regression on class indicators for kernels that are products of explicit features, from their scatters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve

from mklearn.optimize.landmark_embedding import LandmarkProblem, lower_factor

Array = NDArray[np.floating[Any]]


def landmark_ridge(problem: LandmarkProblem, counts: NDArray[np.integer], weights: Array, amount: float) -> Array:
    """Minimise the squared error of class indicators with penalty lambda tr(W'W) and a free intercept.

    With K = Phi Theta Phi', D = Theta^(1/2) and the class sums of the centred features, s_c = sqrt(n_c) b_c for the
    columns b_c of B, W = (D S_T D + lambda I)^-1 D [s_1 ... s_C]: the class sums are all that is needed of the labels.

    Parameters
    ----------
    problem : LandmarkProblem
        With labels.
    counts : int array of shape (c,)
        Samples per class.
    weights : array of shape (M,)
        Kernel weights.
    amount : float
        lambda > 0.

    Returns
    -------
    array of shape (D, c)
        D W: what a sample's features are multiplied by.

    Raises
    ------
    SolverFailed
        lambda is below the rounding errors of the scatter.
    """
    assert problem.between is not None
    root = np.sqrt(problem.spread(weights))
    system = root[:, None] * problem.total * root
    system[np.diag_indices_from(system)] += amount
    right = root[:, None] * problem.between * np.sqrt(counts)
    return np.asarray(root[:, None] * cho_solve((lower_factor(system), True), right, check_finite=False))
