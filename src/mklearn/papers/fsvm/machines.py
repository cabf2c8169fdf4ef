"""The radius-margin machines that F-SVM is compared with: RMM, R-SVM+ and R-SVM+_mu.

Each pair of classes is a separate problem, and its samples are scaled to mean squared norm 1 about their mean, so that
the parameters have the same meaning for all features.
"""

from __future__ import annotations

from numbers import Real
from typing import Annotated, ClassVar, Literal

import numpy as np

from mklearn.base.parameters import Interval, Positive, parameters
from mklearn.classifiers.one_vs_one import Floats, OneVsOneLinear, PairFit
from mklearn.optimize.hinge_program import LinearMachine, hinge_machine
from mklearn.optimize.whitening import power_whitening
from mklearn.papers.fsvm.radius_margin import r_svm_plus, r_svm_plus_mu


@parameters
class RMMSVC(OneVsOneLinear):
    """Relative margin machine with a hard bound: a support vector machine with absolute training outputs <= B.

    Minimise 1/2 ||w||^2 + C sum of the hinge loss, with ``|w'x_i + b| <= B`` for all training samples. Attributes and
    errors are as for `mklearn.classifiers.one_vs_one.OneVsOneLinear`.

    Parameters
    ----------
    C : float
        Penalty for features of mean squared norm 1 about the mean of the two classes.
    B : float or "inf"
        Bound of the absolute outputs, above 1. With "inf" (or `numpy.inf`) there is no bound: a support vector machine.
    feature_scaling : {"minmax", "standard", "none"}
        Scaling of each feature, fitted on the training samples.

    References
    ----------
    Shivaswamy, Jebara, "Maximum relative margin and data-dependent regularization", JMLR 11, 2010. The authors' code
    has this hard bound; their soft bound is not implemented.
    """

    B: Annotated[float, Interval(Real, 1, np.inf, closed="right")] | Literal["inf"] = 2.0

    def _fit_pair(self, X: Floats, y: Floats) -> PairFit:
        # A rotation changes neither norms nor outputs, and leaves fewer features than samples.
        rotation = power_whitening(X, 0.0)
        machine = hinge_machine(rotation.transform(X), y, self.C, float(self.B))
        w = rotation.normal(machine.w)
        return PairFit(w, machine.b - float(w @ rotation.mean), machine.objective, machine.gap)


@parameters
class RSVMPlus(OneVsOneLinear):
    """R-SVM+, our reconstruction: a machine that also bounds the radius of the samples weighted by w.

    Minimise 1/2 ||w||^2 + lam r + C sum of the hinge loss, with sum_k w_k^2 (x_ik - x_jk)^2 <= r for all pairs of
    samples. Attributes and errors are as for `mklearn.classifiers.one_vs_one.OneVsOneLinear`.

    Parameters
    ----------
    C : float
        Penalty for features of mean squared norm 1 about the mean of the two classes.
    lam : float
        Weight of r, the squared radius.
    feature_scaling : {"minmax", "standard", "none"}
        Scaling of each feature, fitted on the training samples. It changes what is learned.

    References
    ----------
    Do, Kalousis, "Convex formulations of radius-margin based support vector machines", ICML 2013. Its equations were
    not available: this is a reconstruction from descriptions, see `mklearn.papers.fsvm.radius_margin`.
    """

    lam: Positive = 1.0

    def _fit_pair(self, X: Floats, y: Floats) -> PairFit:
        mean = X.mean(axis=0)
        level = float(np.sqrt(((X - mean) ** 2).sum(axis=1).mean()))
        machine = self._machine((X - mean) / level, y)
        w = machine.w / level
        return PairFit(w, machine.b - float(w @ mean), machine.objective, machine.gap)

    def _machine(self, X: Floats, y: Floats) -> LinearMachine:
        return r_svm_plus(X, y, self.C, self.lam)


class RSVMPlusMu(RSVMPlus):
    """R-SVM+_mu, our reconstruction: feature weights mu learned from margin and radius.

    Minimise 1/2 sum_k w_k^2 / mu_k + lam r + C sum of the hinge loss, with sum_k mu_k (x_ik - x_jk)^2 <= r for all
    pairs of samples. Attributes, errors and other parameters are as for `RSVMPlus`. The solution is sparse, as with an
    l1 penalty; below a threshold of C all coefficients are 0.

    Parameters
    ----------
    lam : float
        Weight of r. Only C^2 / lam matters: keep it at 1.

    References
    ----------
    Do, Kalousis, "Convex formulations of radius-margin based support vector machines", ICML 2013. Its equations were
    not available: this is a reconstruction from descriptions, see `mklearn.papers.fsvm.radius_margin`.
    """

    _solver: ClassVar[str] = "CLARABEL"

    def _machine(self, X: Floats, y: Floats) -> LinearMachine:
        return r_svm_plus_mu(X, y, self.C, self.lam)
