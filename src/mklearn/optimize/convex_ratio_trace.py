"""Kernel weights that maximise a ratio trace: a concave problem, solved to its global optimum with a certificate.

With K = sum_m theta_m K_m (K_m positive semidefinite), a numerator L1 = GG', a denominator Q (both positive
semidefinite operators on the samples) and lambda > 0,

    F(theta) = max over V of tr((V'(Phi Q Phi' + lambda I)V)^-1 V'Phi L1 Phi'V)
             = tr(L1 (K^-1 + Q/lambda)^-1) / lambda = tr(G'K B) / lambda,    B = (I + QK/lambda)^-1 G,

Phi the samples in the feature space of K. The middle form is a parallel sum, hence concave and nondecreasing in theta:

    F(theta) = min over Y of sum_m theta_m tr(Y'K_m Y)/lambda + tr((G - Y)'Q^+(G - Y)),    attained at Y = B,   (*)

so that the derivatives are dF/dtheta_m = tr(B'K_m B)/lambda and, with W = (I + QK/lambda)^-1 Q,
d2F/dtheta_m dtheta_l = -2 tr(B'K_m W K_l B)/lambda^2. Everything comes from one Cholesky factorisation of
S = I + EKE/lambda (E = Q^1/2, which is Q itself for a projector) and as many right-hand sides as G has columns; the
Hessian takes M times as many.

**Feasible set.** theta >= 0 and ||theta||_p <= M^(1/p - 1): equal weights 1/M lie on its boundary for every p >= 1.
p = 1 is the simplex, p = infinity makes the weights equal.

**Certificate.** By (*) F lies below its tangents: F(theta') <= F(theta) + g'(theta' - theta). The largest value of a
tangent over the feasible set, M^(1/p - 1) ||g||_q - g'theta above F, is a bound of the optimum: the duality gap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh, solve_triangular

from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.graphs import ClassOperator, ClassStructure, LaplacianOperator

Array = NDArray[np.floating[Any]]
Status = Literal["optimal", "max_iter", "stalled"]

# Of the gain that the tangent promises, a step has to bring this share.
_ARMIJO = 1e-4
_HALVINGS = 30
_INNER_STEPS = 100
# F is known to about this, relatively: smaller falls are rounding, smaller rises no progress.
_ROUNDING = 1e-12


def between_factor(classes: ClassStructure) -> Array:
    """G of shape (n, c) with GG' = P - J, the between-class operator: class indicators over root counts, centred."""
    indicator = classes.indicator()
    return (indicator - indicator.mean(axis=0)) / np.sqrt(classes.counts)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """F at one theta, and what its derivatives and directions are made from.

    Attributes
    ----------
    theta : array of shape (M,)
    value : float
        F(theta).
    B : array of shape (n, r)
        (I + QK/lambda)^-1 G.
    cross : array of shape (r, r)
        G'K B / lambda, symmetric; its eigenvalues are the ratios omega of the directions, its trace is F.
    factor : array of shape (n, n)
        Lower Cholesky factor of S.
    """

    theta: Array
    value: float
    B: Array
    cross: Array
    factor: Array


