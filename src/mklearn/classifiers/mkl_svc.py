"""Support vector classification with learned kernel weights (lp-norm multiple kernel learning)."""

from __future__ import annotations

from numbers import Real
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from mklearn.base.parameters import Interval, NonnegativeInt, Positive, parameters
from mklearn.classifiers.class_scores import DecisionLabels, decision_values, one_vs_rest_signs
from mklearn.classifiers.kernel_classifier import KernelClassifier, variance_of
from mklearn.kernels.stack import KernelStack
from mklearn.optimize.svm_weights import svm_weights


@parameters
class MKLSVC(DecisionLabels, KernelClassifier):
    """Multiple kernel learning with a support vector machine: kernel weights and machine from one convex problem.

    Minimises the objective of the machine on sum_m theta_m K_m over theta >= 0 with ||theta||_p <= M^(1/p - 1); see
    `mklearn.optimize.svm_weights`. With more than two classes, each has its own machine and weights, one-vs-rest.

    Parameters
    ----------
    kernels
        As for `mklearn.subspace.KernelFDA`; positive semidefinite. Their scales matter: scale them alike, for instance
        to unit diagonal.
    C : float
        Bound of the dual variables for the kernels as given, as in :class:`sklearn.svm.SVC` and in the papers
        (`KernelSVC` with ``C_scale="none"``).
    p : float
        Norm of the weights, from 1 (sparse: weights on the simplex) to infinity (equal weights).
    tol : float
        Tolerance of the relative duality gap.
    max_iter : int
        Largest number of steps.
    svm_tol : float
        Tolerance of each support vector machine.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,), sum 1
        Mean of `kernel_weights_by_class_` over its rows.
    kernel_weights_by_class_ : array of shape (n_machines, n_kernels)
        theta / sum(theta) of each machine: one for two classes, else one per class.
    theta_ : array of shape (n_machines, n_kernels)
        The weights with ||theta||_p = M^(1/p - 1); their sum is at most 1. Decisions use these.
    certificate_ : dict
        "gap": the largest relative duality gap over the machines. For a small C it may be below ``tol`` already at the
        start, at equal weights, which are then the result.
    objective_ : float
        Sum of the machines' dual objectives.
    n_iter_ : int
        Number of iterates, equal weights included; the maximum over the machines.
    status_ : {"optimal", "max_iter", "stalled"}
        "optimal" if all machines are optimal, else the status of the first that is not.
    support_ : array of int
        Positions of the training samples that are support vectors of any machine.
    dual_coef_ : array of shape (n_machines, n_support)
        alpha y at `support_`.
    intercept_ : array of shape (n_machines,)
    classes_, kernel_ids_, n_features_in_
        As for `mklearn.subspace.KernelFDA`, as are the errors.

    References
    ----------
    Lanckriet et al., "Learning the kernel matrix with semidefinite programming", JMLR 5, 2004. Bach, Lanckriet, Jordan,
    "Multiple kernel learning, conic duality, and the SMO algorithm", ICML 2004. Kloft, Brefeld, Sonnenburg, Zien,
    "lp-norm multiple kernel learning", JMLR 12, 2011.

    Notes
    -----
    Deviations: Newton steps in place of a cone program or a reduced gradient; the radius M^(1/p - 1) instead of 1 as in
    Kloft et al., so that equal weights 1/M are feasible for every p (this changes the scale of C).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> MKLSVC(kernels=["gaussian", "linear"]).fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.9
    True
    """

    C: Positive = 10.0
    p: Annotated[float, Interval(Real, 1, np.inf, closed="both")] = 1.0
    tol: Positive = 1e-5
    max_iter: NonnegativeInt = 100
    svm_tol: Positive = 1e-5

    def _fit_kernels(self, stack: KernelStack, codes: NDArray[np.intp]) -> None:
        uniform = np.full(len(stack), 1.0 / len(stack))
        variance_of(np.asarray(stack.combine(uniform), dtype=np.float64))
        results = [
            svm_weights(
                stack.matrices, signs, self.C, p=self.p, tol=self.tol, max_iter=self.max_iter, svm_tol=self.svm_tol
            )
            for signs in one_vs_rest_signs(codes, len(self.classes_))
        ]  # fmt: skip
        self.theta_ = np.array([each.theta for each in results])
        self.kernel_weights_by_class_ = np.array([each.weights for each in results])
        self.kernel_weights_ = self.kernel_weights_by_class_.mean(axis=0)
        self.certificate_ = {"gap": max(each.gap for each in results)}
        self.objective_ = sum(each.solution.value for each in results)
        self.n_iter_ = max(len(each.history) for each in results)
        self.status_ = next((each.status for each in results if each.status != "optimal"), "optimal")
        dual = np.array([each.solution.dual for each in results])
        self.support_ = np.flatnonzero(dual.any(axis=0))
        self.dual_coef_ = dual[:, self.support_]
        self.intercept_ = np.array([each.solution.intercept for each in results])

    def decision_function(self, X: Any) -> NDArray[np.floating]:
        """Compute decision values, shape (m, n_classes); for two classes shape (m,), positive for the second.

        X is as for ``fit``; precomputed kernels have shape (m, n_train, n_kernels).
        """
        stack, _ = self._new_stack(X)
        machines = zip(self.theta_, self.dual_coef_, self.intercept_, strict=True)
        outputs = [stack.combine(theta)[:, self.support_] @ dual + intercept for theta, dual, intercept in machines]
        return decision_values(np.array(outputs))
