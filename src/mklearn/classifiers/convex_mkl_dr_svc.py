"""Support vector classification on the kernel weights of convex MKL-DR."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mklearn.base.parameters import POSITIVE, Interval, one_of
from mklearn.classifiers.combined_svc import CombinedSVC, CScale, Decide
from mklearn.kernels.stack import KernelStack
from mklearn.subspace.convex_mkldr import ConvexMKLDR, Denominator


class ConvexMKLDRSVC(CombinedSVC):
    """Support vector machines on the kernel weights of convex MKL-DR.

    Parameters
    ----------
    kernels
        As for `mklearn.subspace.ConvexMKLDR`.
    p : float
        Norm of the kernel weights, from 1 (sparse) to infinity (equal weights).
    denominator : {"total", "within"}
        The scatter that the between-class scatter is compared with.
    ridge : float
        Of `mklearn.subspace.ConvexMKLDR`, which learns the weights, relative to the mean centred trace of the kernels.
    C : float
        Penalty of :class:`sklearn.svm.SVC`, in the unit that ``C_scale`` says.
    C_scale : {"variance", "none"}
        C is for a kernel whose variance of the training samples in feature space is 1, or for the kernel as it is.

    decide : {"one_vs_rest", "one_vs_one"}
        How more than two classes are told apart; see `KernelSVC`.

    Attributes
    ----------
    learner_ : ConvexMKLDR
    kernel_weights_, kernel_ids_, classes_, support_, dual_coef_, intercept_, n_features_in_
        As for `KernelSVC`.

    Raises
    ------
    DataError, NotApplicable, ConfigError
        As for `KernelSVC` and `mklearn.subspace.ConvexMKLDR`.

    References
    ----------
    Those of `mklearn.subspace.ConvexMKLDR`. Cortes, Vapnik, "Support-vector networks", Machine Learning 20, 1995.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CombinedSVC._parameter_constraints,
        "p": [Interval(Real, 1, np.inf, closed="both")],
        "denominator": [one_of(Denominator)],
        "ridge": [POSITIVE],
    }

    def __init__(
        self,
        *,
        kernels: Any = "precomputed",
        p: float = 2.0,
        denominator: Denominator = "total",
        ridge: float = 1e-2,
        C: float = 10.0,
        C_scale: CScale = "variance",
        decide: Decide = "one_vs_rest",
    ) -> None:
        self.kernels = kernels
        self.p = p
        self.denominator = denominator
        self.ridge = ridge
        self.C = C
        self.C_scale = C_scale
        self.decide = decide

    def _weights(self, stack: KernelStack, codes: NDArray[np.intp]) -> NDArray[np.floating[Any]]:
        learner = ConvexMKLDR(p=self.p, denominator=self.denominator, ridge=self.ridge)
        self.learner_ = learner.fit(stack.as_last_axis(), codes)
        return np.asarray(learner.kernel_weights_, dtype=np.float64)
