"""R-SVM+: a support vector machine that also bounds the radius of the weighted samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mklearn.base.parameters import POSITIVE
from mklearn.classifiers.one_vs_one import Floats, LinearScaling, OneVsOneLinear, PairFit
from mklearn.optimize.hinge_program import LinearMachine
from mklearn.papers.fsvm.radius_margin import r_svm_plus


@dataclass(frozen=True, eq=False)
class RadiusPairFit(PairFit):
    """A machine of `mklearn.papers.fsvm.radius_margin`, of a pair of classes.

    Attributes
    ----------
    n_pairs : int
        Pairs of samples whose constraints were generated.
    """

    n_pairs: int


class RSVMPlus(OneVsOneLinear):
    """R-SVM+, our reconstruction: margin and radius of the samples weighted by w.

    Minimise 1/2 ||w||^2 + lam r + C sum of the hinge loss, with sum_k w_k^2 (x_ik - x_jk)^2 <= r for all pairs of
    samples.

    Parameters
    ----------
    C : float
        Penalty for features of mean squared norm 1 about the mean of the two classes.
    lam : float
        Weight of r, the squared radius.
    feature_scaling : {"minmax", "standard", "none"}
        Scaling of each feature, fitted on the training samples. It changes what is learned.

    Attributes
    ----------
    n_sample_pairs_ : array of shape (n_pairs,)
        Pairs of samples whose constraints were generated.
    classes_, pairs_, coef_, intercept_, objectives_, gap_, status_, message_ and others
        As for `mklearn.classifiers.one_vs_one.OneVsOneLinear`.

    Raises
    ------
    DataError, NotApplicable, SolverFailed
        As for `mklearn.classifiers.one_vs_one.OneVsOneLinear`.

    References
    ----------
    Do, Kalousis, "Convex formulations of radius-margin based support vector machines", ICML 2013. Its equations were
    not available: this is a reconstruction from descriptions, see `mklearn.papers.fsvm.radius_margin`.

    Notes
    -----
    Each pair of classes is a problem of its own, and its samples are scaled to mean squared norm 1, so that C and lam
    have the same meaning for all features.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **OneVsOneLinear._parameter_constraints,
        "C": [POSITIVE],
        "lam": [POSITIVE],
    }

    def __init__(self, C: float = 1.0, *, lam: float = 1.0, feature_scaling: LinearScaling = "minmax") -> None:
        self.C = C
        self.lam = lam
        self.feature_scaling = feature_scaling

    def _fit_pair(self, X: Floats, y: Floats) -> PairFit:
        mean = X.mean(axis=0)
        level = float(np.sqrt(((X - mean) ** 2).sum(axis=1).mean()))
        machine = self._machine((X - mean) / level, y)
        w = machine.w / level
        return RadiusPairFit(w, machine.b - float(w @ mean), machine.objective, machine.gap, machine.n_pairs)

    def _machine(self, X: Floats, y: Floats) -> LinearMachine:
        return r_svm_plus(X, y, self.C, self.lam)

    def _collect(self, fits: Sequence[PairFit]) -> None:
        self.n_sample_pairs_ = np.array([fit.n_pairs for fit in fits if isinstance(fit, RadiusPairFit)], dtype=np.intp)
