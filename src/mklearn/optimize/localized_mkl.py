"""Localized multiple kernel learning: descent in the gates of the kernels, with an SVM solved at each step.

J(V) is the dual objective of the SVM on the gated kernel of V (`mklearn.optimize.gating`). Both solvers minimise

    J(V) + ridge/2 ||V||^2,

which is not convex, so the result depends on V0. Without a ridge there may be no minimiser: V can diverge as gates go
to 0 and 1.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from mklearn.optimize.gating import Gate, GateScale, gate_factor, gate_gradient, gated_kernel, gates
from mklearn.optimize.svm import SVMSolution, solve_svm

Array = NDArray[np.floating[Any]]
Solver = Literal["line_search", "lbfgs"]
Status = Literal["converged", "max_iter", "stalled"]

# Smallest step, as published.
_SMALLEST_STEP = 1e-3


class GatedPoint(NamedTuple):
    """Objective ``value`` J + ridge/2 ||V||^2 at one V, with the gates ``eta`` (n, P) and the SVM ``solution``."""

    V: Array
    value: float
    eta: Array
    solution: SVMSolution


class GatedSVM:
    """Objective J(V) + ridge/2 ||V||^2 for given kernels, labels and gating features.

    ``kernels`` (P, n, n) are symmetric positive semidefinite; float32 halves the memory. ``features`` (n, d) are gating
    features, including the constant 1. For ``gate`` and ``gate_scale`` see `mklearn.optimize.gating.gate_factor`, for
    ``signs``, ``C`` and ``svm_tol`` `mklearn.optimize.svm.solve_svm`: a tolerance of 1e-3 gives J with a relative error
    of 1e-5, but the gradient with one of up to 0.1.
    """

    def __init__(
        self, kernels: NDArray[Any], signs: Array, features: Array, C: float, *, gate: Gate = "softmax",
        gate_scale: GateScale = "published", ridge: float = 0.0, svm_tol: float = 1e-3,
    ) -> None:  # fmt: skip
        self.kernels, self.signs, self.features = np.ascontiguousarray(kernels), signs, features
        self.factor = gate_factor(gate, gate_scale, len(self.kernels))
        self.gate, self.C, self.ridge, self.svm_tol = gate, C, ridge, svm_tol

    def evaluate(self, V: Array) -> GatedPoint:
        """Solve the SVM on the gated kernel of V, shape (P, d)."""
        eta = gates(self.features, V, self.gate, self.factor)
        solution = solve_svm(gated_kernel(self.kernels, eta), self.signs, self.C, self.svm_tol)
        value = solution.value + 0.5 * self.ridge * float(np.vdot(V, V))
        return GatedPoint(V, value, eta, solution)

    def gradient(self, at: GatedPoint) -> Array:
        """Compute the gradient at an evaluated point, shape (P, d)."""
        dual, support = at.solution.dual, at.solution.support
        by_gate = gate_gradient(self.kernels, at.eta, dual, support, self.features, self.gate, self.factor)
        return by_gate + self.ridge * at.V


class LocalizedMKL(NamedTuple):
    """Result of `localized_mkl`; "stalled": L-BFGS found no descent beyond the precision of the SVM."""

    point: GatedPoint  # the best V, its objective and the SVM on its gated kernel
    history: Array  # (steps + 1,), the objective at V0 and after every accepted step, nonincreasing
    status: Status


def localized_mkl(
    problem: GatedSVM, V0: Array, *, solver: Solver = "line_search", tol: float = 1e-3, max_iter: int = 200
) -> LocalizedMKL:
    """Minimise J(V) + ridge/2 ||V||^2 from V0, shape (P, d).

    "line_search" is the published solver. Along the normalised gradient, the step starts at 1; it doubles while the
    objective falls, or halves until it falls, down to 1e-3. "lbfgs" is SciPy's L-BFGS, which needs an ``svm_tol`` of
    1e-5 or less and reaches other minima. Both stop after ``max_iter`` line searches or iterations, or when one of them
    decreases the objective by a relative amount below ``tol`` (1e-3 as published). With ``max_iter`` 0 only V0 is
    evaluated.

    References
    ----------
    Gonen, Alpaydin, "Localized multiple kernel learning", ICML 2008. Gonen, Alpaydin, "Localized Multiple Kernel
    Machines for Image Recognition": sigmoid gates and their gradients. The texts give no step rule; the rule here comes
    from the authors' code.

    Notes
    -----
    Deviations from that code: gates are not clipped, the dual variables are LIBSVM's without rounding, and the
    intercept is LIBSVM's. If there are more gating features than samples, the features are rotated into the span of the
    training samples, which does not change the steps of either solver. The part of V0 outside this span does not affect
    J: it is kept without a ridge, and set to its minimiser 0 with one.
    """
    search = _line_searches if solver == "line_search" else _lbfgs
    if V0.shape[1] <= len(problem.signs):
        return search(problem, problem.evaluate(V0), tol, max_iter)
    # features = R'Q', so that features V' = R'(VQ)': V outside the columns of Q does not matter.
    Q, R = np.linalg.qr(problem.features.T)
    outside = np.zeros_like(V0) if problem.ridge else V0 - (V0 @ Q) @ Q.T
    original, problem.features = problem.features, np.ascontiguousarray(R.T)
    try:
        result = search(problem, problem.evaluate(V0 @ Q), tol, max_iter)
    finally:
        problem.features = original
    return result._replace(point=result.point._replace(V=result.point.V @ Q.T + outside))


def _line_searches(problem: GatedSVM, at: GatedPoint, tol: float, max_iter: int) -> LocalizedMKL:
    history = [at.value]
    for _ in range(max_iter):
        before = at
        at = _line_search(problem, at)
        if at is not before:
            history.append(at.value)
        if before.value - at.value <= tol * abs(before.value):
            return LocalizedMKL(at, np.array(history), "converged")
    return LocalizedMKL(at, np.array(history), "max_iter")


def _line_search(problem: GatedSVM, at: GatedPoint) -> GatedPoint:
    """Return the best point found by doubling, or else halving, the step along the normalised gradient."""
    gradient = problem.gradient(at)
    norm = float(np.linalg.norm(gradient))
    if not norm > 0:
        return at
    direction, step = gradient / norm, 1.0
    best = at
    while (trial := problem.evaluate(at.V - step * direction)).value < best.value:
        best, step = trial, 2.0 * step
    if best is not at:
        return best
    while (step := step / 2.0) >= _SMALLEST_STEP:
        trial = problem.evaluate(at.V - step * direction)
        if trial.value < at.value:
            return trial
    return at


def _lbfgs(problem: GatedSVM, at: GatedPoint, tol: float, max_iter: int) -> LocalizedMKL:
    shape, best, history = at.V.shape, at, [at.value]
    if max_iter == 0:
        return LocalizedMKL(at, np.array(history), "max_iter")
    scale = max(abs(at.value), np.finfo(np.float64).tiny)

    def evaluate(x: Array) -> tuple[float, Array]:
        nonlocal best
        point = at if np.array_equal(x, at.V.ravel()) else problem.evaluate(x.reshape(shape).copy())
        if point.value < best.value:
            best = point
        return point.value / scale, problem.gradient(point).ravel() / scale

    def note(intermediate_result: Any) -> None:
        history.append(float(intermediate_result.fun) * scale)

    options = {"maxiter": max_iter, "maxfun": 20 * max_iter, "ftol": tol, "gtol": 0.0}
    result = minimize(evaluate, at.V.ravel(), jac=True, method="L-BFGS-B", callback=note, options=options)
    status: Status = "converged" if result.status == 0 else "max_iter" if result.status == 1 else "stalled"
    return LocalizedMKL(best, np.array(history), status)
