"""Maximisation of first- and second-order models of a concave nondecreasing function over a norm ball.

The variables t are kernel weights, and the feasible set is t >= 0, ||t||_p <= radius. For p = 1 it is the simplex, and
maximisers have exact zeros; p = infinity makes the weights equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

Array = NDArray[np.floating[Any]]

_INNER_STEPS = 100


def equal_weight_radius(n_kernels: int, p: float) -> float:
    """Return the radius M^(1/p - 1): equal weights 1/M lie on its boundary for every p >= 1."""
    return float(n_kernels ** (1.0 / p - 1.0))


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


def tangent_gap(gradient: Array, theta: Array, radius: float, p: float) -> float:
    """Return the largest gain of the tangent at theta, an upper bound for the gain of a concave function."""
    return max(float(gradient @ (tangent_maximiser(gradient, radius, p) - theta)), 0.0)
