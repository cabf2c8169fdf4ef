"""F-SVM: a support vector machine with a learned feature transformation, exactly and by alternation.

The joint problem, equation (12) of Wu, Zuo, Zhu, Lin, "F-SVM", arXiv 1504.05035 (2015), is

    minimise over w, b, M > 0    w'M^-1 w + rho tr(M S) + C sum_i max(0, 1 - y_i (w'x_i + b)).

Theorem. Its infimum is the minimum of 2 sqrt(rho) ||S^1/2 w|| + C sum hinge (P), and a minimiser of (P) is that of a
support vector machine on the whitened samples z = S^-1/2 (x - mean).

Proof. w'Sw <= ||S^1/2 M^1/2||^2 w'M^-1 w <= tr(M S) w'M^-1 w, so the first two terms are at least 2 sqrt(rho w'Sw).
M = ww' / sqrt(rho w'Sw) + eps I reaches this as eps -> 0: the optimal M has rank one, and for a rank of S above one no
M > 0 is optimal. With v = S^1/2 w, the conditions 0 in v + C_svm dH(v) of the support vector machine and 0 in 2
sqrt(rho) v / ||v|| + C dH(v) of (P) are the same for C = 2 sqrt(rho) C_svm / ||v||.

Only C / sqrt(rho) matters; the functions here have rho = 1. For C up to C0 = 2 sqrt(rho) / min_alpha ||sum_i alpha_i
y_i z_i|| the optimum is w = 0, at C0 it is a segment that begins there; therefore estimators take C_svm, not C.
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

#: Ratio of two steps of the rule "geometric".
DECAY = 0.9

#: Relative accuracy of C0.
THRESHOLD_ACCURACY = 1e-4

# M keeps eigenvalues of at least this share of the mean eigenvalue of the first M.
_FLOOR = 1e-8
_SUFFICIENT = 1e-4
_HALVINGS = 40
# Norms up to this, of a normal on whitened samples of unit mean squared norm, count as 0.
_NEGLIGIBLE = 1e-7


@dataclass(frozen=True, eq=False)
class Alternation:
    """Result of `alternate`."""

    w: Floats  # (r,), in the coordinates of the samples
    b: float
    objectives: Floats  # (n_iter + 1,), F of (12) after each machine; the first is on the semi-whitened samples
    gap: float  # the largest relative duality gap of the support vector machines

    @property
    def n_rises(self) -> int:
        """How often F rose."""
        return int((np.diff(self.objectives) > 1e-9 * self.objectives[:-1]).sum())


def joint_optimum(Z: Floats, y: Floats, v: Floats, b: float, C: float) -> tuple[float, float]:
    """Interpret a support vector machine on whitened samples as the optimum of F-SVM's joint problem.

    The machine has the penalty ``C`` (C_svm) and outputs Zv + b on Z = S^-1/2 (x - mean), (n, r), so that Z'Z = I.
    Returns the penalty of (12) for which it is the optimum, and F* there; both are infinite if v = 0.
    """
    norm = float(np.linalg.norm(v))
    if norm <= _NEGLIGIBLE * np.sqrt(len(Z) / Z.shape[1]):
        return np.inf, np.inf
    equivalent = 2 * C / norm
    return equivalent, 2 * norm + equivalent * hinge_loss(Z, y, v, b)


def zero_threshold(Z: Floats, y: Floats) -> float:
    """Compute C0, the largest C of (12) for which w = 0 is optimal; infinite if it is for every C.

    At w = 0 the multipliers of the smaller class are 1, those of the larger class are from 0 to 1 with the same sum. Of
    these the ones with the smallest ``||sum alpha_i y_i z_i||`` decide: the dual of a nu-SVM with the largest nu on
    Z = S^-1/2 (x - mean), (n, r). The relative accuracy is `THRESHOLD_ACCURACY`.
    """
    fewer = min(int((y > 0).sum()), int((y < 0).sum()))
    if 2 * fewer == len(y):
        force = y @ Z
    else:
        # Below the largest valid nu by rounding; libsvm scales the multipliers.
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

    Start from the semi-whitened M = S^-1/2 (equation (17)), and alternate a support vector machine for (w, b)
    (equations (18) and (19)) with one gradient step on M and a projection (equations (20) to (22)).

    X, (n, r), are centred samples in principal axes, so that S is diagonal, and ``eigenvalues``, (r,), its positive
    diagonal; ``C`` is the penalty of (12). Of the steps k = 1, 2, ..., ``n_iter`` on M the length t is, by the rule
    ``step``: ``step_size ||M|| / ||gradient||`` ("fixed"), this divided by k ("decaying"), ``step_size 0.9^(k-1)``
    ("geometric"), or the first of these halved until Armijo's condition holds ("armijo"). Returns the last (w, b).
    Only "armijo" never lets F rise.

    Notes
    -----
    The paper projects on the semidefinite cone, where M^-1 may not exist; here eigenvalues of M stay above 1e-8 of the
    mean eigenvalue of the first M. It does not say which steps are taken; its authors' code has "geometric" from 0.1.
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
    """Return the nearest matrix with eigenvalues of at least ``floor``."""
    values, vectors = np.linalg.eigh(M)
    return (vectors * np.maximum(values, floor)) @ vectors.T


def _armijo(M: Floats, w: Floats, gradient: Floats, weights: Floats, t: float, floor: float) -> Floats:
    """Return the first projected step, of t, t/2, ..., that lowers w'M^-1 w + weights'diag(M) sufficiently."""

    def value(at: Floats) -> float:
        return float(w @ np.linalg.solve(at, w) + weights @ np.diagonal(at))

    now = value(M)
    for _ in range(_HALVINGS):
        moved = _projected(M - t * gradient, floor)
        if value(moved) <= now + _SUFFICIENT * float((gradient * (moved - M)).sum()):
            return moved
        t /= 2
    return M