@dataclass(eq=False)
class RatioTraceObjective:
    """F for given kernels, numerator, denominator and lambda.

    Parameters
    ----------
    kernels : M arrays of shape (n, n)
        Symmetric, positive semidefinite; float32 is summed in double precision.
    numerator : array of shape (n, r)
        G, with L1 = GG'.
    denominator : LaplacianOperator
        Q. A projector (within- or total-scatter operator of classes) is used as it is; of others the dense square root
        is taken once.
    ridge_amount : float
        lambda > 0.

    Raises
    ------
    DataError
        Shapes that do not fit; a denominator that is not positive semidefinite.
    ConfigError
        lambda is not positive.
    """

    kernels: Sequence[NDArray[Any]]
    numerator: Array
    denominator: LaplacianOperator
    ridge_amount: float
    _root: Callable[[Array], Array] = field(init=False, repr=False)
    _inside: Array = field(init=False, repr=False)
    _outside: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.kernels = list(self.kernels)
        self.numerator = np.asarray(self.numerator, dtype=np.float64)
        n = self.denominator.n
        if not self.kernels or any(np.shape(K) != (n, n) for K in self.kernels):
            raise DataError(f"the denominator is over {n} samples: kernels of shape ({n}, {n}) are needed, one or more")
        if self.numerator.ndim != 2 or self.numerator.shape[0] != n:
            raise DataError(f"the numerator's factor has shape {self.numerator.shape}: it must have {n} rows")
        if not (np.isfinite(self.ridge_amount) and self.ridge_amount > 0):
            raise ConfigError(f"ridge_amount={self.ridge_amount}: must be positive and finite")
        # G = E E^+ G + outside: the part in the range of Q is solved for without a difference of near-equal matrices.
        self._root, inverse_root = _square_root(self.denominator)
        self._inside = inverse_root(self.numerator)
        self._outside = self.numerator - self._root(self._inside)

    def combined(self, theta: ArrayLike) -> Array:
        """sum_m theta_m K_m in double precision, shape (n, n)."""
        n = self.denominator.n
        K = np.zeros((n, n))
        for weight, kernel in zip(np.asarray(theta, dtype=np.float64), self.kernels, strict=True):
            if weight != 0:
                K += weight * kernel
        return K

    def evaluate(self, theta: ArrayLike) -> Evaluation:
        """F(theta), in O(n^3/3 + n^2 r).

        Raises
        ------
        DataError
            The combined kernel is so far from positive semidefinite that I + EKE/lambda is too.
        """
        point = np.array(theta, dtype=np.float64)
        K = self.combined(point)
        S = self._root(self._root(K).T) / self.ridge_amount
        S[np.diag_indices_from(S)] += 1.0
        try:
            factor = cho_factor(S, lower=True, overwrite_a=True, check_finite=False)[0]
        except LinAlgError:
            raise DataError(
                "a combination of the kernels has an eigenvalue below -lambda: kernels must be positive semidefinite "
                "here; repair them (psd_repair) or raise the ridge"
            ) from None
        right = self._inside - self._root(K @ self._outside) / self.ridge_amount
        B = self._outside + self._root(cho_solve((factor, True), right, check_finite=False))
        cross = self.numerator.T @ (K @ B) / self.ridge_amount
        return Evaluation(point, float(np.trace(cross)), B, (cross + cross.T) / 2.0, factor)

    def value(self, theta: ArrayLike) -> float:
        """F(theta)."""
        return self.evaluate(theta).value

    def derivatives(self, at: Evaluation) -> tuple[Array, Array]:
        """Gradient (M,) and Hessian (M, M), the latter negative semidefinite, in O(M n^2 r)."""
        scale = self.ridge_amount
        products = [np.asarray(K @ at.B, dtype=np.float64) for K in self.kernels]
        gradient = np.array([np.vdot(at.B, product) for product in products]) / scale
        half = np.stack(
            [
                solve_triangular(at.factor, self._root(product), lower=True, check_finite=False).ravel()
                for product in products
            ]
        )
        return gradient, half @ half.T * (-2.0 / scale**2)

    def directions(self, at: Evaluation, n_components: int) -> tuple[Array, Array]:
        """The directions V = Phi A that attain F: K L1 K a = omega (K Q K + lambda K) a.

        Parameters
        ----------
        at : Evaluation
        n_components : int
            At most this many; fewer where fewer ratios are above rounding.

        Returns
        -------
        omega : array of shape (p,)
            Descending. All of them together add up to F.
        A : array of shape (n, p)
            With A'(K Q K + lambda K)A = I.
        """
        omega, U = eigh(at.cross, check_finite=False)
        omega, U = omega[::-1], U[:, ::-1]
        p = min(n_components, int(np.sum(omega > 1e-10 * max(omega[0], 0.0)))) if omega[0] > 0 else 0
        omega = omega[:p]
        return omega, (at.B @ U[:, :p]) / (self.ridge_amount * np.sqrt(omega))


