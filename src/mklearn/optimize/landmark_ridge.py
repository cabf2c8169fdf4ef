"""Ridge regression with kernels that are products of explicit features, computed from their scatter matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve

from mklearn.optimize.eigen import lower_factor
from mklearn.optimize.landmark_embedding import LandmarkProblem

Array = NDArray[np.floating[Any]]


def landmark_ridge(problem: LandmarkProblem, cross: Array, weights: Array, amount: float) -> Array:
    """Fit ridge regression of targets with penalty lambda tr(W'W), lambda = ``amount``, and a free intercept.

    With K = Phi Theta Phi' and D = Theta^(1/2), the solution is W = (D S_T D + lambda I)^-1 D C. Here ``cross`` is
    C = Phi'Y (n_features, c), the products of centred features and centred targets. For class indicators, C holds the
    class sums of the centred features. Returns D W (n_features, c), the coefficients of a sample's features. Raises
    `SolverFailed` if lambda is below the rounding errors of the scatter.
    """
    root = np.sqrt(problem.spread(weights))
    system = root[:, None] * problem.total * root
    system[np.diag_indices_from(system)] += amount
    solved = cho_solve((lower_factor(system), True), root[:, None] * cross, check_finite=False)
    return np.asarray(root[:, None] * solved)
