"""Kernel weights by leave-one-out prediction: closed-form refits of kernel ridge regression, and their derivative.

Shares q >= 0, sum 1, mix the kernels at unit centred trace t_m = tr(K_m)/n - 1'K_m 1/n^2:

    K(q) = sum_m q_m K_m / t_m,    C = H (H K H + lambda I)^-1 H,    H = I - J,  J = 11'/n,  tr(H K H)/n = 1.

Ridge regression of targets Y (n, c) on K, with an intercept that is not penalised, has residuals lambda C Y. Fitted
without sample i it misses y_i by

    e_i = (C Y)_i / C_ii                                                                                     (PRESS)

exactly. Without any kernel it would miss by t_i = (y_i - mean(y)) n/(n - 1). So f_i = t_i - e_i is what the kernels
have foretold of a sample that they have not seen, beyond the mean of the others. The criterion is the part of t that
the best multiple a >= 0 of f leaves unexplained,

    L(q) = min over a >= 0 of ||T - a F||^2 / ||T||^2 = 1 - max(0, <F, T>)^2 / (||F||^2 ||T||^2),    in [0, 1].

**Why not PRESS itself** (a = 1, lambda learned with the weights): it asks outputs to reach 0 and 1, which no decision
does. On handwritten digits it drives lambda towards 0 and the weights towards the sharpest kernel, below the equal
weights; with the multiple free, lambda can stay large, and the order of weights by L follows that by test accuracy
better (rank correlation 0.61 to 0.75 against 0.46 to 0.64 at lambda = 1, 8 or 20 samples of each class).

**Why an identity-like kernel gains nothing.** For K = bI + c11', C is proportional to H, e = t and f = 0: it foretells
nothing of a sample that is left out. Criteria on the training samples (MKL-DR's, the ratio trace) reward it. Beside
other kernels it is a ridge, and could have a share where more ridge is wanted: so lambda is learned too, from a lower
bound upwards, and a kernel whose share does as well as a ridge (K_m / t_m replaced by I) loses it.

**Derivative.** C depends on q by dC = -C dK C. With P = dL/dE = 2a(T - aF)/||T||^2, V = C diag(1/C_ii) P and
s_i = sum_c P_ic e_ic / C_ii,

    dL/dK = C diag(s) C - V (C Y)',    dL/dq_m = <dL/dK, K_m> / t_m,    dL/dlambda = tr(dL/dK)

(a needs no derivative: it is at its minimum). An evaluation is one Cholesky factorisation, an inverse and one product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import get_lapack_funcs

from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.graphs import ClassStructure
from mklearn.kernels.normalise import centred_trace

Array = NDArray[np.floating[Any]]
Status = Literal["converged", "max_iter", "uniform"]

# A share this far below the largest is 0: what the optimiser leaves of a kernel on its way to the boundary.
_NO_SHARE = 1e-3
# Ridges that equal shares are tried with, over the least: with more only similarities to the others count.
_RIDGES = 3.0 ** np.arange(10)
_LARGE_RIDGE = 100.0
# A kernel is worth its share if a ridge in its place raises L by this, relatively.
_WORTH = 1e-3
# L is known to about this, relatively.
_ROUNDING_OF_L = 1e-9
# Outputs this far below the targets are rounding: the kernels foretell nothing.
_ROUNDING = 1e-12


def class_targets(classes: ClassStructure) -> Array:
    """Indicators of the classes over root counts, shape (n, c): every class weighs the same, whatever its size.

    Their centred squared norm is c - 1, and ridge regression of them spans the kernel discriminant's subspace. With
    classes of one size they are plain indicators, but for a constant factor that L does not depend on.
    """
    return np.asarray(classes.indicator() / np.sqrt(classes.counts))


@dataclass(frozen=True, eq=False)
class Evaluation:
    """L at some shares, and what its gradient is made from.

    Attributes
    ----------
    shares : array of shape (M,)
        q, sum 1.
    ridge : float
        lambda.
    value : float
        L(q).
    multiple : float
        a.
    errors, outputs : arrays of shape (n, c)
        E and F.
    C : array of shape (n, n)
    residuals : array of shape (n, c)
        C Y: the residuals of the fit on all samples over lambda.
    """

    shares: Array
    ridge: float
    value: float
    multiple: float
    errors: Array
    outputs: Array
    C: Array
    residuals: Array


@dataclass(eq=False)
class LeaveOneOutRidge:
    """L for given kernels and targets.

    Parameters
    ----------
    kernels : M arrays of shape (n, n)
        Symmetric; float32 is summed in double precision. Centred or not: adding a constant changes nothing.
    targets : array of shape (n, c)
    regularisation : float
        The least lambda > 0, in units of the combined kernel's centred trace (the variance of the samples in feature
        space).

    Attributes
    ----------
    traces : array of shape (M,)
        t_m; 0 for kernels that are constant over the samples, which have no share.

    Raises
    ------
    DataError
        Shapes that do not fit, or not finite.
    NotApplicable
        All kernels, or the targets, are constant.
    ConfigError
        lambda is not positive.
    """

    kernels: Sequence[NDArray[Any]]
    targets: Array
    regularisation: float = 1.0
    traces: Array = field(init=False)
    _deviations: Array = field(init=False, repr=False)
    _norm: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.kernels = list(self.kernels)
        self.targets = np.asarray(self.targets, dtype=np.float64)
        if self.targets.ndim != 2 or len(self.targets) < 2 or not np.isfinite(self.targets).all():
            raise DataError(
                f"the targets have shape {self.targets.shape}: a finite matrix with a row for each of two or more "
                "samples is needed"
            )
        n = len(self.targets)
        if not self.kernels or any(np.shape(K) != (n, n) for K in self.kernels):
            raise DataError(f"the targets are of {n} samples: kernels of shape ({n}, {n}) are needed, one or more")
        if not (np.isfinite(self.regularisation) and self.regularisation > 0):
            raise ConfigError(f"regularisation={self.regularisation}: must be positive and finite")
        traces = np.array([centred_trace(K) for K in self.kernels])
        largest = np.array([float(np.abs(np.diagonal(K)).max()) for K in self.kernels])
        self.traces = np.where(traces > 10 * n * np.finfo(np.float64).eps * largest, traces, 0.0)
        if not self.traces.any():
            raise NotApplicable("the kernels are constant over the samples: nothing can be told apart")
        self._deviations = (self.targets - self.targets.mean(axis=0)) * (n / (n - 1.0))
        self._norm = float(np.vdot(self._deviations, self._deviations))
        if not self._norm > 0:
            raise NotApplicable("the targets are constant: one class only")

    @property
    def equal_shares(self) -> Array:
        """The same share for every kernel that is not constant, shape (M,)."""
        varies = self.traces > 0
        return np.asarray(varies / varies.sum())

    def ridge_instead(self, ridge: float, share: float) -> float:
        """lambda for the other kernels where the identity, at unit centred trace, stands in for those of a share."""
        n = len(self.targets)
        return (ridge + share * n / (n - 1.0)) / (1.0 - share)

    def weights(self, shares: ArrayLike) -> Array:
        """Kernel weights, sum 1, that give the kernels these shares of the combined centred trace, shape (M,)."""
        weights = np.divide(shares, self.traces, out=np.zeros(len(self.traces)), where=self.traces > 0)
        return np.asarray(weights / weights.sum())

    def evaluate(self, shares: ArrayLike, ridge: float | None = None) -> Evaluation:
        """L(q) in O(n^3 + n^2 M); shares are scaled to sum 1. The ridge lambda is the least one by default.

        Raises
        ------
        DataError
            The combined kernel is so far from positive semidefinite that HKH + lambda I is too.
        """
        q = np.array(shares, dtype=np.float64)
        q /= q.sum()
        ridge = self.regularisation if ridge is None else ridge
        C = self._resolvent(q, ridge)
        diagonal = np.diagonal(C)[:, None]
        residuals = C @ self._deviations * ((len(C) - 1.0) / len(C))
        errors = residuals / diagonal
        outputs = self._deviations - errors
        size = float(np.vdot(outputs, outputs))
        along = float(np.vdot(outputs, self._deviations))
        if not size > _ROUNDING**2 * self._norm:
            return Evaluation(q, ridge, 1.0, 0.0, errors, outputs, C, residuals)
        multiple = max(along / size, 0.0)
        left = self._deviations - multiple * outputs
        value = float(np.vdot(left, left)) / self._norm
        return Evaluation(q, ridge, value, multiple, errors, outputs, C, residuals)

    def value(self, shares: ArrayLike, ridge: float | None = None) -> float:
        """L(q)."""
        return self.evaluate(shares, ridge).value

    def gradient(self, at: Evaluation) -> tuple[Array, float]:
        """dL/dq, shape (M,), and dL/dlambda, in O(n^3 + n^2 M).

        The derivative of L with q as it is, not scaled to sum 1.
        """
        if not at.multiple > 0:
            return np.zeros(len(self.traces)), 0.0
        diagonal = np.diagonal(at.C)
        P = (2.0 * at.multiple / self._norm) * (self._deviations - at.multiple * at.outputs)
        V = at.C @ (P / diagonal[:, None])
        s = np.einsum("ic,ic->i", P, at.errors) / diagonal
        by_kernel = (at.C * s) @ at.C - V @ at.residuals.T
        inner = np.array([float(np.vdot(by_kernel, K)) for K in self.kernels])
        by_share = np.divide(inner, self.traces, out=np.zeros(len(inner)), where=self.traces > 0)
        return np.asarray(by_share), float(np.trace(by_kernel))

    def _resolvent(self, q: Array, ridge: float) -> Array:
        """C for shares q, exactly symmetric."""
        n = len(self.targets)
        K = np.zeros((n, n))
        for share, trace, kernel in zip(q, self.traces, self.kernels, strict=True):
            if share > 0 and trace > 0:
                K += (share / trace) * kernel
        means = K.mean(axis=0)
        K -= means
        K -= means[:, None]
        # J is added, so that constants have an eigenvalue of the size of the others' mean; what it does is known.
        K += means.mean() + 1.0 / n
        K[np.diag_indices(n)] += ridge
        potrf, potri = get_lapack_funcs(("potrf", "potri"), (K,))
        factor, failed = potrf(K, lower=True, overwrite_a=True)
        if failed:
            raise DataError(
                "a combination of the kernels has an eigenvalue below -lambda: kernels must be positive semidefinite "
                "here; repair them (psd_repair) or raise the regularisation"
            )
        inverse, _ = potri(factor, lower=True, overwrite_c=True)
        C: Array = np.tril(inverse)
        C += np.tril(C, -1).T
        C -= 1.0 / (n * (ridge + 1.0))
        return C


@dataclass(frozen=True, eq=False)
class LeaveOneOutWeights:
    """Kernel weights found by `leave_one_out_weights`.

    Attributes
    ----------
    weights : array of shape (M,), sum 1
        Of the kernels as they are.
    shares : array of shape (M,), sum 1
        Of the kernels at unit centred trace: q after shrinkage.
    ridge : float
        lambda, in units of the combined kernel's centred trace.
    value : float
        L at these shares and this ridge; never above `uniform_value`.
    optimal_shares : array of shape (M,), sum 1
        Before shrinkage.
    optimal_value : float
        L there.
    uniform_value : float
        L at equal shares, with the best of some ridges or this one.
    gradient : array of shape (M,)
        dL/dq at the optimum, along the shares that add up to 1.
    history : array
        L at equal shares with the best of some ridges, and after every step; never rises.
    status : {"converged", "max_iter", "uniform"}
        "uniform": nothing is lower than equal shares, which are returned (the kernels foretell nothing, or the shrunk
        weights would be worse).
    """

    weights: Array
    shares: Array
    ridge: float
    value: float
    optimal_shares: Array
    optimal_value: float
    uniform_value: float
    gradient: Array
    history: Array
    status: Status


def leave_one_out_weights(
    objective: LeaveOneOutRidge, *, shrinkage: float = 0.5, max_iter: int = 100, tol: float = 1e-5
) -> LeaveOneOutWeights:
    """Minimise L over shares q >= 0 with sum 1, from equal shares; then draw what is left towards equal shares.

    lambda is learned with the shares, not below the objective's regularisation. Kernels that a ridge does as well as
    (to a relative 1e-3 of L) lose their share after that.

    Parameters
    ----------
    objective : LeaveOneOutRidge
    shrinkage : float
        From 0 to 1. Shares become proportional to q_m^(1 - shrinkage): log ratios among the kernels that have a share
        shrink by this factor, those without one (less than 1e-3 of the largest) stay without. 0: the optimum, 1: the
        average of the kernels that it uses.
    max_iter : int
        L-BFGS-B iterations at most.
    tol : float
        On the relative fall of L in an iteration.

    Notes
    -----
    L is not convex in general: this is the local minimum that lies below equal shares.
    """
    if not 0 <= shrinkage <= 1:
        raise ConfigError(f"shrinkage={shrinkage}: must be from 0 (the optimum) to 1")
    start = _equal_shares(objective)
    history = [start.value]
    found, status = _minimise(objective, start, history, max_iter, tol)
    gradient = objective.gradient(found)[0]
    gradient = np.where(objective.traces > 0, gradient - float(gradient @ found.shares), 0.0)
    best = _worth_their_share(objective, found)
    shrunk = best
    if shrinkage > 0:
        kept = best.shares >= _NO_SHARE * best.shares.max()
        shrunk = objective.evaluate(np.where(kept, best.shares, 0.0) ** (1.0 - shrinkage) * kept, best.ridge)
    equal = min(start, objective.evaluate(start.shares, best.ridge), key=lambda at: at.value)
    if shrunk.value > equal.value:
        # Equal shares may only have more ridge, in the kernels that were dropped.
        dropped = float(equal.shares[shrunk.shares == 0].sum())
        more = objective.evaluate(shrunk.shares, objective.ridge_instead(equal.ridge, dropped))
        shrunk = min(shrunk, more, key=lambda at: at.value)
    if shrunk.value > equal.value * (1.0 + _ROUNDING_OF_L) or not start.multiple > 0:
        shrunk, status = equal, "uniform"
    weights = objective.weights(shrunk.shares)
    return LeaveOneOutWeights(
        weights,
        shrunk.shares,
        shrunk.ridge,
        min(shrunk.value, equal.value),
        best.shares,
        best.value,
        equal.value,
        gradient,
        np.array(history),
        status,
    )


def _equal_shares(objective: LeaveOneOutRidge) -> Evaluation:
    """L at equal shares, with the best of some ridges: the ridge has local minima."""
    shares, least = objective.equal_shares, objective.regularisation
    ridges = [float(least * factor) for factor in _RIDGES if factor == 1 or least * factor <= _LARGE_RIDGE]
    return min((objective.evaluate(shares, ridge) for ridge in ridges), key=lambda at: at.value)


def _minimise(
    objective: LeaveOneOutRidge, start: Evaluation, history: list[float], max_iter: int, tol: float
) -> tuple[Evaluation, Status]:
    """The best point that L-BFGS-B meets; L after each of its iterations goes into the history."""
    from scipy.optimize import minimize

    free = objective.traces > 0
    least, n_free = objective.regularisation, int(free.sum())
    if not start.multiple > 0:
        return start, "uniform"
    if max_iter == 0 or n_free == 1:
        return start, "converged" if n_free == 1 else "max_iter"
    best = start

    def evaluate(x: Array) -> tuple[float, Array]:
        # x = (shares, log of more ridge); shares count over their sum: exact zeros, no constraint but x >= 0.
        nonlocal best
        total = x[:-1].sum()
        if not total > 0:
            return 1.0 / start.value, np.zeros(len(x))
        shares = np.zeros(len(free))
        shares[free] = x[:-1] / total
        at = objective.evaluate(shares, least * float(np.exp(x[-1])))
        if at.value < best.value:
            best = at
        by_share, by_ridge = objective.gradient(at)
        along = (by_share - float(by_share @ at.shares))[free] / total
        return at.value / start.value, np.append(along, by_ridge * at.ridge) / start.value

    def note(intermediate_result: Any) -> None:
        history.append(float(intermediate_result.fun) * start.value)

    found = minimize(
        evaluate,
        np.append(np.ones(n_free), np.log(start.ridge / least)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * n_free + [(0.0, float(np.log(_RIDGES[-1])))],
        callback=note,
        options={"maxiter": max_iter, "ftol": tol, "gtol": 1e-9},
    )
    return best, "max_iter" if found.nit >= max_iter else "converged"


def _worth_their_share(objective: LeaveOneOutRidge, found: Evaluation) -> Evaluation:
    """The same without kernels that a ridge of their trace does as well as, the smallest share first."""
    current = found
    for m in np.argsort(found.shares):
        share = float(current.shares[m])
        if not 0 < share < 1:
            continue
        rest = np.delete(current.shares, m)
        trial = objective.evaluate(np.insert(rest, m, 0.0), objective.ridge_instead(current.ridge, share))
        if trial.value <= (1.0 + _WORTH) * current.value:
            current = trial
    return current
