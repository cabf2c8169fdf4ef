"""F-SVM: a support vector machine with a learned feature transformation."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from mklearn.base.parameters import POSITIVE, Interval, at_least, one_of
from mklearn.classifiers.one_vs_one import Floats, LinearScaling, OneVsOneLinear, PairFit
from mklearn.optimize.fsvm import THRESHOLD_ACCURACY, StepRule, alternate, joint_optimum, zero_threshold
from mklearn.optimize.hinge_program import hinge_machine
from mklearn.optimize.whitening import power_whitening

FSVMSolver = Literal["exact", "alternating"]


class RegularSimplexWarning(UserWarning):
    """The whitened training samples are a regular simplex, so that the direction does not depend on C."""


@dataclass(frozen=True, eq=False)
class FSVMPairFit(PairFit):
    """F-SVM of a pair of classes.

    Attributes
    ----------
    Z, y : arrays of shape (n, r) and (n,)
        The whitened samples S^-1/2 (x - mean) and their labels; empty in a pickled classifier.
    is_simplex : bool
        Whether the whitened samples are a regular simplex: r = n - 1.
    C : float
        The penalty of the joint problem that the fit solves.
    optimum : float
        F*, the minimum of the joint problem.
    history : array of shape (n_iter + 1,)
        F after each step of the alternation.
    rises : int
        How often F rose.
    """

    Z: Floats
    y: Floats
    is_simplex: bool
    C: float
    optimum: float
    history: Floats
    rises: int


class FSVC(OneVsOneLinear):
    """F-SVM: a support vector machine and a feature transformation M, learned together.

    The joint problem is: minimise w'M^-1 w + rho tr(M S) + C' sum of the hinge loss over w, b and M > 0, where S is the
    spread of the samples about their mean. Its optimum is the support vector machine on whitened samples S^-1/2 x, and
    ``solver="exact"`` computes that. `mklearn.optimize.fsvm` has the proof.

    Parameters
    ----------
    C : float
        Penalty C_svm of the support vector machine (1/2 ||v||^2 + C_svm sum hinge) on transformed samples S^-power x of
        mean squared norm 1 about their mean: the same for every power and scale of the features. It also fixes the
        joint problem of the alternation, that whose optimum the whitened machine with this C is.
    power : float
        0 (a support vector machine) to 1/2 (F-SVM); 1/4 is semi-whitening, with which the alternation starts. Only for
        ``solver="exact"``.
    solver : {"exact", "alternating"}
        "alternating": the published algorithm, stopped after ``n_iter`` steps.
    feature_scaling : {"minmax", "standard", "none"}
        Scaling of each feature, fitted on the training samples: to 0..1, to mean 0 and variance 1, or none. To the
        exact F-SVM it matters only for which eigenvalues of S are below the cutoff.
    rho : float
        Weight of tr(M S). Only C'/sqrt(rho) matters: it changes the reported C' and, of the alternation, the step rule
        "geometric".
    step : {"fixed", "decaying", "geometric", "armijo"}
        Step lengths of the alternation, see `mklearn.optimize.fsvm.alternate`.
    step_size : float
        Factor of the step lengths of the alternation.
    n_iter : int
        Steps of the alternation.
    cutoff : float
        Eigenvalues of S up to this share of the largest count as 0.

    Attributes
    ----------
    equivalent_C_ : array of shape (n_pairs,)
        C' of the joint problem, for ``rho``.
    optimum_ : array of shape (n_pairs,)
        F*, the minimum of the joint problem at C'.
    objective_history_ : list of arrays of shape (n_iter + 1,)
        F after each step of the alternation, the first with semi-whitened samples; empty for "exact".
    distance_from_optimum_ : list of arrays of shape (n_iter + 1,)
        (F - F*) / F*.
    n_rises_ : array of shape (n_pairs,)
        How often F rose: never with "armijo".
    history_ : list of dict
        Of the alternation, for each step: ``objective``, the sum of F over the pairs, and ``optimum``, that of F*.
    C0_ : array of shape (n_pairs,)
        Largest C' for which w = 0 is optimal. Computed when it is first read.
    zero_is_optimal_ : array of shape (n_pairs,)
        Whether w = 0 is optimal for C', too.
    diagnostics_ : list of dict
        For each pair of classes ``C``, ``rho``, ``equivalent_C``, ``C0``, ``zero`` (whether w = 0 is optimal),
        ``simplex`` (whether the whitened samples are a regular one), ``start`` and ``end`` (distance from the optimum
        before and after the alternation, NaN without one) and ``rises``; empty for power other than 1/2. Computed when
        it is read.
    classes_, pairs_, coef_, intercept_, objectives_, gap_, status_, message_ and others
        As for `mklearn.classifiers.one_vs_one.OneVsOneLinear`. ``objectives_`` are those of the support vector machine
        for "exact", and F for "alternating".

    Raises
    ------
    DataError, NotApplicable, SolverFailed
        As for `mklearn.classifiers.one_vs_one.OneVsOneLinear`.

    Warns
    -----
    RegularSimplexWarning
        S has rank n - 1 (as many features as samples, or more): the direction is S^+ (m1 - m2) for every C.

    References
    ----------
    Wu, Zuo, Zhu, Lin, "F-SVM: Combination of feature transformation and SVM learning via convex relaxation", arXiv
    1504.05035, 2015.

    Notes
    -----
    Deviations from the paper: the parameter is C_svm, because of the paper's (C, rho) only C/sqrt(rho) matters, and a
    grid of it can lie below C0 altogether. Where S is singular, w is the solution of smallest norm. For
    more than two classes, which the paper does not explain, each pair of classes has its own S. Eigenvalues of M have
    a floor.

    The support vector machine is solved by an interior point, not by libsvm as in the paper: libsvm takes minutes to
    come below a relative duality gap of 1e-6 on some small sets (breast), and its time grows with C. Both have the same
    solution.

    For power other than 1/2 the attributes of the joint problem are NaN or empty.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> FSVC().fit(X, y).score(X, y) > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **OneVsOneLinear._parameter_constraints,
        "C": [POSITIVE],
        "power": [Interval(Real, 0, 0.5, closed="both")],
        "solver": [one_of(FSVMSolver)],
        "rho": [POSITIVE],
        "step": [one_of(StepRule)],
        "step_size": [POSITIVE],
        "n_iter": [at_least(0)],
        "cutoff": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        power: float = 0.5,
        solver: FSVMSolver = "exact",
        feature_scaling: LinearScaling = "minmax",
        rho: float = 1.0,
        step: StepRule = "decaying",
        step_size: float = 0.5,
        n_iter: int = 15,
        cutoff: float = 1e-10,
    ) -> None:
        self.C = C
        self.power = power
        self.solver = solver
        self.feature_scaling = feature_scaling
        self.rho = rho
        self.step = step
        self.step_size = step_size
        self.n_iter = n_iter
        self.cutoff = cutoff

    @property
    def C0_(self) -> Floats:
        """Largest C' for which w = 0 is optimal, shape (n_pairs,)."""
        if not hasattr(self, "_thresholds"):
            found = [zero_threshold(fit.Z, fit.y, self.rho) for fit in self._joint_fits]
            self._thresholds = np.array(found) if found else np.full(len(self.pairs_), np.nan)
        return self._thresholds

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling: C0 in place of the whitened samples, which only C0 needs."""
        state = dict(super().__getstate__())
        if "_joint_fits" in state:
            state["_thresholds"] = self.C0_
            state["_joint_fits"] = [replace(fit, Z=fit.Z[:0].copy(), y=fit.y[:0].copy()) for fit in self._joint_fits]
        return state

    @property
    def zero_is_optimal_(self) -> Any:
        """Whether w = 0 is optimal for C', too, shape (n_pairs,)."""
        return np.isposinf(self.optimum_) | (self.equivalent_C_ <= self.C0_ * (1 + THRESHOLD_ACCURACY))

    @property
    def diagnostics_(self) -> list[dict[str, Any]]:
        """What a report says of the joint problem, for each pair of classes."""
        found = []
        for fit, C0, zero in zip(self._joint_fits, self.C0_, self.zero_is_optimal_, strict=False):
            distance = fit.history / fit.optimum - 1 if len(fit.history) else np.full(1, np.nan)
            found.append({
                "C": self.C, "rho": self.rho, "equivalent_C": fit.C, "C0": float(C0), "zero": bool(zero),
                "simplex": fit.is_simplex, "start": float(distance[0]), "end": float(distance[-1]),
                "rises": fit.rises,
            })  # fmt: skip
        return found

    def _fit_pair(self, X: Floats, y: Floats) -> PairFit:
        whitening = power_whitening(X, 0.5 if self.solver == "alternating" else self.power, self.cutoff)
        Z = whitening.transform(X)
        machine = hinge_machine(Z, y, self.C)
        if whitening.power != 0.5:
            w = whitening.normal(machine.w)
            return PairFit(w, machine.b - float(w @ whitening.mean), machine.objective, machine.gap)
        if whitening.is_simplex:
            warnings.warn(
                f"the spread of {len(X)} samples has rank {whitening.rank}: whitened, they are a regular simplex, and "
                "the direction does not depend on C; use fewer features or components, or power < 1/2",
                RegularSimplexWarning,
                stacklevel=2,
            )
        # From samples of unit mean squared norm to Z'Z = I: v is scaled up, its penalty by the square.
        scale = whitening.scale
        joint = joint_optimum(Z / scale, y, scale * machine.w, machine.b, self.C * scale**2, self.rho)
        w, b, objective, gap = whitening.normal(machine.w), machine.b, machine.objective, machine.gap
        history: Floats = np.zeros(0)
        rises = 0
        if self.solver == "alternating" and np.isfinite(joint.C):
            found = alternate(
                whitening.coordinates(X), y, whitening.eigenvalues, joint.C,
                rho=self.rho, step=self.step, step_size=self.step_size, n_iter=self.n_iter,
            )  # fmt: skip
            w, b, gap = whitening.axes @ found.w, found.b, max(gap, found.gap)
            history, rises, objective = found.objectives, found.n_rises, float(found.objectives[-1])
        return FSVMPairFit(
            w,
            b - float(w @ whitening.mean),
            objective,
            gap,
            Z / scale,
            y,
            whitening.is_simplex,
            joint.C,
            joint.objective,
            history,
            rises,
        )

    def _collect(self, fits: Sequence[PairFit]) -> None:
        self.__dict__.pop("_thresholds", None)
        joint = [fit for fit in fits if isinstance(fit, FSVMPairFit)]
        missing = np.full(len(fits), np.nan)
        self._joint_fits = joint
        self.equivalent_C_ = np.array([fit.C for fit in joint]) if joint else missing
        self.optimum_ = np.array([fit.optimum for fit in joint]) if joint else missing
        self.objective_history_ = [fit.history for fit in joint]
        self.distance_from_optimum_ = [fit.history / fit.optimum - 1 for fit in joint]
        self.n_rises_ = np.array([fit.rises for fit in joint], dtype=np.intp)
        simplices = sum(fit.is_simplex for fit in joint)
        if simplices:
            remark = f"rank n - 1 in {simplices} of {len(fits)} pairs of classes, whose directions do not depend on C"
            self.message_ = "; ".join(filter(None, [self.message_, remark]))
        paths = [fit for fit in joint if len(fit.history)]
        lowest = sum(fit.optimum for fit in paths)
        self.history_ = [
            {"step": "machine", "objective": float(value), "optimum": float(lowest)}
            for value in sum((fit.history for fit in paths), start=np.zeros(self.n_iter + 1 if paths else 0))
        ]
