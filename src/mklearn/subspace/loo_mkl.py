"""Discriminant analysis with kernel weights minimising the leave-one-out error."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from mklearn.base.kernels_mixin import KernelWeighting
from mklearn.base.parameters import Nonnegative, NonnegativeInt, Positive, Share, parameters
from mklearn.graphs import class_structure, lda_graph
from mklearn.kernels.stack import KernelStack
from mklearn.optimize.leave_one_out_ridge import (
    LeaveOneOutRidge,
    class_targets,
    equal_share_weights,
    leave_one_out_weights,
)
from mklearn.subspace.kernel_embedding import RatioTraceEmbedding


@parameters
class LeaveOneOutMKL(RatioTraceEmbedding):
    """Kernel Fisher discriminant analysis with kernel weights minimising the leave-one-out error.

    The objectives of MKL-DR and `ConvexMKLDR` are computed on the training samples and reward kernels close to the
    identity. Here kernel ridge regression (the regression form of the discriminant) predicts the class indicator of
    each sample from the other samples, in closed form, and the weights minimise

        L = min over a >= 0 of sum_i ||t_i - a f_i||^2 / sum_i ||t_i||^2,

    where f_i is the output for sample i of the fit on the others, and t_i is its indicator, both centred at the mean of
    the others (`mklearn.optimize.leave_one_out_ridge`). The weights are then shrunk towards equal shares, and
    `KernelFDA` is fitted with them.

    Parameters
    ----------
    n_components : int, optional
        As for `KernelFDA`. It does not change the weights.
    kernels
        As for `KernelFDA`. Their scales are irrelevant: kernels are compared at unit centred trace.
    regularisation : float
        Smallest ridge of the regression, in units of the samples' variance in the combined feature space (the centred
        trace); positive. A larger ridge is learned with the weights if it lowers the error. It affects the weights
        only. With large values, kernels are ranked by similarity-weighted averages of the labels of the other samples;
        with small values, by interpolation.
    shrinkage : float
        Factor from 0 to 1 by which the log ratios of the shares shrink; kernels with an optimal share of 0 keep it. 0
        gives the optimum of L, 1 the average of the kernels with a positive optimal share. If the shrunken weights do
        not have a smaller L than equal shares, equal shares are used.
    max_iter : int
        Largest number of L-BFGS-B iterations.
    tol : float
        The optimiser stops when an iteration decreases L by less than this, relatively.
    ridge, scaling
        As for `KernelFDA`.
    kernel_weights : {"learned", "uniform"}
        "uniform": equal shares without optimisation. The difference to "learned" isolates the effect of the learned
        weights. ``shrinkage``, ``max_iter`` and ``tol`` are ignored.

    Attributes
    ----------
    shares_ : array of shape (n_kernels,), sum 1
        Share of each kernel in the combined centred trace: the weights of the kernels at unit centred trace. 0 for
        constant kernels.
    objective_ : float
        L at ``shares_``: 1 is chance level, 0 a perfect prediction. No larger than at equal shares.
    regularisation_ : float
        The learned ridge of the regression, at least ``regularisation``.
    objective_history_ : array of shape ``(n_iter_,)``
        L at equal shares and after every step: it never increases.
    n_iter_ : int
        Number of iterates, equal shares included: one more than the steps taken.
    status_ : {"converged", "max_iter", "uniform"}
        "uniform": equal shares, because no better ones were found or ``kernel_weights`` is "uniform".
    kernel_weights_, kernel_ids_, classes_, coefficients_, eigenvalues_, ridge_amount_, embedding_, n_features_in_
        As for `mklearn.subspace.kfd.KernelFDA`, as are the errors, and `DataError` also for kernels far from positive
        semidefinite.

    References
    ----------
    Allen, "The relationship between variable selection and data augmentation and a method for prediction",
    Technometrics 1974 (PRESS). Ye, "Least squares linear discriminant analysis", ICML 2007 (the regression form).
    The criterion and its use for kernel weights are this library's own.

    Notes
    -----
    Indicators are divided by the square root of the class size, so that every class has the same weight. The two ridges
    have different roles: ``regularisation`` penalises the norm in feature space in the regression that weights the
    kernels, and ``ridge`` penalises the coefficients of the discriminant. With one kernel the method is `KernelFDA`.
    """

    regularisation: Positive = 1.0
    shrinkage: Share = 0.5
    max_iter: NonnegativeInt = 100
    tol: Nonnegative = 1e-5
    kernel_weights: KernelWeighting = "learned"

    def _fit_kernels(self, stack: KernelStack, labels: NDArray[Any]) -> None:
        targets = class_targets(class_structure(labels))
        objective = LeaveOneOutRidge(list(stack), targets, self.regularisation)
        if self.kernel_weights == "uniform":
            solution = equal_share_weights(objective)
        else:
            solution = leave_one_out_weights(objective, shrinkage=self.shrinkage, max_iter=self.max_iter, tol=self.tol)
        self._fit_ratio_trace(stack, solution.weights, lda_graph(labels), labels)
        self.shares_ = solution.shares
        self.objective_ = solution.value
        self.regularisation_ = solution.ridge
        self.objective_history_ = solution.history
        self.n_iter_ = len(solution.history)
        self.status_ = solution.status