@dataclass(frozen=True, eq=False)
class ConvexRatioTrace:
    """A maximiser of F and the proof that it is one.

    Attributes
    ----------
    theta : array of shape (M,)
        ||theta||_p = M^(1/p - 1).
    weights : array of shape (M,)
        theta / sum(theta).
    value : float
        F(theta).
    bound : float
        No feasible theta has a larger F: the least of the tangents' maxima that were met.
    gap : float
        (bound - value) / value, not negative.
    gradient : array of shape (M,)
        At theta.
    history : array
        F at every iterate, the start first; nondecreasing (but for rounding, about 1e-12 relatively, at the end).
    n_iter : int
        Steps taken.
    n_evaluations : int
        Cholesky factorisations.
    status : {"optimal", "max_iter", "stalled"}
        "optimal": gap <= tol. "stalled": no step raises F beyond rounding; see the gap.
    evaluation : Evaluation
        At theta.
    """

    theta: Array
    weights: Array
    value: float
    bound: float
    gap: float
    gradient: Array
    history: Array
    n_iter: int
    n_evaluations: int
    status: Status
    evaluation: Evaluation


def convex_ratio_trace(
    objective: RatioTraceObjective, *, p: float = 1.0, max_iter: int = 50, tol: float = 1e-6
) -> ConvexRatioTrace:
    """Maximise F over theta >= 0, ||theta||_p <= M^(1/p - 1).

    Each step maximises the second-order model of F over the feasible set (M variables) and searches the line to it;
    where that gives no ascent, the step goes towards the tangent's maximiser (Frank-Wolfe).

    Parameters
    ----------
    objective : RatioTraceObjective
    p : float
        From 1 (sparse) to infinity (equal weights).
    max_iter : int
    tol : float
        On the relative duality gap.

    Raises
    ------
    ConfigError
        p below 1.
    NotApplicable
        F is zero for equal weights: the kernels do not tell the classes' means apart.

    References
    ----------
    Vemulapalli, Boda, Chellappa, "MKL-RT: multiple kernel learning for ratio-trace problems via convex optimization",
    arXiv 1410.4470, 2014: the problem; the formulas here are derived independently. Ye, Ji, Chen, "Multi-class
    discriminant kernel learning via convex programming", JMLR 2008: Q the total scatter, p = 1. Yan, Kittler,
    Mikolajczyk, Tahir, "Non-sparse multiple kernel Fisher discriminant analysis", JMLR 2012: p > 1.
    """
    if not p >= 1:
        raise ConfigError(f"p={p}: the norm of the kernel weights needs p >= 1")
    n_kernels = len(objective.kernels)
    radius = _radius(n_kernels, p)
    current = objective.evaluate(np.full(n_kernels, 1.0 / n_kernels))
    if not current.value > 0:
        raise NotApplicable(
            "the ratio trace is zero for equal kernel weights: the kernels do not tell the classes' means apart"
        )
    history = [current.value]
    evaluations = 1
    bound = np.inf
    status: Status = "max_iter"
    while True:
        gradient, hessian = objective.derivatives(current)
        corner = _tangent_maximiser(gradient, radius, p)
        tangent_gap = _tangent_gap(gradient, current.theta, radius, p)
        bound = min(bound, current.value + tangent_gap)
        if bound - current.value <= tol * current.value:
            status = "optimal"
            break
        if len(history) > max_iter:
            break
        target = _model_maximiser(current.theta, gradient, hessian, tangent_gap, radius, p)
        found = None
        for goal in (target, corner):
            found, tried = _line_search(objective, current, gradient, goal, radius, p)
            evaluations += tried
            if found is not None:
                break
        if found is None:
            status = "stalled"
            break
        current = found
        history.append(current.value)
    theta = current.theta
    return ConvexRatioTrace(
        theta,
        theta / theta.sum(),
        current.value,
        max(bound, current.value),
        max(bound / current.value - 1.0, 0.0),
        gradient,
        np.array(history),
        len(history) - 1,
        evaluations,
        status,
        current,
    )


