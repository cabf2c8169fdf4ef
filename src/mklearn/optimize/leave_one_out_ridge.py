"""Kernel weights by leave-one-out prediction: closed-form refits of kernel ridge regression, and their derivative.

Shares q >= 0 with sum 1 combine the kernels, each divided by its centred trace t_m = tr(K_m)/n - 1'K_m 1/n^2:

    K(q) = sum_m q_m K_m / t_m,    C = H (H K H + lambda I)^-1 H,    H = I - J,  J = 11'/n,  tr(H K H)/n = 1.

Ridge regression of targets Y (n, c) on K, with an unpenalised intercept, has residuals lambda C Y. Fitted without
sample i, its error at sample i is exactly

    e_i = (C Y)_i / C_ii,                                                                                    (PRESS)

and without any kernel it would be t_i = (y_i - mean(y)) n/(n - 1). So f_i = t_i - e_i is the prediction of the kernels
for a left-out sample beyond the mean of the others. The criterion is the fraction of t left unexplained by the best
multiple a >= 0 of f:

    L(q) = min over a >= 0 of ||T - a F||^2 / ||T||^2 = 1 - max(0, <F, T>)^2 / (||F||^2 ||T||^2),    in [0, 1].

**PRESS itself** (a = 1) is not used: it rewards outputs close to 0 and 1, which no decision needs. This drives lambda
towards 0 and the weights towards the sharpest kernel.

**Identity-like kernels** gain nothing: for K = bI + c11', C is proportional to H, so e = t and f = 0. Next to other
kernels such a kernel acts as a ridge and could get a share where a larger ridge helps. Therefore lambda is learned too,
above a lower bound, and a kernel loses its share if a ridge in its place (K_m / t_m replaced by I) does as well.

**Derivative.** By dC = -C dK C, with P = dL/dE = 2a(T - aF)/||T||^2, V = C diag(1/C_ii) P, s_i = sum_c P_ic e_ic/C_ii,

    dL/dK = C diag(s) C - V (C Y)',    dL/dq_m = <dL/dK, K_m> / t_m,    dL/dlambda = tr(dL/dK).

The derivative with respect to a is 0 at the minimum. An evaluation costs one Cholesky factorisation, one inverse and
one matrix product.

**Groups and sample weights.** Samples G that are left out together have e_G = (C_GG)^-1 (C Y)_G. In the derivative,
diag(s) becomes block diagonal with blocks (C_GG)^-1 P_G e_G', and V = C U with U_G = (C_GG)^-1 P_G
(`mklearn.optimize.left_out`). With sample weights w, kernels are centred by w-weighted means, the rows of Y and the
rows and columns of the kernels are multiplied by w^(1/2), and H = I - uu' with u proportional to w^(1/2). L then has
weighted sums of squares.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import get_lapack_funcs

from mklearn.checks import cached_rows, check_positive, invalid, not_positive_semidefinite, weighted_sum
from mklearn.errors import DataError, NotApplicable
from mklearn.estimator_input import nonnegative_weights
from mklearn.graphs import ClassStructure
from mklearn.kernels.matrices import centred_trace
from mklearn.optimize.left_out import LeftOut
from mklearn.optimize.ridge_path import scaled_and_centred

Array = NDArray[np.floating[Any]]
Status = Literal["converged", "max_iter", "uniform"]

# Shares below this, relative to the largest, count as 0: the optimiser stops just short of the boundary.
_NO_SHARE = 1e-3
# Ridges tried with equal shares, as multiples of the smallest one. Beyond the largest one the outputs are, up to scale,
# sums of similarities to the other samples.
_RIDGES = 3.0 ** np.arange(10)
_LARGE_RIDGE = 100.0
# Relative increase of L, with a ridge in place of a kernel, above which the kernel keeps its share.
_WORTH = 1e-3
# Relative precision of L.
_ROUNDING_OF_L = 1e-9
# Outputs below this, relative to the targets, are rounding: the kernels predict nothing.
_ROUNDING = 1e-12


def class_targets(classes: ClassStructure, sample_weight: Array | None = None) -> Array:
    """Return class indicators divided by the square roots of the class counts, shape (n, c).

    Every class has the same weight, whatever its size. The centred squared norm is c - 1, and ridge regression on these
    targets spans the subspace of the kernel discriminant. For classes of equal size they are plain indicators up to a
    constant factor, which does not change L. With sample weights, counts are sums of weights.
    """
    return np.asarray(classes.indicator() / np.sqrt(np.bincount(classes.codes, sample_weight)))


def kernel_traces(kernels: Iterable[NDArray[Any]], sample_weight: Array | None = None, first: int = 0) -> Array:
    """Compute the centred traces t_m, shape (M,); exactly 0 for kernels that are constant over the samples.

    Kernels are numbered from ``first`` on in messages.

    Raises `DataError` if a trace is NaN or negative beyond rounding, as for a matrix of distances.
    """
    found = []
    for number, K in enumerate(kernels, first):
        trace = centred_trace(K, sample_weight)
        precision = float(np.finfo(np.result_type(K, np.float32)).eps)
        if not trace >= 0 and not trace >= -10 * len(K) * precision * float(np.abs(K).max()):
            raise DataError(
                f"kernel {number} has the centred trace {trace:.3g}: it is no kernel (distances?); give a kernel of "
                "the distances, or repair it by `mklearn.kernels.psd_repair`"
            )
        least = 10 * len(K) * np.finfo(np.float64).eps * float(np.abs(np.diagonal(K)).max())
        found.append(trace if trace > least else 0.0)
    return np.array(found)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Value of L at given shares, with the intermediate results that its gradient needs."""

    shares: Array  # (M,), q, sum 1
    ridge: float  # lambda
    value: float  # L(q)
    multiple: float  # a
    errors: Array  # (n, c), E
    outputs: Array  # (n, c), F
    C: Array  # (n, n)
    residuals: Array  # (n, c), C Y: residuals of the fit on all samples, divided by lambda


