"""Interior-point solver for linear machines with hinge loss, bounded outputs and a penalty on weighted spreads.

    minimise  1/2 ||w||^2 + lam max_p sum_k q_pk w_k^2 + C sum_i max(0, 1 - y_i f_i),   f = Xw + b,   |f_i| <= bound.

Without the second term and the bound this is the support vector machine; with the bound it is the relative margin
machine; with the second term it is R-SVM+ (Do, Kalousis 2013).

The slacks of all constraints are computed from (w, b) and the slack variables, so every iterate is feasible. The
multipliers of the hinge are eliminated, and Newton's system has d + 1 unknowns: an iteration costs O(n d^2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotrs

from mklearn.errors import SolverFailed

Floats = NDArray[np.floating[Any]]
Status = Literal["optimal", "inaccurate"]

#: Largest relative duality gap of an optimal solution.
GAP = 1e-6

_TARGET = 1e-10
_ITERATIONS = 100
_PATIENCE = 15
_CENTRED_AFTER = 5
_TO_BOUNDARY = 0.99
_SHORTEST = 1e-10


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Dual variables of a hinge program."""

    hinge: Floats  # (n,), alpha, from 0 to C
    upper: Floats  # (n,), multipliers of ``y f <= bound``; zeros without a bound
    lower: Floats  # (n,), multipliers of ``y f >= -bound``; zeros without a bound
    spread: Floats  # (P,), multipliers theta of the spreads, sum ``lam``


@dataclass(frozen=True, eq=False)
class LinearMachine:
    """Result of a solver for linear machines, whose outputs are Xw + b."""

    w: Floats
    b: float
    objective: float  # recomputed from w and b
    gap: float  # (objective - lower bound) / objective; the lower bound is recomputed from the multipliers
    status: Status  # "optimal" if the gap is at most `GAP`
    n_iter: int  # total number of iterations over all rounds
    multipliers: Multipliers
    n_pairs: int = 0  # number of sample pairs whose constraints were generated
    feature_weights: Floats | None = None  # (d,), mu; None unless the solver learns one weight per feature


def hinge_machine(X: Floats, y: Floats, C: float, bound: float = np.inf) -> LinearMachine:
    """Fit the support vector machine, or with a finite bound the relative margin machine.

    X is (n, d). The labels y (n,) are 1 and -1, both present. ``C`` is the penalty of the hinge loss next to
    1/2 ||w||^2. ``bound`` > 1 limits ``|w'x + b|`` on the training samples (hard bound of Shivaswamy, Jebara, "Maximum
    relative margin and data-dependent regularization", JMLR 11, 2010); `numpy.inf` drops these constraints. Raises
    `SolverFailed` if the solution is not finite.
    """
    empty = np.zeros((0, X.shape[1]))
    w, b, multipliers, n_iter = solve_hinge_program(X, y, C, bound, empty, 0.0)
    # Rounding may leave outputs above the bound.
    largest = float(np.abs(X @ w + b).max())
    shrink = min(1.0, bound / largest) if largest > 0 else 1.0
    w, b = w * shrink, b * shrink
    objective = 0.5 * float(w @ w) + C * hinge_loss(X, y, w, b)
    return machine(w, b, objective, lower_bound(X, y, C, bound, empty, multipliers), n_iter, multipliers)


def hinge_loss(X: Floats, y: Floats, w: Floats, b: float) -> float:
    """Sum the hinge loss over the samples."""
    return float(np.maximum(0.0, 1.0 - y * (X @ w + b)).sum())


def machine(
    w: Floats, b: float, objective: float, bound: float, n_iter: int, multipliers: Multipliers
) -> LinearMachine:
    """Return a solution with its relative duality gap and status."""
    if not (np.isfinite(objective) and np.isfinite(bound) and np.isfinite(w).all()):
        raise SolverFailed("The interior-point solver diverged: rescale the features, or choose a smaller C.")
    gap = (objective - bound) / max(abs(objective), np.finfo(float).tiny)
    status: Status = "optimal" if gap <= GAP else "inaccurate"
    return LinearMachine(w, b, objective, gap, status, n_iter, multipliers)


def lower_bound(X: Floats, y: Floats, C: float, bound: float, spreads: Floats, multipliers: Multipliers) -> float:
    """Compute a lower bound of the objective from multipliers, after making them feasible.

    The dual is sum alpha - bound sum (upper + lower) - 1/2 u'(I + 2 diag(spreads'theta))^-1 u with u = X'(y (alpha -
    upper + lower)). Its constraint y'(alpha - upper + lower) = 0 is met by scaling down the terms of the sign with the
    larger sum.
    """
    alpha = np.clip(multipliers.hinge, 0.0, C)
    upper, lower = np.maximum(multipliers.upper, 0.0), np.maximum(multipliers.lower, 0.0)
    first = y > 0
    plus = float(alpha[first].sum() + lower[first].sum() + upper[~first].sum())
    minus = float(alpha[~first].sum() + lower[~first].sum() + upper[first].sum())
    level = min(plus, minus)
    scale_plus, scale_minus = (level / side if side > 0 else 0.0 for side in (plus, minus))
    along = np.where(first, scale_plus, scale_minus)
    against = np.where(first, scale_minus, scale_plus)
    alpha, lower, upper = alpha * along, lower * along, upper * against
    u = X.T @ (y * (alpha - upper + lower))
    outer = bound * float((upper + lower).sum()) if np.isfinite(bound) else 0.0
    return float(alpha.sum()) - outer - 0.5 * float(u @ (u / (1.0 + 2.0 * (spreads.T @ multipliers.spread))))


