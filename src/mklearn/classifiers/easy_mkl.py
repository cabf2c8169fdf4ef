"""Support vector classification on the kernel weights of EasyMKL."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mklearn.base.parameters import Interval
from mklearn.classifiers.class_scores import one_vs_rest_signs
from mklearn.classifiers.combined_svc import CombinedSVC, CScale, Decide
from mklearn.kernels.stack import KernelStack
from mklearn.optimize.easy_mkl import easy_mkl_weights


class EasyMKL(CombinedSVC):
    """Support vector machines on the kernel weights of EasyMKL.

    Parameters
    ----------
    kernels
        As for `KernelSVC`; positive semidefinite, and scaled alike, for instance to unit diagonal.
    trade_off : float
        lambda, above 0 and at most 1: 1 weights by the distance of the class means, small values by the distance of
        the nearest points of the classes' convex hulls.
    C, C_scale, decide
        Penalty and its unit, and how more than two classes are discriminated: as for `KernelSVC`.

    Attributes
    ----------
    kernel_weights_by_class_ : array of shape (n_machines, n_kernels)
        Weights of the two classes, or of each class against the rest.
    kernel_weights_ : array of shape (n_kernels,), sum 1
        Their mean.
    kernel_ids_, classes_, support_, dual_coef_, intercept_, n_features_in_
        As for `KernelSVC`.

    Raises
    ------
    DataError, NotApplicable, ConfigError
        As for `KernelSVC`; `NotApplicable` also if no kernel separates the classes.
    SolverFailed
        Kernels far from positive semidefinite.

    References
    ----------
    Aiolli, Donini, "EasyMKL: a scalable multiple kernel learning algorithm", Neurocomputing 169, 2015.

    Notes
    -----
    Deviations: the paper classifies by the same problem on the weighted kernel; here a support vector machine does, as
    for the other methods of this room. With more than two classes the machines share the mean weights.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CombinedSVC._parameter_constraints,
        "trade_off": [Interval(Real, 0, 1, closed="right")],
    }

    def __init__(
        self, *, kernels: Any = "precomputed", trade_off: float = 0.1, C: float = 10.0, C_scale: CScale = "variance",
        decide: Decide = "one_vs_rest",
    ) -> None:  # fmt: skip
        self.kernels = kernels
        self.trade_off = trade_off
        self.C = C
        self.C_scale = C_scale
        self.decide = decide

    def _weights(self, stack: KernelStack, codes: NDArray[np.intp]) -> NDArray[np.floating[Any]]:
        signs = one_vs_rest_signs(codes, len(self.classes_))
        results = [easy_mkl_weights(stack.matrices, each, trade_off=self.trade_off) for each in signs]
        self.kernel_weights_by_class_ = np.array([each.weights for each in results])
        return np.asarray(self.kernel_weights_by_class_.mean(axis=0))