@dataclass(eq=False)
class LeaveOneOutRidge:
    """Leave-one-out criterion L of this module for given kernels and targets.

    Parameters
    ----------
    kernels : M arrays of shape (n, n)
        Symmetric, centred or not. float32 is summed in double precision.
    targets : array of shape (n, c)
    regularisation : float
        The smallest lambda > 0, in units of the combined kernel's centred trace (the variance of the samples in the
        feature space).
    sample_weight : array of shape (n,), optional
        Positive. A sample of weight 2 counts as two equal ones, which are left out together.
    groups : array of shape (n,), optional
        Samples of a group are left out together.

    Attributes
    ----------
    traces : array of shape (M,)
        Centred traces t_m; 0 for kernels that are constant over the samples, which get no share.

    Raises
    ------
    DataError
        Shapes do not match, the targets are not finite, a kernel has NaN or a negative trace, or a weight is negative.
    NotApplicable
        All kernels, or the targets, are constant.
    ConfigError
        ``regularisation`` is not positive.
    """

    kernels: Sequence[NDArray[Any]]
    targets: Array
    regularisation: float = 1.0
    sample_weight: Array | None = None
    groups: ArrayLike | None = None
    traces: Array = field(init=False)

    def __post_init__(self) -> None:
        self.targets = np.asarray(self.targets, dtype=np.float64)
        if self.targets.ndim != 2 or len(self.targets) < 2 or not np.isfinite(self.targets).all():
            raise DataError(
                f"Invalid targets of shape {self.targets.shape}: expected a finite matrix with one row for each of two "
                "or more samples."
            )
        n, self.kernels = len(self.targets), list(self.kernels)
        if not self.kernels or any(np.shape(K) != (n, n) for K in self.kernels):
            shapes = ", ".join(str(np.shape(K)) for K in self.kernels) or "no kernel"
            raise DataError(f"Found {shapes} for {n} samples: expected one or more kernels of shape ({n}, {n}).")
        check_positive(self.regularisation, "regularisation")
        self.sample_weight = nonnegative_weights(self.sample_weight, n)
        self.traces = kernel_traces(self.kernels, self.sample_weight)
        if not self.traces.any():
            raise NotApplicable("All kernels are constant over the samples: nothing can be learned from them.")
        self._left_out = LeftOut(n, self.groups)
        weights = np.ones(n) if self.sample_weight is None else self.sample_weight
        self._shares, self._root = weights / weights.sum(), np.sqrt(weights)
        u = np.sqrt(self._shares)
        self._centred = self._root[:, None] * (self.targets - self._shares @ self.targets)
        blocks = self._left_out.blocks(np.eye(n) - np.outer(u, u))
        self._deviations = self._left_out.solve(blocks, self._centred)
        self._norm = float(np.vdot(self._deviations, self._deviations))
        if not self._norm > _ROUNDING**2 * float(np.vdot(self.targets, self.targets)):
            raise NotApplicable("The targets are constant: there is only one class.")

    @property
    def equal_shares(self) -> Array:
        """Equal shares of the kernels that are not constant, shape (M,)."""
        varies = self.traces > 0
        return np.asarray(varies / varies.sum())

    def ridge_instead(self, ridge: float, share: float) -> float:
        """Return lambda after replacing kernels with this total share by the identity of unit centred trace."""
        n = len(self.targets) if self.sample_weight is None else max(2.0, float(np.sum(self.sample_weight)))
        return (ridge + share * n / (n - 1.0)) / (1.0 - share)

    def weights(self, shares: ArrayLike) -> Array:
        """Return the kernel weights (M,), sum 1, that correspond to shares of the combined centred trace."""
        weights = self._over_traces(np.asarray(shares, dtype=np.float64))
        return np.asarray(weights / weights.sum())

    def evaluate(self, shares: ArrayLike, ridge: float | None = None) -> Evaluation:
        """Compute L in O(n^3 + n^2 M); shares are scaled to sum 1, and lambda is the smallest one by default.

        Raises `DataError` if HKH + lambda I is not positive definite.
        """
        q = np.array(shares, dtype=np.float64)
        q /= q.sum()
        ridge = self.regularisation if ridge is None else ridge
        C = self._resolvent(q, ridge)
        residuals = C @ self._centred
        errors = self._left_out.solve(self._left_out.blocks(C), residuals)
        outputs = self._deviations - errors
        size = float(np.vdot(outputs, outputs))
        along = float(np.vdot(outputs, self._deviations))
        if not size > _ROUNDING**2 * self._norm:
            return Evaluation(q, ridge, 1.0, 0.0, errors, outputs, C, residuals)
        multiple = max(along / size, 0.0)
        left = self._deviations - multiple * outputs
        value = float(np.vdot(left, left)) / self._norm
        return Evaluation(q, ridge, value, multiple, errors, outputs, C, residuals)

    def gradient(self, at: Evaluation) -> tuple[Array, float]:
        """Compute dL/dq, shape (M,), and dL/dlambda, in O(n^3 + n^2 M); q is not scaled to sum 1 here."""
        if not at.multiple > 0:
            return np.zeros(len(self.traces)), 0.0
        P = (2.0 * at.multiple / self._norm) * (self._deviations - at.multiple * at.outputs)
        by_residual = self._left_out.solve(self._left_out.blocks(at.C), P)
        s = self._left_out.outer(by_residual, at.errors)
        by_kernel = (at.C * s if s.ndim == 1 else at.C @ s) @ at.C - (at.C @ by_residual) @ at.residuals.T
        by_ridge = float(np.trace(by_kernel))
        if self.sample_weight is not None:
            by_kernel *= self._root
            by_kernel *= self._root[:, None]
        inner = np.array([float(np.vdot(by_kernel, K)) for K in self.kernels])
        return self._over_traces(inner), by_ridge

    def _over_traces(self, values: Array) -> Array:
        """Divide values (M,) by t_m; return 0 for constant kernels."""
        return np.divide(values, self.traces, out=np.zeros(len(self.traces)), where=self.traces > 0)

    def _resolvent(self, q: Array, ridge: float) -> Array:
        """Compute the exactly symmetric C for shares q."""
        n = len(self.targets)
        K = weighted_sum(self.kernels, self._over_traces(q), n)
        _, K = scaled_and_centred(K, self._shares, self._root)
        u = np.sqrt(self._shares)
        # Adding uu' gives u an eigenvalue of the mean size of the others; its known effect is removed below.
        for part in cached_rows(K):
            K[part] += u[part, None] * u
        K[np.diag_indices(n)] += ridge
        potrf, potri = get_lapack_funcs(("potrf", "potri"), (K,))
        factor, failed = potrf(np.asfortranarray(K), lower=True, overwrite_a=True)
        if failed:
            raise not_positive_semidefinite("regularisation")
        inverse, _ = potri(factor, lower=True, overwrite_c=True)
        C: Array = np.where(np.tri(n, dtype=bool), inverse, inverse.T)
        for part in cached_rows(C):
            C[part] -= u[part, None] * (u / (ridge + 1.0))
        return C