# ---------------------------------------------------------------------------------------------------------- helpers


def _radius(n_kernels: int, p: float) -> float:
    return float(n_kernels ** ((0.0 if np.isinf(p) else 1.0 / p) - 1.0))


def _tangent_maximiser(gradient: Array, radius: float, p: float) -> Array:
    """argmax of g't over t >= 0, ||t||_p <= radius: t_m proportional to g_m^(q - 1), 1/p + 1/q = 1."""
    positive = np.maximum(gradient, 0.0)
    largest = positive.max()
    if not largest > 0:
        return np.full(len(gradient), 1.0 / len(gradient))
    if p == 1:
        return radius * np.eye(len(gradient))[int(np.argmax(positive))]
    if np.isinf(p):
        return np.full(len(gradient), radius)  # also where g_m = 0: equal weights then stay equal
    shape = (positive / largest) ** (1.0 / (p - 1.0))
    return _on_sphere(shape, radius, p)


def _on_sphere(theta: Array, radius: float, p: float) -> Array:
    """theta scaled to ||theta||_p = radius; F does not fall on the way out."""
    return theta * (radius / float(np.linalg.norm(theta, p)))


def _model_maximiser(theta: Array, gradient: Array, hessian: Array, scale: float, radius: float, p: float) -> Array:
    """Feasible maximiser of g'd + d'Hd/2, d = t - theta: a primal-dual interior-point method in M variables.

    Works on x = t/radius with x >= 0 (multipliers z) and sum x^p + s = 1, s >= 0 (multiplier nu), and in units of the
    duality gap, so that it is as exact near the end as at the start.
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
        x = np.where(x < z, 0.0, x)  # x z is at rounding: where the multiplier is the larger one, the weight is 0
    if not x.any():
        return theta
    return _on_sphere(x * radius, radius, p)


def _line_search(
    objective: RatioTraceObjective, current: Evaluation, gradient: Array, goal: Array, radius: float, p: float
) -> tuple[Evaluation | None, int]:
    """The first point on the way back from goal that raises F enough, and the number of evaluations.

    Where F is flat to rounding the duality gap, which is of first order, still tells better from worse.
    """
    step = goal - current.theta
    promised = float(gradient @ step)
    noise = _ROUNDING * current.value
    if not promised > -noise:
        return None, 0
    for halving in range(_HALVINGS):
        share = 0.5**halving
        trial = objective.evaluate(_on_sphere(current.theta + share * step, radius, p))
        gain = trial.value - current.value
        if gain > noise and gain >= _ARMIJO * share * promised:
            return trial, halving + 1
        if abs(gain) <= noise or share * promised <= noise:
            before = _tangent_gap(gradient, current.theta, radius, p)
            after = _tangent_gap(objective.derivatives(trial)[0], trial.theta, radius, p)
            return (trial if after < 0.5 * before else None), halving + 1
    return None, _HALVINGS


def _tangent_gap(gradient: Array, theta: Array, radius: float, p: float) -> float:
    return max(float(gradient @ (_tangent_maximiser(gradient, radius, p) - theta)), 0.0)


def _square_root(operator: LaplacianOperator) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
    """Products with E = Q^1/2 and with its pseudo-inverse."""
    if isinstance(operator, ClassOperator) and (operator.identity, operator.means, operator.total) in (
        (1.0, -1.0, 0.0),
        (1.0, 0.0, -1.0),
    ):
        return operator.apply, operator.apply
    values, vectors = eigh(operator.toarray())
    floor = 10.0 * len(values) * np.finfo(np.float64).eps * max(float(np.abs(values).max()), 0.0)
    if values[0] < -floor:
        raise DataError(f"the denominator has the eigenvalue {values[0]:.3g}: it must be positive semidefinite")
    kept = values > floor
    basis, roots = vectors[:, kept], np.sqrt(values[kept])
    root, inverse = (basis * roots) @ basis.T, (basis / roots) @ basis.T
    return root.__matmul__, inverse.__matmul__
