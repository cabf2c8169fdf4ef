"""Support vector classification on a combination of kernels weighted by EasyMKL."""

from __future__ import annotations

from numbers import Real
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from mklearn.base.parameters import Interval, parameters
from mklearn.classifiers.class_scores import one_vs_rest_signs
from mklearn.classifiers.kernel_svc import CombinedSVC
from mklearn.kernels.stack import KernelStack
from mklearn.optimize.easy_mkl import easy_mkl_weights


@parameters
class EasyMKL(CombinedSVC):
    """Support vector machines on a combination of kernels weighted by EasyMKL.

    Parameters
    ----------
    kernels
        As for `mklearn.subspace.KernelFDA`. They must be positive semidefinite and of one scale, for instance
        with unit diagonals.
    trade_off : float
        lambda, above 0 and at most 1. With 1 the weights follow the distance between the class means, with small values
        the distance between the nearest points of the classes' convex hulls.
    C, C_scale, decide
        Penalty of the machine, its unit ("variance" or "none"), and the scheme for more than two classes ("one_vs_rest"
        or "one_vs_one"): as for `KernelSVC`.

    Attributes
    ----------
    kernel_weights_by_class_ : array of shape (n_machines, n_kernels)
        Weights of each machine: one for two classes, else one per class against the rest.
    kernel_weights_ : array of shape (n_kernels,), sum 1
        Mean of ``kernel_weights_by_class_`` over the machines.
    support_, dual_coef_, intercept_
        As for `KernelSVC`.
    kernel_ids_, classes_, n_features_in_
        As for `mklearn.subspace.KernelFDA`, as are the errors. `NotApplicable` also if no kernel separates the classes,
        and `SolverFailed` for kernels far from positive semidefinite or of a large scale, or a very small
        ``trade_off``.

    References
    ----------
    Aiolli, Donini, "EasyMKL: a scalable multiple kernel learning algorithm", Neurocomputing 169, 2015.

    Notes
    -----
    Deviations: the paper classifies by solving the same problem on the combined kernel; here a support vector machine
    classifies, as in the other methods of `mklearn.classifiers`. With more than two classes the machines share the mean
    weights.
    """

    trade_off: Annotated[float, Interval(Real, 0, 1, closed="right")] = 0.1

    def _weights(self, stack: KernelStack, codes: NDArray[np.intp]) -> NDArray[np.floating[Any]]:
        signs = one_vs_rest_signs(codes, len(self.classes_))
        results = [easy_mkl_weights(stack.matrices, each, trade_off=self.trade_off) for each in signs]
        self.kernel_weights_by_class_ = np.array([each.weights for each in results])
        return np.asarray(self.kernel_weights_by_class_.mean(axis=0))