def solve_hinge_program(
    X: Floats, y: Floats, C: float, bound: float, spreads: Floats, lam: float
) -> tuple[Floats, float, Multipliers, int]:
    """Solve the program of this module by a primal-dual interior-point method.

    X, y, C and ``bound`` are as for `hinge_machine`. ``spreads`` q (P, d) is nonnegative; without rows there is no
    spread term. ``lam`` is the weight of the largest spread. Returns w, b, multipliers and number of iterations.

    Notes
    -----
    Mehrotra's predictor-corrector method with one step length for primal and dual variables. The corrector includes the
    curvature of the spreads. The method may cycle on small problems: after five iterations without progress it takes
    centring steps until there is progress again. It stops at an estimated relative duality gap of 1e-10, or without
    progress, and returns the best iterate. Callers compute the duality gap as a certificate of its accuracy.
    """
    iterate = _Iterate(X, y, C, bound, spreads, lam)
    n_iter, since, nearest, best = 0, 0, np.inf, iterate.solution()
    while n_iter < _ITERATIONS and nearest > _TARGET and since < _PATIENCE:
        try:
            iterate.step(centred=since >= _CENTRED_AFTER)
        except LinAlgError:  # the Newton matrix is singular to working precision: no more progress
            break
        n_iter, since, distance = n_iter + 1, since + 1, iterate.distance()
        if distance < nearest:
            since, nearest, best = 0, distance, iterate.solution()
    return (*best, n_iter)


