"""Relative margin machine."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from mklearn.base.parameters import POSITIVE, Interval, StrOptions
from mklearn.classifiers.one_vs_one import Floats, LinearScaling, OneVsOneLinear, PairFit
from mklearn.optimize.hinge_program import hinge_machine
from mklearn.optimize.whitening import power_whitening


class RMMSVC(OneVsOneLinear):
    """Relative margin machine with a hard bound: a support vector machine whose training outputs are at most B in size.

    Minimise 1/2 ||w||^2 + C sum of the hinge loss, with |w'x_i + b| <= B for all training samples.

    Parameters
    ----------
    C : float
        Penalty for features of mean squared norm 1 about the mean of the two classes.
    B : float or "inf"
        Above 1. With "inf" (or `numpy.inf`) there is no bound: a support vector machine.
    feature_scaling : {"minmax", "standard", "none"}
        Scaling of each feature, fitted on the training samples.

    Attributes
    ----------
    classes_, pairs_, coef_, intercept_, objectives_, gap_, status_, message_ and others
        As for `mklearn.classifiers.one_vs_one.OneVsOneLinear`.

    Raises
    ------
    DataError, NotApplicable, SolverFailed
        As for `mklearn.classifiers.one_vs_one.OneVsOneLinear`.

    References
    ----------
    Shivaswamy, Jebara, "Maximum relative margin and data-dependent regularization", JMLR 11, 2010. The authors' code
    has this hard bound; their soft bound is not implemented.

    Notes
    -----
    Deviations: each pair of classes is a problem of its own, and its samples are scaled to mean squared norm 1, so that
    C has the same meaning for all features.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **OneVsOneLinear._parameter_constraints,
        "C": [POSITIVE],
        "B": [Interval(Real, 1, np.inf, closed="right"), StrOptions({"inf"})],
    }

    def __init__(
        self, C: float = 1.0, *, B: float | Literal["inf"] = 2.0, feature_scaling: LinearScaling = "minmax"
    ) -> None:
        self.C = C
        self.B = B
        self.feature_scaling = feature_scaling

    def _fit_pair(self, X: Floats, y: Floats) -> PairFit:
        # A rotation changes neither norms nor outputs, and leaves fewer features than samples.
        rotation = power_whitening(X, 0.0)
        machine = hinge_machine(rotation.transform(X), y, self.C, float(self.B))
        w = rotation.normal(machine.w)
        return PairFit(w, machine.b - float(w @ rotation.mean), machine.objective, machine.gap)
