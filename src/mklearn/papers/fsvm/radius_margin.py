"""Linear machines that bound the radius by the largest distance between two samples: R-SVM+ and R-SVM+_mu.

The exact equations of Do, Kalousis, "Convex formulations of radius-margin based support vector machines", ICML 2013,
were not available. Both programs are reconstructions from their descriptions in that paper's abstract and in Wu, Zuo,
Zhu, Lin, "F-SVM", arXiv 1504.05035 (2015), sections II and III-C. With D_ijk = x_ik - x_jk:

    R-SVM+     minimise 1/2 sum_k w_k^2         + lam r + C sum xi,   sum_k w_k^2  D_ijk^2 <= r for all pairs i < j,
    R-SVM+_mu  minimise 1/2 sum_k w_k^2 / mu_k  + lam r + C sum xi,   sum_k mu_k   D_ijk^2 <= r for all pairs, mu >= 0.

Only a few of the n (n - 1) / 2 pairs are active. They are generated lazily, from the farthest pair on: the solution
with some pairs gives a lower bound of the optimum, its largest distance over all pairs an upper bound, and generation
ends when the two meet.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mklearn.errors import SolverFailed
from mklearn.extras import require
from mklearn.optimize.hinge_program import (
    Floats,
    LinearMachine,
    Multipliers,
    hinge_loss,
    lower_bound,
    machine,
    solve_hinge_program,
)

Pairs = list[tuple[int, int]]

# Relative duality gap at which the generation of pairs ends.
_TARGET = 1e-8
_ROUNDS = 100
_PER_ROUND = 12
# Samples whose distances to all others are computed at a time.
_BLOCK = 1000
# Smallest feature weight relative to the largest; smaller weights are raised to it.
_SMALLEST_WEIGHT = 1e-12
# CLARABEL's tolerances: the second is tried if the first leaves too large a gap. The problem is divided by C and, if
# the gap is still too large, by sqrt(lam), which is better for separable classes.
_CONIC_TOLERANCES = (1e-9, 1e-11)
_SMALL_ENOUGH = 2e-7
# Share of the pair weights spread evenly over all pairs in the lower bound.
_SHARED = 1e-9
# Squared distances this close, relatively, are the same.
_SAME = 1e-10
# Entries of w up to this, for outputs of size 1 and features of size 1, count as 0.
_NEGLIGIBLE = 1e-8


def r_svm_plus(X: Floats, y: Floats, C: float, lam: float) -> LinearMachine:
    """Fit R-SVM+, our reconstruction, to X (n, d) and y, (n,), 1 and -1, both present.

    ``C`` is the penalty of the hinge loss, with 1/2 ||w||^2, and ``lam`` the weight of the squared radius bound r.
    ``multipliers.spread`` of the result holds theta of the generated pairs. Errors are as for `hinge_machine`.
    """

    def solve(spreads: Floats) -> tuple[LinearMachine, Floats]:
        w, b, multipliers, n_iter = solve_hinge_program(X, y, C, np.inf, spreads, lam)
        objective = 0.5 * float(w @ w) + lam * squared_diameter(X, w**2) + C * hinge_loss(X, y, w, b)
        bound = lower_bound(X, y, C, np.inf, spreads, _normalised(multipliers, lam))
        return machine(w, b, objective, bound, n_iter, multipliers), w**2

    return _generate(X, solve, _new_pairs(X, np.ones(X.shape[1]), [], 0.0)[:1])[0]


def r_svm_plus_mu(X: Floats, y: Floats, C: float, lam: float) -> LinearMachine:
    """Fit R-SVM+_mu, our reconstruction, with CLARABEL.

    Parameters and errors are as for `r_svm_plus`. ``feature_weights`` of the result are mu, scaled so that the
    objective is smallest; where w = 0, which any scale down to 0 allows, the largest is 1.

    Notes
    -----
    For pair weights theta of sum ``lam`` and s_k^2 = sum_ij theta_ij D_ijk^2, minimising over mu gives an l1 norm,
    sqrt(2) sum_k s_k |w_k|. So only C^2 / lam matters, and below a threshold of it w = 0. The dual is: maximise sum
    alpha with ``|X'(y alpha)|_k <= sqrt(2) s_k``.
    """

    def solve(tolerance: float, unit: float, spreads: Floats) -> tuple[LinearMachine, Floats]:
        w, b, mu, multipliers, n_iter = _solve_mu(X, y, C, lam, spreads, tolerance, unit)
        if np.abs(w).max() <= _NEGLIGIBLE:
            w, b = np.zeros_like(w), 1.0 if y.sum() >= 0 else -1.0
        if not mu.max() > 0:
            mu = np.ones_like(mu)
        mu = np.maximum(mu / mu.max(), _SMALLEST_WEIGHT)
        norm, radius = float((w**2 / mu).sum()), squared_diameter(X, mu)
        if norm > 0:
            mu = mu * np.sqrt(norm / (2 * lam * radius))
        objective = np.sqrt(2 * lam * norm * radius) + C * hinge_loss(X, y, w, b)
        multipliers = _normalised(multipliers, lam)
        solution = machine(w, b, objective, _mu_bound(X, y, C, spreads, multipliers), n_iter, multipliers)
        return replace(solution, feature_weights=mu), mu

    # Add the extremes of each feature: a feature in which all pairs are equal would have no bound.
    extremes = np.sort(np.column_stack([X.argmin(axis=0), X.argmax(axis=0)]), axis=1)
    farthest = _new_pairs(X, np.ones(X.shape[1]), [], 0.0)[:1]
    pairs = list(dict.fromkeys([*farthest, *((int(i), int(j)) for i, j in extremes)]))
    solutions, failures = list[LinearMachine](), list[SolverFailed]()
    rough, fine = _CONIC_TOLERANCES
    for tolerance, unit in ((rough, C), (fine, C), (fine, math.sqrt(lam))):
        try:
            solution, pairs = _generate(X, partial(solve, tolerance, unit), pairs)
        except SolverFailed as error:
            failures.append(error)
            continue
        solutions.append(solution)
        if solution.gap <= _SMALL_ENOUGH:
            break
    if not solutions:
        raise failures[-1]
    return min(solutions, key=lambda each: each.gap)


def squared_diameter(X: Floats, weights: Floats) -> float:
    """Compute the largest weighted squared distance between two samples, max_ij sum_k weights_k (x_ik - x_jk)^2."""
    return float(_farthest(X, weights)[0].max())


def _normalised(multipliers: Multipliers, lam: float) -> Multipliers:
    """Return multipliers with theta >= 0 and of sum ``lam``, as the lower bounds need them."""
    theta = np.maximum(multipliers.spread, 0.0)
    total = float(theta.sum())
    return replace(multipliers, spread=theta * (lam / total) if total > 0 else np.full(len(theta), lam / len(theta)))


def _farthest(X: Floats, weights: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Return for each sample the largest weighted squared distance to another one, and the position of that sample."""
    Z = X * np.sqrt(weights)
    lengths = (Z**2).sum(axis=1)
    largest, partner = np.empty(len(Z)), np.empty(len(Z), dtype=np.intp)
    for start in range(0, len(Z), _BLOCK):
        block = slice(start, start + _BLOCK)
        distances = lengths - 2 * (Z[block] @ Z.T)
        partner[block] = distances.argmax(axis=1)
        largest[block] = distances[np.arange(len(distances)), partner[block]] + lengths[block]
    return np.maximum(largest, 0.0), partner