@dataclass(frozen=True, eq=False)
class LeaveOneOutWeights:
    """Result of `leave_one_out_weights`.

    Attributes
    ----------
    weights : array of shape (M,), sum 1
        Weights of the kernels as given.
    shares : array of shape (M,), sum 1
        Shares q after shrinkage: weights of the kernels scaled to unit centred trace.
    ridge : float
        Ridge lambda in units of the combined kernel's centred trace.
    value : float
        L at ``shares`` and ``ridge``, no larger than at equal shares but for rounding.
    history : array of shape (steps + 1,)
        L at equal shares and after every step of the optimiser, nonincreasing.
    status : {"converged", "max_iter", "uniform"}
        "uniform": equal shares are returned, because the kernels predict nothing or the shrunken shares are worse.
    """

    weights: Array
    shares: Array
    ridge: float
    value: float
    history: Array
    status: Status


def leave_one_out_weights(
    objective: LeaveOneOutRidge, *, shrinkage: float = 0.5, max_iter: int = 100, tol: float = 1e-8
) -> LeaveOneOutWeights:
    """Minimise the leave-one-out error of kernel ridge regression over kernel weights.

    Solves ``min L(q, lambda) over q >= 0, sum q = 1, lambda >= regularisation``, starting from equal shares. Kernels
    are then dropped if a ridge in their place raises L by less than 1e-3, relatively. Last, the shares are shrunk
    towards equal ones. L is not convex in general: the result is a local minimum, no worse than equal shares.

    Parameters
    ----------
    objective : LeaveOneOutRidge
    shrinkage : float
        From 0 to 1. Shares become proportional to q_m^(1 - shrinkage); shares below 1e-3 of the largest become 0.
        0 gives the optimum, 1 the average of the kernels with a share at the optimum.
    max_iter : int
        Largest number of L-BFGS-B iterations.
    tol : float
        Relative decrease of L in an iteration below which the optimiser stops.

    Raises
    ------
    ConfigError
        ``shrinkage`` is out of range.
    """
    if not 0 <= shrinkage <= 1:
        raise invalid(shrinkage, "shrinkage", "a number from 0 (the optimum) to 1")
    start = _equal_shares(objective)
    history = [start.value]
    found, status = _minimise(objective, start, history, max_iter, tol)
    best = _without_replaceable(objective, found)
    shrunk = best
    if shrinkage > 0:
        kept = best.shares >= _NO_SHARE * best.shares.max()
        shrunk = objective.evaluate(np.where(kept, best.shares, 0.0) ** (1.0 - shrinkage) * kept, best.ridge)
    equal = min(start, objective.evaluate(start.shares, best.ridge), key=lambda at: at.value)
    if shrunk.value > equal.value:
        # Equal shares may be better only because the dropped kernels act as a ridge.
        dropped = float(equal.shares[shrunk.shares == 0].sum())
        more = objective.evaluate(shrunk.shares, objective.ridge_instead(equal.ridge, dropped))
        shrunk = min(shrunk, more, key=lambda at: at.value)
    if shrunk.value > equal.value * (1.0 + _ROUNDING_OF_L) or not start.multiple > 0:
        shrunk, status = equal, "uniform"
    weights = objective.weights(shrunk.shares)
    return LeaveOneOutWeights(weights, shrunk.shares, shrunk.ridge, shrunk.value, np.array(history), status)


