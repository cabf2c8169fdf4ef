"""Maximisation of a concave nondecreasing function over a norm ball, by Newton's method with a certificate.

The variables t are kernel weights, and the feasible set is t >= 0, ||t||_p <= radius. For p = 1 it is the simplex, and
maximisers have exact zeros; p = infinity makes the weights equal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

Array = NDArray[np.floating[Any]]
Status = Literal["optimal", "max_iter", "stalled"]

_INNER_STEPS = 100
# Armijo's condition: smallest gain of a step, relative to the gain predicted by the tangent.
_ARMIJO = 1e-4
_HALVINGS = 20


@dataclass(frozen=True, eq=False)
class Point:
    """Value and gradient of an objective at kernel weights theta."""

    theta: Array  # (M,)
    value: float
    gradient: Array  # (M,)


P = TypeVar("P", bound=Point)


@dataclass(frozen=True, eq=False)
class Maximum(Generic[P]):
    """Result of `maximise`."""

    point: P
    bound: float  # upper bound over the feasible set: the smallest of the tangents' maxima
    history: Array  # (steps + 1,), values at equal weights and after every step, nondecreasing but for rounding
    status: Status  # "optimal": bound and value agree up to tol; "stalled": no step increases the value beyond rounding


def maximise(
    evaluate: Callable[[Array], P], hessian: Callable[[P], Array], n_kernels: int, p: float, *, precision: float,
    tol: float, max_iter: int,
) -> Maximum[P]:  # fmt: skip
    """Maximise over theta >= 0, ||theta||_p <= M^(1/p - 1), from equal weights, which lie on the boundary.

    Each step maximises the second-order model, followed by a line search towards the maximiser. If this gives no
    ascent, the line search goes towards the maximiser of the tangent (Frank-Wolfe). ``precision`` is that of the
    values, and ``tol`` the tolerance of the bound less the value, both relative to the value.
    """
    radius = float(n_kernels ** (1.0 / p - 1.0))  # equal weights 1/M lie on the boundary for every p >= 1
    ascent = _Ascent(evaluate, hessian, precision, radius, p)
    current = ascent.at(np.full(n_kernels, 1.0 / n_kernels))
    history = [current.value]
    status: Status = "optimal"
    while ascent.bound - current.value > tol * abs(current.value):
        if len(history) > max_iter:
            status = "max_iter"
            break
        following = ascent.step(current)
        if following is None:
            # The trials may have lowered the bound.
            status = "optimal" if ascent.bound - current.value <= tol * abs(current.value) else "stalled"
            break
        current = following
        history.append(current.value)
    return Maximum(current, max(ascent.bound, current.value), np.array(history), status)


@dataclass
class _Ascent(Generic[P]):
    """Steps of `maximise`; ``bound`` is the smallest upper bound of the objective at all points evaluated."""

    evaluate: Callable[[Array], P]
    hessian: Callable[[P], Array]
    precision: float
    radius: float
    p: float
    bound: float = np.inf

    def at(self, theta: Array) -> P:
        point = self.evaluate(theta)
        self.bound = min(self.bound, point.value + self._gap(point))
        return point

    def step(self, at: P) -> P | None:
        goal = model_maximiser(at.theta, at.gradient, self.hessian(at), self._gap(at), self.radius, self.p)
        corner = tangent_maximiser(at.gradient, self.radius, self.p)
        return self._line_search(at, goal) or self._line_search(at, corner)

    def _gap(self, at: P) -> float:
        """Return the largest gain of the tangent at theta, an upper bound for the gain of a concave function."""
        corner = tangent_maximiser(at.gradient, self.radius, self.p)
        return max(float(at.gradient @ (corner - at.theta)), 0.0)

    def _line_search(self, at: P, goal: Array) -> P | None:
        """Return the first point of a backtracking line search from ``goal`` that increases the value enough, or None.

        If the value is flat up to rounding, the duality gap decides: it depends on the gradient.
        """
        step = goal - at.theta
        promised = float(at.gradient @ step)
        noise = self.precision * abs(at.value)
        if not promised > -noise:
            return None
        for halving in range(_HALVINGS):
            share = 0.5**halving
            trial = self.at(on_sphere(at.theta + share * step, self.radius, self.p))
            gain = trial.value - at.value
            if gain > noise and gain >= _ARMIJO * share * promised:
                return trial
            if abs(gain) <= noise or share * promised <= noise:
                return trial if self._gap(trial) < 0.5 * self._gap(at) else None
        return None


def tangent_maximiser(gradient: Array, radius: float, p: float) -> Array:
    """Maximise g't over t >= 0, ||t||_p <= radius: t_m is proportional to g_m^(q - 1) with 1/p + 1/q = 1."""
    nonnegative = np.maximum(gradient, 0.0)
    largest = nonnegative.max()
    if not largest > 0:
        return np.full(len(gradient), 1.0 / len(gradient))
    if p == 1:
        return radius * np.eye(len(gradient))[int(np.argmax(nonnegative))]
    if np.isinf(p):
        return np.full(len(gradient), radius)  # also where g_m = 0, so that the weights stay equal
    return on_sphere((nonnegative / largest) ** (1.0 / (p - 1.0)), radius, p)


