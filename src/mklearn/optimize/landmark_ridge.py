"""Ridge regression with kernels that are products of explicit features, computed from their scatter matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, eigh

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


def generalised_errors(problem: LandmarkProblem, cross: Array, squares: Array, weights: Array, amounts: Array) -> Array:
    """Compute the generalised cross-validation error for several ridges, (n_ridges, c), from moments alone.

    ``GCV(lambda) = (RSS / n) / (1 - (1 + tr H) / n)^2`` with the residual sum of squares RSS and the hat matrix H of
    the centred features. It equals the leave-one-out error if all samples have the same leverage. ``squares`` (c,) are
    the sums of squares of the centred targets; the other arguments are as for `landmark_ridge`.

    References
    ----------
    Golub, Heath, Wahba, "Generalized cross-validation as a method for choosing a good ridge parameter", Technometrics
    1979, eq. (1.4).
    """
    root = np.sqrt(problem.spread(weights))
    values, V = eigh(root[:, None] * problem.total * root, check_finite=False)
    values = np.maximum(values, 0.0)
    projected = (V.T @ (root[:, None] * cross)) ** 2
    errors = []
    for amount in amounts:
        kept = 1.0 / (values + amount)
        left = squares - (projected * (2.0 * kept - values * kept**2)[:, None]).sum(axis=0)
        free = 1.0 - (1.0 + float(values @ kept)) / problem.n
        errors.append(np.maximum(left, 0.0) / problem.n / max(free, np.finfo(np.float64).eps) ** 2)
    return np.array(errors)
