"""Kernel weights of EasyMKL: each kernel's share in the distance between the closest distributions over two classes.

With K = sum_m K_m, Y = diag(y) for labels y, and gamma a probability distribution over the samples of each class,

    gamma* = argmin (1 - lambda) gamma'Y K Y gamma + lambda ||gamma||^2,    weights_m ~ gamma*'Y K_m Y gamma*.

For lambda near 0, gamma* gives the nearest points of the convex hulls of the classes; for lambda = 1, the class means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, eigvalsh, solve

from mklearn.checks import weighted_sum
from mklearn.errors import NotApplicable, SolverFailed
from mklearn.optimize.simplex_qp import simplex_projection

Array = NDArray[np.floating[Any]]

_MAX_STEPS = 20_000


@dataclass(frozen=True, eq=False)
class EasyMKLWeights:
    """Result of `easy_mkl_weights`."""

    weights: Array  # (P,), sum 1
    gamma: Array  # (n,), nonnegative, sum 1 over each class
    value: float  # the objective at gamma
    gap: float  # upper bound of value - optimum, relative to value


def easy_mkl_weights(kernels: NDArray[Any], y: Array, *, trade_off: float = 0.1, tol: float = 1e-8) -> EasyMKLWeights:
    """Compute EasyMKL's kernel weights (see the module) by the accelerated projected gradient method.

    ``kernels`` (P, n, n) are symmetric positive semidefinite; the paper scales each to trace n. The labels ``y`` (n,)
    are -1 and 1, both present. ``trade_off`` is lambda in (0, 1], and ``tol`` is the tolerance of the relative gap.

    Raises
    ------
    NotApplicable
        No kernel separates the classes: all weights would be 0.
    SolverFailed
        The gap stays above ``tol``: the kernels are far from positive semidefinite.

    References
    ----------
    Aiolli, Donini, "EasyMKL: a scalable multiple kernel learning algorithm", Neurocomputing 169, 2015.
    """
    total = weighted_sum(list(kernels), np.ones(len(kernels)), len(y))
    Q = (1.0 - trade_off) * (y[:, None] * total * y)
    Q[np.diag_indices_from(Q)] += trade_off
    members = [np.flatnonzero(y == sign) for sign in (-1.0, 1.0)]
    gamma = _minimiser(Q, members, tol)
    slope = Q @ gamma
    value = float(gamma @ slope)
    gap = _gap(gamma, slope, members) / value
    if not (value > 0 and gap <= tol):
        raise SolverFailed(
            f"EasyMKL stopped at a value of {value:.1e} and a relative gap of {gap:.1e} instead of {tol:.1e}: expected "
            "positive semidefinite kernels of trace n; scale them, raise `trade_off` or repair them (psd_repair)."
        )
    c = y * gamma
    separation = np.maximum([float(c @ matrix @ c) for matrix in kernels], 0.0)
    if not separation.sum() > 0:
        raise NotApplicable("No kernel separates the classes: EasyMKL has no weights.")
    return EasyMKLWeights(separation / separation.sum(), gamma, value, gap)


def _gap(gamma: Array, slope: Array, members: list[NDArray[np.intp]]) -> float:
    """Bound gamma'Q gamma minus its minimum by the tangent plane at gamma; ``slope`` is Q gamma."""
    return 2.0 * (float(gamma @ slope) - sum(float(slope[rows].min()) for rows in members))


def _minimiser(Q: Array, members: list[NDArray[np.intp]], tol: float) -> Array:
    """Minimise gamma'Q gamma over gamma >= 0 with sum 1 over each class.

    An accelerated projected gradient method with restarts finds the support. Once the support no longer changes, the
    minimiser is computed in closed form.
    """
    gamma = np.zeros(len(Q))
    for rows in members:
        gamma[rows] = 1.0 / len(rows)
    length = 1.0 / float(eigvalsh(Q, subset_by_index=[len(Q) - 1, len(Q) - 1])[0])
    ahead, momentum, support = gamma, 1.0, np.flatnonzero(gamma)
    for step in range(_MAX_STEPS):
        slope = Q @ ahead
        new = np.empty_like(gamma)
        for rows in members:
            new[rows] = simplex_projection((ahead[rows] - length * slope[rows])[None])[0]
        if (ahead - new) @ (new - gamma) > 0:  # the momentum points uphill
            momentum = 1.0
        following = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        ahead = new + (momentum - 1.0) / following * (new - gamma)
        gamma, momentum = new, following
        if step % 10 == 0:
            before, support = support, np.flatnonzero(gamma)
            stays = np.array_equal(support, before)
            for candidate in (gamma, *(_on_support(Q, support, members) if stays else [])):
                slope = Q @ candidate
                value = float(candidate @ slope)
                if value <= 0 or _gap(candidate, slope, members) <= 0.5 * tol * value:
                    return candidate
    return gamma


def _on_support(Q: Array, support: NDArray[np.intp], members: list[NDArray[np.intp]]) -> list[Array]:
    """Return the minimiser over all gamma with this support and sum 1 over each class, or [] if an entry is negative.

    It is Q^-1 A (A'Q^-1 A)^-1 1, where A holds the class indicators and all matrices are restricted to the support.
    """
    classes = np.array([np.isin(support, rows) for rows in members], dtype=np.float64).T
    try:
        solved = solve(Q[np.ix_(support, support)], classes, assume_a="pos")
    except LinAlgError:  # not positive definite
        return []
    entries = solved @ np.linalg.solve(classes.T @ solved, np.ones(len(members)))
    if entries.min() < 0:
        return []
    gamma = np.zeros(len(Q))
    gamma[support] = entries
    return [gamma]
