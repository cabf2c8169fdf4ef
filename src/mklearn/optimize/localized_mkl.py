"""Localized multiple kernel learning: gates of kernels and a support vector machine, by descent in the gates.

J(V) is the dual objective of the machine on the gated kernel of V (`mklearn.optimize.gating`). Both solvers minimise

    J(V) + ridge/2 ||V||^2,

which is not convex: the result depends on V0. Without a ridge there may be no minimiser: V can diverge as gates go to 0
and 1.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize

from mklearn.checks import check_nonnegative
from mklearn.errors import DataError
from mklearn.optimize.gating import Gate, GateScale, gate_factor, gate_gradient, gated_kernel, gates
from mklearn.optimize.svm import (
    SVMSolution,
    check_svm_parameters,
    checked_kernels,
    checked_signs,
    sign_weights,
    solve_svm,
)

Array = NDArray[np.floating[Any]]
Solver = Literal["line_search", "lbfgs"]
Status = Literal["converged", "max_iter", "stalled"]

# The published value of the smallest step.
_SMALLEST_STEP = 1e-3


class GatedPoint(NamedTuple):
    """The objective at one V: ``value`` is J + ridge/2 ||V||^2, ``eta`` (n, P) the gates, ``solution`` the machine."""

    V: Array
    value: float
    eta: Array
    solution: SVMSolution


class GatedSVM:
    """The objective J(V) + ridge/2 ||V||^2 for given kernels, labels and gating features.

    Parameters
    ----------
    kernels : array of shape (P, n, n)
        Symmetric positive semidefinite; float32 halves the memory.
    signs : array of shape (n,)
        Entries -1 and 1.
    features : array of shape (n, d)
        Gating features, with the constant 1 among them.
    C : float
        Bound of the dual variables for the gated kernel as it is.
    gate : {"softmax", "sigmoid"}
    gate_scale : {"published", "average"}
        See `mklearn.optimize.gating.gate_factor`.
    ridge : float
    svm_tol : float
        Tolerance of each SVM. Relative errors at 1e-3: 1e-5 of J, but up to 0.1 of the gradient.
    sample_weight : array of shape (n,), optional
        w >= 0, positive in both classes; bounds the dual variables by C w. The gradient is the same function of them.

    Attributes
    ----------
    n_svm : int
        Number of SVMs solved so far.

    Raises
    ------
    DataError
        Kernels, signs, features or sample weights malformed.
    NotApplicable
        One class only.
    ConfigError
        Unknown gate or scale; C, svm_tol or ridge out of range.
    """

    def __init__(
        self, kernels: ArrayLike, signs: ArrayLike, features: ArrayLike, C: float, *, gate: Gate = "softmax",
        gate_scale: GateScale = "published", ridge: float = 0.0, svm_tol: float = 1e-3,
        sample_weight: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        self.kernels = checked_kernels(kernels)
        self.signs = checked_signs(signs, self.kernels.shape[1])
        self.features = checked_gating(features, len(self.signs))
        self.sample_weight = sign_weights(sample_weight, self.signs)
        check_svm_parameters(C, svm_tol)
        check_nonnegative(ridge, "ridge")
        self.factor = gate_factor(gate, gate_scale, len(self.kernels))
        self.gate, self.C, self.ridge = gate, C, ridge
        self.svm_tol, self.n_svm = svm_tol, 0

    def evaluate(self, V: Array) -> GatedPoint:
        """Solve the SVM on the gated kernel of V, shape (P, d)."""
        eta = gates(self.features, V, self.gate, self.factor)
        solution = solve_svm(
            gated_kernel(self.kernels, eta), self.signs, self.C, self.svm_tol, sample_weight=self.sample_weight
        )
        self.n_svm += 1
        value = solution.value + 0.5 * self.ridge * float(np.vdot(V, V))
        return GatedPoint(V, value, eta, solution)

    def gradient(self, at: GatedPoint) -> Array:
        """Compute the gradient at an evaluated point, shape (P, d)."""
        dual, support = at.solution.dual, at.solution.support
        by_gate = gate_gradient(self.kernels, at.eta, dual, support, self.features, self.gate, self.factor)
        return by_gate + self.ridge * at.V


class LocalizedMKL(NamedTuple):
    """Result of `localized_mkl`.

    Attributes
    ----------
    point : GatedPoint
        The best V, its objective and the machine on its gated kernel.
    history : array of shape (steps + 1,)
        The objective at V0 and after every accepted step; not increasing.
    status : {"converged", "max_iter", "stalled"}
        "stalled": L-BFGS found no descent beyond the precision of the SVM.
    """

    point: GatedPoint
    history: Array
    status: Status


def localized_mkl(
    problem: GatedSVM, V0: ArrayLike, *, solver: Solver = "line_search", tol: float = 1e-3, max_iter: int = 200
) -> LocalizedMKL:
    """Minimise J(V) + ridge/2 ||V||^2 from V0.

    Parameters
    ----------
    problem : GatedSVM
    V0 : array of shape (P, d)
    solver : {"line_search", "lbfgs"}
        "line_search": the published one. Along the gradient of norm 1, the step starts at 1; it doubles while the
        objective falls, or halves until it falls, down to 1e-3. "lbfgs": L-BFGS of SciPy, which needs an `svm_tol` of
        1e-5 or less, and reaches other minima.
    tol : float
        Stop after a relative decrease below this in one line search (the published value is 1e-3), or in one iteration
        of L-BFGS.
    max_iter : int
        Largest number of line searches, or of iterations of L-BFGS; 0 evaluates V0.

    References
    ----------
    Gonen, Alpaydin, "Localized multiple kernel learning", ICML 2008; sigmoid gates and their gradients are of their
    "Localized Multiple Kernel Machines for Image Recognition". That text gives no step rule; this is the rule of the
    authors' code.

    Notes
    -----
    Deviations from that code: gates are not clipped, the dual variables are LIBSVM's without rounding,
    and the intercept is LIBSVM's. With more gating features than samples, the features are rotated into the space that
    the training samples span, which changes neither solver's steps; the part of V0 outside it is kept, and without
    influence on J. With a ridge its minimiser is 0, so it is set to 0.
    """
    start = np.asarray(V0, dtype=np.float64)
    search = _line_searches if solver == "line_search" else _lbfgs
    if start.shape[1] <= len(problem.signs):
        return search(problem, problem.evaluate(start), tol, max_iter)
    # features = R'Q', so that features V' = R'(VQ)': V outside the columns of Q does not matter.
    Q, R = np.linalg.qr(problem.features.T)
    outside = np.zeros_like(start) if problem.ridge else start - (start @ Q) @ Q.T
    original, problem.features = problem.features, np.ascontiguousarray(R.T)
    try:
        found = search(problem, problem.evaluate(start @ Q), tol, max_iter)
    finally:
        problem.features = original
    return found._replace(point=found.point._replace(V=found.point.V @ Q.T + outside))


def checked_gating(features: ArrayLike, n: int) -> Array:
    """Return gating features of n samples as a finite array (n, d), d >= 1; raise `DataError` otherwise."""
    try:
        array = np.asarray(features, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"The gating features are not numbers: {error}.") from error
    if array.ndim != 2 or array.shape[1] == 0:
        raise DataError(f"The gating features have shape {array.shape}: expected (n_samples, n_gating_features).")
    if len(array) != n:
        raise DataError(
            f"There are gating features of {len(array)} samples for {n} samples: expected one row for each."
        )
    if not np.isfinite(array).all():
        raise DataError("The gating features are not finite: they contain NaN or infinity.")
    return array


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
    """Return the best point that doubling, or else halving, the step along the normalised gradient finds."""
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
    found = minimize(evaluate, at.V.ravel(), jac=True, method="L-BFGS-B", callback=note, options=options)
    status: Status = "converged" if found.status == 0 else "max_iter" if found.status == 1 else "stalled"
    return LocalizedMKL(best, np.array(history), status)
