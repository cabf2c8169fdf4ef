"""R-SVM+_mu: a support vector machine with learned feature weights and a bound of the radius."""

from __future__ import annotations

from typing import ClassVar

from mklearn.classifiers.one_vs_one import Floats
from mklearn.optimize.hinge_program import LinearMachine
from mklearn.papers.fsvm.r_svm_plus import RSVMPlus
from mklearn.papers.fsvm.radius_margin import r_svm_plus_mu


class RSVMPlusMu(RSVMPlus):
    """R-SVM+_mu, our reconstruction: feature weights mu learned from margin and radius.

    Minimise 1/2 sum_k w_k^2 / mu_k + lam r + C sum of the hinge loss, with sum_k mu_k (x_ik - x_jk)^2 <= r for all
    pairs of samples. Attributes, errors and other parameters are those of `RSVMPlus`. The solution is an l1-like one,
    with many coefficients at 0, and below a threshold of C all of them are.

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