class _Iterate:
    """Strictly feasible iterate: (w, b) in ``u``, the largest spread ``r``, slacks and multipliers of all constraints.

    With m = y f and the losses xi, the constraints are, in this order: m + xi >= 1, xi >= 0, m <= bound, m >= -bound
    (n each) and w'Q_p w <= r. For each sample, the multipliers of the first two sum to C.
    """

    def __init__(self, X: Floats, y: Floats, C: float, bound: float, spreads: Floats, lam: float) -> None:
        n, d = X.shape
        self.n, self.C, self.lam, self.spreads = n, C, lam, spreads
        self.bounded, self.has_spreads = bool(np.isfinite(bound)), len(spreads) > 0
        self.rows = y[:, None] * np.column_stack([X, np.ones(n)])
        self.u = np.zeros(d + 1)
        self.r = 1.0
        limits = [bound] if self.bounded else []
        self.slack = np.repeat([1.0, 2.0, *limits * 2, 1.0], [n, n, *[n] * 2 * len(limits), len(spreads)])
        theta = lam / max(len(spreads), 1)
        levels = [C / 2, C / 2, *[C / 10] * 2 * len(limits), theta]
        self.multiplier = np.repeat(levels, [n, n, *[n] * 2 * len(limits), len(spreads)])
        self.gradient = self.lagrangian_gradient()

    @property
    def theta(self) -> Floats:
        return self.multiplier[len(self.multiplier) - len(self.spreads) :]

    def curvature(self) -> Floats:
        """Return the diagonal of the Hessian with respect to w."""
        return 1.0 + 2.0 * (self.theta @ self.spreads)

    def lagrangian_gradient(self) -> Floats:
        """Return the gradient of the Lagrangian with respect to (w, b)."""
        n, z = self.n, self.multiplier
        force = z[:n] - z[2 * n : 3 * n] + z[3 * n : 4 * n] if self.bounded else z[:n]
        gradient = -(force @ self.rows)
        gradient[:-1] += self.curvature() * self.u[:-1]
        return gradient

    def distance(self) -> float:
        """Estimate the relative duality gap from complementarity and the dual residual."""
        w, b, loss = self.u[:-1], self.u[-1], self.slack[self.n : 2 * self.n]
        objective = 0.5 * (w @ w) + self.lam * self.r + self.C * loss.sum()
        residual, n = self.gradient, self.n
        drift = np.abs(self.multiplier[:n] + self.multiplier[n : 2 * n] - self.C)
        infeasible = 0.5 * residual[:-1] @ residual[:-1] + abs(residual[-1]) * (2.0 + abs(b)) + drift @ (1.0 + loss)
        return float((self.slack @ self.multiplier + infeasible) / objective)

    def step(self, *, centred: bool) -> None:
        """Take one predictor-corrector step, or one centring step."""
        n, s, z, w = self.n, self.slack, self.multiplier, self.u[:-1]
        ratio = z / s
        p, q = ratio[:n], ratio[n : 2 * n]
        weights = p * q / (both := p + q)
        if self.bounded:
            weights = weights + ratio[2 * n : 3 * n] + ratio[3 * n : 4 * n]
        matrix = self.rows.T @ (weights[:, None] * self.rows)
        matrix[np.diag_indices(len(w))] += self.curvature()
        residual = self.gradient
        if self.has_spreads:
            slopes, D = 2.0 * self.spreads * w, ratio[-len(self.spreads) :]
            pull, total, missing = D @ slopes, D.sum(), self.lam - self.theta.sum()
            matrix[:-1, :-1] += slopes.T @ (D[:, None] * slopes) - np.outer(pull, pull / total)
        # LAPACK is called directly: for a dozen features, SciPy's checks would take a quarter of the time.
        factor, info = dpotrf(matrix, overwrite_a=1)
        if info:
            raise LinAlgError("the Newton matrix is not positive definite")

        def direction(target: Floats, gradient: Floats) -> tuple[Floats, float, Floats, Floats]:
            """Solve s dz + z ds = target and the linearised stationarity; return the steps of u, r, slacks and z."""
            g = target / s
            constant = (q * g[:n] - p * g[n : 2 * n]) / both
            if self.bounded:
                constant = constant - g[2 * n : 3 * n] + g[3 * n : 4 * n]
            right = constant @ self.rows - gradient
            if self.has_spreads:
                drift = g[-len(self.spreads) :]
                lift = drift.sum() - missing
                right[:-1] -= drift @ slopes - lift / total * pull
            du, _ = dpotrs(factor, right)
            dm = self.rows @ du
            dxi = (g[:n] + g[n : 2 * n] - p * dm) / both
            parts, dr = [dm + dxi, dxi], 0.0
            if self.bounded:
                parts += [-dm, dm]
            if self.has_spreads:
                along = slopes @ du[:-1]
                dr = float((lift + D @ along) / total)
                parts.append(dr - along)
            ds = np.concatenate(parts)
            return du, dr, ds, g - ratio * ds

        complementarity = s * z
        mu = complementarity.sum() / len(s)
        if centred:
            du, dr, ds, dz = direction(0.5 * mu - complementarity, residual)
            self._move(du, dr, ds, dz, _step_length(s, z, ds, dz, _TO_BOUNDARY))
            return
        du, _, ds, dz = direction(-complementarity, residual)
        length = _step_length(s, z, ds, dz, 1.0)
        reached = (s + length * ds) @ (z + length * dz) / len(s)
        target = mu * min(1.0, max(reached / mu, 0.0)) ** 3 - complementarity
        gradient = residual
        if self.has_spreads:  # the second-order terms of w'Q_p w, in the slacks and in the gradient
            bend, P = self.spreads @ du[:-1] ** 2, len(self.spreads)
            ds[-P:] -= bend
            target[-P:] += self.theta * bend
            gradient = residual.copy()
            gradient[:-1] += 2.0 * (dz[-P:] @ self.spreads) * du[:-1]
        target -= ds * dz
        du, dr, ds, dz = direction(target, gradient)
        self._move(du, dr, ds, dz, _step_length(s, z, ds, dz, _TO_BOUNDARY))

    def _move(self, du: Floats, dr: float, ds: Floats, dz: Floats, length: float) -> None:
        if self.has_spreads:  # a step is shortened until the curved constraints hold too
            P = len(self.spreads)
            while True:
                room = self.r + length * dr - self.spreads @ (self.u[:-1] + length * du[:-1]) ** 2
                if (room >= 0.1 * (1.0 - _TO_BOUNDARY) * self.slack[-P:]).all() or length < _SHORTEST:
                    break
                length *= 0.9
            if length < _SHORTEST:
                raise LinAlgError("no step keeps the spreads below their bound")
        self.u, self.r = self.u + length * du, self.r + length * dr
        self.slack, self.multiplier = self.slack + length * ds, self.multiplier + length * dz
        if self.has_spreads:
            self.slack[-P:] = room
        self.gradient = self.lagrangian_gradient()

    def solution(self) -> tuple[Floats, float, Multipliers]:
        n, z = self.n, self.multiplier
        upper, lower = (z[2 * n : 3 * n], z[3 * n : 4 * n]) if self.bounded else (np.zeros(n), np.zeros(n))
        return self.u[:-1], float(self.u[-1]), Multipliers(np.minimum(z[:n], self.C), upper, lower, self.theta)


def _step_length(s: Floats, z: Floats, ds: Floats, dz: Floats, share: float) -> float:
    """Return the step length, at most 1, that keeps slacks and multipliers positive."""
    rate = -min(float((ds / s).min()), float((dz / z).min()))
    return min(1.0, share / rate) if rate > 0 else 1.0
