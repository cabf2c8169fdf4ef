"""F-SVM, a support vector machine with a learned feature transformation: exact solution and published alternation.

The joint problem, equation (12) of Wu, Zuo, Zhu, Lin, "F-SVM", arXiv 1504.05035 (2015), is

    minimise over w, b, M > 0    w'M^-1 w + rho tr(M S) + C sum_i max(0, 1 - y_i (w'x_i + b)).

Its infimum is the minimum of 2 sqrt(rho) ||S^1/2 w|| + C sum hinge (P). A support vector machine on the whitened
samples z = S^-1/2 (x - mean) minimises (P) for C = 2 sqrt(rho) C_svm / ||S^1/2 w|| (docs/explanation/fsvm_theorem.md).

Only C / sqrt(rho) matters; the functions here use rho = 1. Let C0 = 2 sqrt(rho) / min_alpha ||sum_i alpha_i y_i z_i||.
For C < C0 the optimum is w = 0; for C = C0 the optima form a segment that starts at 0. Therefore the estimators take
C_svm instead of C.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import NuSVC

from mklearn.optimize.hinge_program import hinge_loss, hinge_machine

Floats = NDArray[np.floating[Any]]
StepRule = Literal["fixed", "decaying", "geometric", "armijo"]

#: Ratio of consecutive step lengths under the rule "geometric".
DECAY = 0.9

#: Relative accuracy of C0.
THRESHOLD_ACCURACY = 1e-4

# Smallest eigenvalue of M, relative to the mean eigenvalue of the first M.
_FLOOR = 1e-8
_SUFFICIENT = 1e-4
_HALVINGS = 40
# Largest norm of w that counts as 0, for whitened samples of unit mean squared norm.
_NEGLIGIBLE = 1e-7


@dataclass(frozen=True, eq=False)
class Alternation:
    """Result of `alternate`."""

    w: Floats  # (r,), normal in the coordinates of the samples
    b: float
    objectives: Floats  # (n_iter + 1,), F of (12) after each machine; the first is on the semi-whitened samples
    gap: float  # the largest relative duality gap of the support vector machines

    @property
    def n_rises(self) -> int:
        """Number of iterations in which F rose."""
        return int((np.diff(self.objectives) > 1e-9 * self.objectives[:-1]).sum())


def joint_optimum(Z: Floats, y: Floats, v: Floats, b: float, C: float) -> tuple[float, float]:
    """Interpret a support vector machine on whitened samples as the optimum of F-SVM's joint problem.

    The machine has the penalty ``C`` (C_svm) and outputs Zv + b, where the rows of Z (n, r) are S^-1/2 (x - mean), so
    that Z'Z = I. Returns the penalty of (12) for which the machine is optimal, and the optimal value F*. Both are
    infinite if v = 0.
    """
    norm = float(np.linalg.norm(v))
    if norm <= _NEGLIGIBLE * np.sqrt(len(Z) / Z.shape[1]):
        return np.inf, np.inf
    equivalent = 2 * C / norm
    return equivalent, 2 * norm + equivalent * hinge_loss(Z, y, v, b)


def zero_threshold(Z: Floats, y: Floats) -> float:
    """Compute C0, the largest C of (12) for which w = 0 is optimal; infinite if w = 0 is optimal for every C.

    At w = 0 the multipliers of the smaller class are 1; the multipliers of the larger class lie in [0, 1] and have the
    same sum. Minimising ``||sum alpha_i y_i z_i||`` over them is the dual of a nu-SVM with the largest valid nu, on the
    rows z = S^-1/2 (x - mean) of Z (n, r). The relative accuracy is `THRESHOLD_ACCURACY`.
    """
    fewer = min(int((y > 0).sum()), int((y < 0).sum()))
    if 2 * fewer == len(y):
        force = y @ Z
    else:
        # nu is slightly below its largest valid value, to allow for rounding; libsvm scales the multipliers.
        dual = NuSVC(nu=2 * fewer / len(y) * (1 - 1e-12), kernel="linear", tol=1e-5).fit(Z, y)
        signed = dual.dual_coef_.ravel()
        force = signed @ Z[dual.support_] * (2 * fewer / np.abs(signed).sum())
    norm = float(np.linalg.norm(force))
    return 2 / norm if norm > 1e-10 * len(y) * float(np.abs(Z).max()) else np.inf


def alternate(
    X: Floats, y: Floats, eigenvalues: Floats, C: float, *, step: StepRule = "decaying",
    step_size: float = 0.5, n_iter: int = 15,
) -> Alternation:  # fmt: skip
    """Minimise F-SVM's joint problem (12) by the published alternation (Algorithm 1).

    Start from M = S^-1/2 (semi-whitening, equation (17)). Then alternate a support vector machine for (w, b), equations
    (18) and (19), with one projected gradient step on M, equations (20) to (22). Return the last (w, b).

    X (n, r) holds centred samples in principal axes, so that S is diagonal; ``eigenvalues`` (r,) is its positive
    diagonal. ``C`` is the penalty of (12). ``step`` is the rule for the length of step k = 1, ..., ``n_iter`` on M:
    "fixed" is ``step_size ||M|| / ||gradient||``, "decaying" is this divided by k, "geometric" is
    ``step_size 0.9^(k-1)``, and "armijo" halves the "fixed" length until Armijo's condition holds. Only "armijo"
    guarantees that F never rises.

    Notes
    -----
    The paper projects on the semidefinite cone, where M^-1 may not exist. Here the eigenvalues of M stay above 1e-8 of
    the mean eigenvalue of the first M. The paper gives no step rule; its authors' code uses "geometric" from 0.1.
    """
    first = eigenvalues**-0.5
    M, floor = np.diag(first), _FLOOR * float(first.mean())
    objectives, largest_gap = list[float](), 0.0
    for k in range(n_iter + 1):
        values, vectors = np.linalg.eigh(M)
        root = vectors * np.sqrt(np.maximum(values, floor))
        machine = hinge_machine(X @ root, y, C / 2)
        largest_gap = max(largest_gap, machine.gap)
        w = root @ machine.w
        spread = float(eigenvalues @ np.diagonal(M))
        objectives.append(float(machine.w @ machine.w) + spread + C * hinge_loss(X, y, w, machine.b))
        if k == n_iter:
            break
        force = vectors @ (machine.w / np.sqrt(np.maximum(values, floor)))  # M^-1 w
        gradient = np.diag(eigenvalues) - np.outer(force, force)
        t = step_size * DECAY**k
        if step != "geometric":
            t = step_size * float(np.linalg.norm(M) / np.linalg.norm(gradient)) / (k + 1 if step == "decaying" else 1)
        if step == "armijo":
            M = _armijo(M, w, gradient, eigenvalues, t, floor)
        else:
            M = _projected(M - t * gradient, floor)
    return Alternation(w, machine.b, np.array(objectives), largest_gap)


def _projected(M: Floats, floor: float) -> Floats:
    """Return the nearest symmetric matrix whose eigenvalues are at least ``floor``."""
    values, vectors = np.linalg.eigh(M)
    return (vectors * np.maximum(values, floor)) @ vectors.T


def _armijo(M: Floats, w: Floats, gradient: Floats, weights: Floats, t: float, floor: float) -> Floats:
    """Return M after the first projected step among t, t/2, ... that decreases w'M^-1 w + weights'diag(M) enough."""

    def value(at: Floats) -> float:
        return float(w @ np.linalg.solve(at, w) + weights @ np.diagonal(at))

    now = value(M)
    for _ in range(_HALVINGS):
        moved = _projected(M - t * gradient, floor)
        if value(moved) <= now + _SUFFICIENT * float((gradient * (moved - M)).sum()):
            return moved
        t /= 2
    return M
