"""F-SVM: a support vector machine with a learned feature transformation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Annotated, Any, Literal

import numpy as np

from mklearn.base.parameters import Interval, NonnegativeInt, Positive, parameters
from mklearn.classifiers.one_vs_one import Floats, OneVsOneLinear, PairFit
from mklearn.optimize.fsvm import THRESHOLD_ACCURACY, StepRule, alternate, joint_optimum, zero_threshold
from mklearn.optimize.hinge_program import hinge_machine
from mklearn.optimize.whitening import power_whitening

FSVMSolver = Literal["exact", "alternating"]


@dataclass(frozen=True, eq=False)
class FSVMPairFit(PairFit):
    """F-SVM of a pair of classes."""

    Z: Floats  # (n, r), the whitened samples S^-1/2 (x - mean); empty in a pickled classifier, like y
    y: Floats  # (n,)
    is_simplex: bool  # whether the whitened samples are a regular simplex: r = n - 1
    C: float  # penalty of the joint problem that the fit solves
    optimum: float  # F*, its minimum
    history: Floats  # (n_iter + 1,), F after each step of the alternation
    rises: int  # how often F rose


@parameters
class FSVC(OneVsOneLinear):
    """F-SVM: a support vector machine and a feature transformation M, learned together.

    The joint problem is: minimise w'M^-1 w + rho tr(M S) + C' sum of the hinge loss over w, b and M > 0, where S is the
    spread of the samples about their mean. Its optimum is the support vector machine on whitened samples S^-1/2 x,
    which ``solver="exact"`` computes directly. `mklearn.optimize.fsvm` has the proof.

    Parameters
    ----------
    C : float
        Penalty C_svm of the support vector machine (1/2 ||v||^2 + C_svm sum hinge) on transformed samples S^-power x of
        mean squared norm 1 about their mean. Its meaning does not depend on ``power`` or on the scale of the features.
        The alternation solves the joint problem whose optimum is the whitened machine with this C.
    power : float
        Exponent of the whitening, from 0 (a support vector machine) to 1/2 (F-SVM). 1/4 is semi-whitening, the start of
        the alternation. Only for ``solver="exact"``.
    solver : {"exact", "alternating"}
        "exact": the machine on whitened samples. "alternating": the published algorithm, stopped after ``n_iter``
        steps.
    feature_scaling : {"minmax", "standard", "none"}
        Scaling of each feature, fitted on the training samples: to 0..1, to mean 0 and variance 1, or none. For the
        exact F-SVM it only decides which eigenvalues of S fall below the cutoff.
    step : {"fixed", "decaying", "geometric", "armijo"}
        Step lengths of the alternation, see `mklearn.optimize.fsvm.alternate`.
    step_size : float
        Factor of the step lengths of the alternation.
    n_iter : int
        Number of steps of the alternation.

    Attributes
    ----------
    equivalent_C_, optimum_ : arrays of shape (n_pairs,)
        C' of the joint problem for rho = 1, and F*, its minimum at C'.
    objective_history_ : list of arrays of shape (n_iter + 1,)
        F after each step of the alternation, the first with semi-whitened samples; empty for "exact".
    history_ : list of dict
        One entry per step of the alternation: ``objective`` and ``optimum``, the sums of F and of F* over the pairs.
    C0_ : array of shape (n_pairs,)
        Largest C' for which w = 0 is optimal. Computed when it is first read.
    diagnostics_ : list of dict
        For each pair of classes ``C``, ``equivalent_C``, ``C0``, ``zero`` (whether w = 0 is optimal for C'),
        ``simplex`` (whether the whitened samples form a regular simplex), ``start`` and ``end`` ((F - F*) / F* before
        and after the alternation; NaN without an alternation) and ``rises`` (number of steps in which F rose; 0 with
        "armijo"). Empty for power other than 1/2. Computed when it is read.
    classes_, pairs_, coef_, intercept_, objectives_, gap_, status_, message_ and others
        As for `mklearn.classifiers.one_vs_one.OneVsOneLinear`. ``objectives_`` holds the objective of the support
        vector machine for "exact", and F for "alternating". Errors are as there, too.

    References
    ----------
    Wu, Zuo, Zhu, Lin, "F-SVM: Combination of feature transformation and SVM learning via convex relaxation", arXiv
    1504.05035, 2015.

    Notes
    -----
    Deviations from the paper: the parameter is C_svm, because only C/sqrt(rho) of the paper's (C, rho) matters, and a
    whole grid of it can lie below C0. Where S is singular, w is the solution of smallest norm. For more than two
    classes, which the paper does not explain, each pair of classes has its own S. Eigenvalues of M have a floor.

    The support vector machine is solved by an interior-point method. The paper's libsvm has the same solution, but
    takes minutes to reach a relative duality gap of 1e-6 on some small sets.

    For power other than 1/2 the attributes of the joint problem are NaN or empty.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> FSVC().fit(X, y).score(X, y) > 0.95
    True
    """

    power: Annotated[float, Interval(Real, 0, 0.5, closed="both")] = 0.5
    solver: FSVMSolver = "exact"
    step: StepRule = "decaying"
    step_size: Positive = 0.5
    n_iter: NonnegativeInt = 15

    @cached_property
    def C0_(self) -> Floats:
        """Largest C' for which w = 0 is optimal, shape (n_pairs,)."""
        thresholds = [zero_threshold(fit.Z, fit.y) for fit in self._joint_fits]
        return np.array(thresholds) if thresholds else np.full(len(self.pairs_), np.nan)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling, with C0 in place of the whitened samples from which it is computed."""
        state = dict(super().__getstate__())
        if "_joint_fits" in state:
            state["C0_"] = self.C0_
            state["_joint_fits"] = [replace(fit, Z=fit.Z[:0].copy(), y=fit.y[:0].copy()) for fit in self._joint_fits]
        return state

    @property
    def diagnostics_(self) -> list[dict[str, Any]]:
        """Diagnostics of the joint problem of each pair of classes."""
        entries = []
        for fit, C0 in zip(self._joint_fits, self.C0_, strict=False):
            distance = fit.history / fit.optimum - 1 if len(fit.history) else np.full(1, np.nan)
            zero = np.isposinf(fit.optimum) or fit.C <= C0 * (1 + THRESHOLD_ACCURACY)
            entries.append({
                "C": self.C, "equivalent_C": fit.C, "C0": float(C0), "zero": bool(zero), "simplex": fit.is_simplex,
                "start": float(distance[0]), "end": float(distance[-1]), "rises": fit.rises,
            })  # fmt: skip
        return entries

    def _fit_pair(self, X: Floats, y: Floats) -> PairFit:
        whitening = power_whitening(X, 0.5 if self.solver == "alternating" else self.power)
        Z = whitening.transform(X)
        machine = hinge_machine(Z, y, self.C)
        w, b, objective, gap = whitening.normal(machine.w), machine.b, machine.objective, machine.gap
        if whitening.power != 0.5:
            return PairFit(w, b - float(w @ whitening.mean), objective, gap)
        # Rescale from samples of unit mean squared norm to Z'Z = I: v grows by `scale`, its penalty by the square.
        scale = whitening.scale
        Z, rises = Z / scale, 0
        history: Floats = np.zeros(0)
        C, optimum = joint_optimum(Z, y, scale * machine.w, b, self.C * scale**2)
        if self.solver == "alternating" and np.isfinite(C):
            path = alternate(
                whitening.coordinates(X), y, whitening.eigenvalues, C, step=self.step, step_size=self.step_size,
                n_iter=self.n_iter,
            )  # fmt: skip
            w, b, gap = whitening.axes @ path.w, path.b, max(gap, path.gap)
            history, rises, objective = path.objectives, path.n_rises, float(path.objectives[-1])
        b -= float(w @ whitening.mean)
        return FSVMPairFit(w, b, objective, gap, Z, y, whitening.is_simplex, C, optimum, history, rises)

    def _collect(self, fits: Sequence[PairFit]) -> None:
        self.__dict__.pop("C0_", None)  # of an earlier fit
        joint = [fit for fit in fits if isinstance(fit, FSVMPairFit)]
        missing = np.full(len(fits), np.nan)
        self._joint_fits = joint
        self.equivalent_C_ = np.array([fit.C for fit in joint]) if joint else missing
        self.optimum_ = np.array([fit.optimum for fit in joint]) if joint else missing
        self.objective_history_ = [fit.history for fit in joint]
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