def equal_share_weights(objective: LeaveOneOutRidge) -> LeaveOneOutWeights:
    """Evaluate equal shares without optimisation, in the form of a result of `leave_one_out_weights`."""
    at = _equal_shares(objective)
    weights = objective.weights(at.shares)
    return LeaveOneOutWeights(weights, at.shares, at.ridge, at.value, np.array([at.value]), "uniform")


def _equal_shares(objective: LeaveOneOutRidge) -> Evaluation:
    """Evaluate equal shares at the best of several ridges, because L has local minima in the ridge."""
    shares, least = objective.equal_shares, objective.regularisation
    ridges = [float(least * factor) for factor in _RIDGES if factor == 1 or least * factor <= _LARGE_RIDGE]
    return min((objective.evaluate(shares, ridge) for ridge in ridges), key=lambda at: at.value)


def _minimise(
    objective: LeaveOneOutRidge, start: Evaluation, history: list[float], max_iter: int, tol: float
) -> tuple[Evaluation, Status]:
    """Return the best point that L-BFGS-B evaluates; append L after each iteration to ``history``."""
    from scipy.optimize import minimize

    free = objective.traces > 0
    least, n_free = objective.regularisation, int(free.sum())
    if not start.multiple > 0:
        return start, "uniform"
    if not start.value > 0:  # nothing is left to minimise
        return start, "converged"
    if max_iter == 0 or n_free == 1:
        return start, "converged" if n_free == 1 else "max_iter"
    best = start

    def evaluate(x: Array) -> tuple[float, Array]:
        # x = (unscaled shares, log(ridge / smallest ridge)): the only constraint is x >= 0, with exact zeros.
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


def _without_replaceable(objective: LeaveOneOutRidge, found: Evaluation) -> Evaluation:
    """Drop kernels that a ridge of the same trace replaces without loss, in order of increasing share."""
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