def _generate(
    X: Floats, solve: Callable[[Floats], tuple[LinearMachine, Floats]], pairs: Pairs
) -> tuple[LinearMachine, Pairs]:
    """Solve with more and more pairs; ``solve`` returns a solution and the weights of its distances."""
    n_iter, best = 0, None
    for _ in range(_ROUNDS):
        spreads = np.array([(X[i] - X[j]) ** 2 for i, j in pairs])
        solution, weights = solve(spreads)
        n_iter += solution.n_iter
        if best is None or solution.gap < best.gap:
            best = replace(solution, n_pairs=len(pairs))
        new = _new_pairs(X, weights, pairs, float((spreads @ weights).max()))
        if best.gap <= _TARGET or not new:
            break
        pairs = pairs + new
    assert best is not None
    return replace(best, n_iter=n_iter), pairs


def _new_pairs(X: Floats, weights: Floats, pairs: Pairs, radius: float) -> Pairs:
    """Return the farthest pairs, at most one per sample, that are farther apart than all present pairs."""
    largest, partner = _farthest(X, weights)
    ordered = np.argsort(-largest, kind="stable")
    ordered = ordered[largest[ordered] > radius * (1 + _SAME)]
    present, new = set(pairs), []
    for i in ordered:
        pair = (int(min(i, partner[i])), int(max(i, partner[i])))
        if pair not in present:
            present.add(pair)
            new.append(pair)
        if len(new) == _PER_ROUND:
            break
    return new


