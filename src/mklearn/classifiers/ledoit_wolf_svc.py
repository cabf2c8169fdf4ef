"""Support vector machine on samples whitened by a shrunk within-class covariance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mklearn.base.parameters import POSITIVE
from mklearn.classifiers.ledoit_wolf_lda import ledoit_wolf_shrinkage
from mklearn.classifiers.one_vs_one import Floats, LinearScaling, OneVsOneLinear, PairFit
from mklearn.errors import NotApplicable
from mklearn.graphs import within_laplacian
from mklearn.optimize.hinge_program import hinge_machine


@dataclass(frozen=True, eq=False)
class ShrunkPairFit(PairFit):
    """The machine of a pair of classes, with the shrinkage of its covariance.

    Attributes
    ----------
    shrinkage : float
    """

    shrinkage: float


class LedoitWolfSVC(OneVsOneLinear):
    """Support vector machine after whitening by the pooled within-class covariance with Ledoit-Wolf shrinkage.

    Parameters
    ----------
    C : float
        Penalty for whitened samples of mean squared norm 1 about their mean.
    feature_scaling : {"minmax", "standard", "none"}
        Scaling of each feature, fitted on the training samples. It changes what the covariance is shrunk to.

    Attributes
    ----------
    shrinkage_ : array of shape (n_pairs,)
        From 0 to 1.
    classes_, pairs_, coef_, intercept_, objectives_, gap_, status_, message_ and others
        As for `mklearn.classifiers.one_vs_one.OneVsOneLinear`.

    Raises
    ------
    DataError, NotApplicable, SolverFailed
        As for `mklearn.classifiers.one_vs_one.OneVsOneLinear`; `NotApplicable` also for no within-class scatter.

    References
    ----------
    Ledoit, Wolf, "A well-conditioned estimator for large-dimensional covariance matrices", 2004. A baseline, not a
    method of the reproduced papers.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {**OneVsOneLinear._parameter_constraints, "C": [POSITIVE]}

    def __init__(self, C: float = 1.0, *, feature_scaling: LinearScaling = "minmax") -> None:
        self.C = C
        self.feature_scaling = feature_scaling

    def _fit_pair(self, X: Floats, y: Floats) -> PairFit:
        mean = X.mean(axis=0)
        residuals = within_laplacian(y).apply(X - mean)
        if not float((residuals**2).sum()) > 1e-24 * float(((X - mean) ** 2).sum()):
            raise NotApplicable(
                "there is no within-class scatter, so no covariance: give several different samples per class"
            )
        shrinkage, level = ledoit_wolf_shrinkage(residuals)
        covariance = (1 - shrinkage) / len(X) * (residuals.T @ residuals) + shrinkage * level * np.eye(X.shape[1])
        values, axes = np.linalg.eigh(covariance)
        kept = values > len(values) * np.finfo(float).eps * values[-1]  # all, unless nothing is shrunk
        root = axes[:, kept] / np.sqrt(values[kept])
        Z = (X - mean) @ root
        size = float(np.sqrt((Z**2).sum(axis=1).mean()))
        machine = hinge_machine(Z / size, y, self.C)
        w = root @ machine.w / size
        return ShrunkPairFit(w, machine.b - float(w @ mean), machine.objective, machine.gap, shrinkage)

    def _collect(self, fits: Sequence[PairFit]) -> None:
        self.shrinkage_ = np.array([fit.shrinkage for fit in fits if isinstance(fit, ShrunkPairFit)])