def on_sphere(theta: Array, radius: float, p: float) -> Array:
    """Scale theta to ||theta||_p = radius, which does not decrease a nondecreasing function."""
    size = float(np.linalg.norm(theta, p))
    return theta * (radius / size) if size > 0 else on_sphere(theta / theta.max(), radius, p)  # powers may underflow


def model_maximiser(theta: Array, gradient: Array, hessian: Array, scale: float, radius: float, p: float) -> Array:
    """Maximise g'd + d'Hd/2, d = t - theta, over the feasible set by a primal-dual interior-point method.

    The variables are x = t/radius with x >= 0 (multipliers z) and sum x^p + s = 1, s >= 0 (multiplier nu). The
    objective is divided by ``scale``, the duality gap, which keeps the accuracy constant as the gap shrinks.
    """
    if np.isinf(p):
        return np.full(len(theta), radius)
    origin, g, H = theta / radius, gradient * (radius / scale), hessian * (radius**2 / scale)
    x = 0.8 * origin + 0.1 * len(theta) ** (-1.0 / p)
    s = 1.0 - float(np.sum(x**p))
    z, nu = 1.0 / x, 1.0 / s
    for _ in range(_INNER_STEPS):
        outward = p * x ** (p - 1.0)
        dual = -(g + H @ (x - origin)) + nu * outward - z
        primal = float(np.sum(x**p)) - 1.0 + s
        complementarity = (float(x @ z) + s * nu) / (len(x) + 1)
        if complementarity < 1e-15 and np.abs(dual).max() < 1e-11 * (1.0 + np.abs(g).max()):
            break
        mu = 0.1 * complementarity
        curvature = -H + (nu / s) * np.outer(outward, outward)
        curvature[np.diag_indices_from(curvature)] += z / x + nu * p * (p - 1.0) * x ** (p - 2.0)
        right = -dual + (mu / x - z) - outward * (mu / s - nu + nu / s * primal)
        try:
            dx = np.linalg.solve(curvature, right)
        except LinAlgError:
            break
        if not np.isfinite(dx).all():
            break
        dz = mu / x - z - z / x * dx
        ds = -primal - float(outward @ dx)
        dnu = mu / s - nu - nu / s * ds
        values, changes = np.array([*x, *z, s, nu]), np.array([*dx, *dz, ds, dnu])
        falling = changes < 0
        length = min(1.0, 0.995 * float(np.min(-values[falling] / changes[falling], initial=np.inf)))
        x, z, s, nu = x + length * dx, z + length * dz, s + length * ds, nu + length * dnu
    if p == 1:
        x = np.where(x < z, 0.0, x)  # x z is below rounding: the weight is 0 if the multiplier is larger
    if not x.any():
        return theta
    return on_sphere(x * radius, radius, p)