def _mu_bound(X: Floats, y: Floats, C: float, spreads: Floats, multipliers: Multipliers) -> float:
    """Compute a lower bound of the objective of R-SVM+_mu from multipliers, which are made feasible first."""
    alpha = np.clip(multipliers.hinge, 0.0, C)
    plus, minus = float(alpha[y > 0].sum()), float(alpha[y < 0].sum())
    level = min(plus, minus)
    if not level > 0:
        return 0.0
    alpha = alpha * np.where(y > 0, level / plus, level / minus)
    # A little of every pair bounds features that the others leave at rounding errors.
    total, theta = multipliers.spread.sum(), multipliers.spread
    theta = (1 - _SHARED) * theta + _SHARED * total / len(theta)
    size, limit = np.abs(X.T @ (y * alpha)), np.sqrt(2 * (theta @ spreads))
    exceeding = size > limit
    return float(alpha.sum()) * float((limit[exceeding] / size[exceeding]).min(initial=1.0))


def _solve_mu(
    X: Floats, y: Floats, C: float, lam: float, spreads: Floats, tolerance: float, unit: float
) -> tuple[Floats, float, Floats, Multipliers, int]:
    """Solve R-SVM+_mu for some pairs.

    Variables: w, b, xi, sqrt(lam) mu, t and sqrt(lam) r with w_k^2 <= mu_k t_k; the objective is divided by ``unit``.
    """
    require("clarabel")
    import clarabel

    n, d = X.shape
    eye = sparse.identity
    cone = _cone_rows(d)
    hinge = sparse.csc_matrix(-y[:, None] * np.column_stack([X, np.ones(n)]))
    rows: list[list[Any]] = [
        [hinge, -eye(n), None, None, None],
        [None, -eye(n), None, None, None],
        [None, None, sparse.csc_matrix(spreads), None, np.full((len(spreads), 1), -1.0)],
        [sparse.hstack([cone[0], sparse.csc_matrix((3 * d, 1))]), None, cone[1], cone[2], None],
    ]
    A = sparse.bmat(rows, format="csc")
    right = np.concatenate([-np.ones(n), np.zeros(n + len(spreads) + 3 * d)])
    hinge_cost, level = C / unit, math.sqrt(lam) / unit
    cost = np.concatenate([np.zeros(d + 1), np.full(n, hinge_cost), np.zeros(d), np.full(d, 0.5 * level), [level]])
    cones = [clarabel.NonnegativeConeT(2 * n + len(spreads)), *[clarabel.SecondOrderConeT(3)] * d]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = tolerance
    P = sparse.csc_matrix((len(cost), len(cost)))
    solved = clarabel.DefaultSolver(P, cost, A, right, cones, settings).solve()
    x, z = np.array(solved.x), np.array(solved.z)
    multipliers = Multipliers(unit * z[:n], np.zeros(n), np.zeros(n), z[2 * n : 2 * n + len(spreads)])
    return x[:d], float(x[d]), x[d + 1 + n : 2 * d + 1 + n] / math.sqrt(lam), multipliers, int(solved.iterations)


def _cone_rows(d: int) -> tuple[Any, Any, Any]:
    """Return the rows of -(t + mu, t - mu, 2 w) for each feature, split into the columns of w, mu and t."""
    eye = sparse.identity(d)
    return tuple(sparse.kron(eye, np.array(column)[:, None]) for column in ([0.0, 0, -2], [-1.0, 1, 0], [-1.0, -1, 0]))
