"""Support vector classification on a combination of kernels, fixed or learned before the machines."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mklearn.base.kernels_mixin import fixed_weights
from mklearn.base.parameters import Positive, parameters
from mklearn.classifiers.class_scores import DecisionLabels, decision_values, one_vs_rest_signs
from mklearn.classifiers.kernel_classifier import KernelClassifier, WeightedKernelClassifier, variance_of
from mklearn.classifiers.one_vs_one import class_pairs, scores_by_votes
from mklearn.kernels.stack import KernelStack
from mklearn.optimize.svm import solve_svm

CScale = Literal["variance", "none"]
Decide = Literal["one_vs_rest", "one_vs_one"]


@parameters
class CombinedSVC(DecisionLabels, KernelClassifier):
    """Base of support vector classifiers on one combination of the kernels.

    A subclass implements `_weights`, which gets no sample weights. A subclass with fixed kernel weights may
    take sample weights; see `mklearn.classifiers.kernel_classifier.WeightedKernelClassifier`.
    """

    C: Positive = 10.0
    C_scale: CScale = "variance"
    decide: Decide = "one_vs_rest"

    def _weights(self, stack: KernelStack, codes: NDArray[np.intp]) -> NDArray[np.floating[Any]]:
        """Return the kernel weights, shape (n_kernels,), sum 1."""
        raise NotImplementedError

    def _fit_kernels(
        self, stack: KernelStack, codes: NDArray[np.intp], sample_weight: NDArray[np.float64] | None = None
    ) -> None:
        self.kernel_weights_ = self._weights(stack, codes)
        kernel = np.asarray(stack.combine(self.kernel_weights_), dtype=np.float64)
        variance = variance_of(kernel, sample_weight)
        # Dividing the kernel by its variance multiplies C, the bound of the dual variables, by 1 / variance.
        bound = self.C / variance if self.C_scale == "variance" else self.C
        n_classes = len(self.classes_)
        self.pairs_ = class_pairs(n_classes) if self.decide == "one_vs_one" and n_classes > 2 else None
        if self.pairs_ is None:
            solutions = [
                solve_svm(kernel, signs, bound, sample_weight=sample_weight)
                for signs in one_vs_rest_signs(codes, n_classes)
            ]
            dual = np.array([each.dual for each in solutions])
        else:
            dual = np.zeros((len(self.pairs_), len(codes)))
            solutions = []
            for machine, (first, second) in zip(dual, self.pairs_, strict=True):
                rows = np.flatnonzero((codes == first) | (codes == second))
                weights = None if sample_weight is None else sample_weight[rows]
                signs = np.where(codes[rows] == first, 1.0, -1.0)
                solutions.append(solve_svm(kernel[np.ix_(rows, rows)], signs, bound, sample_weight=weights))
                machine[rows] = solutions[-1].dual
        self.support_ = np.flatnonzero(dual.any(axis=0))
        self.dual_coef_ = dual[:, self.support_]
        self.intercept_ = np.array([each.intercept for each in solutions])

    def decision_function(self, X: Any) -> NDArray[np.floating]:
        """Compute decision values, shape (m, n_classes); for two classes shape (m,), positive for the second.

        X is as for ``fit``; precomputed kernels have shape (m, n_train, n_kernels).
        """
        stack, _ = self._new_stack(X)
        kernel = stack.combine(self.kernel_weights_)[:, self.support_]
        outputs = kernel @ self.dual_coef_.T + self.intercept_
        if self.pairs_ is None:
            return decision_values(outputs.T)
        return scores_by_votes(outputs, len(self.classes_))


@parameters
class KernelSVC(CombinedSVC, WeightedKernelClassifier):
    """Support vector machines on a fixed combination of kernels.

    Parameters
    ----------
    kernels, kernel_weights
        As for `mklearn.subspace.KernelFDA`.
    C : float
        Penalty of :class:`sklearn.svm.SVC`, in the unit that ``C_scale`` sets.
    C_scale : {"variance", "none"}
        "variance": C is for a kernel whose centred trace tr(K)/n - 1'K1/n^2, the variance in feature space, is 1, so
        that decisions do not depend on the scale of K. "none": C bounds the dual variables for the kernel as it is.
    decide : {"one_vs_rest", "one_vs_one"}
        How more than two classes are discriminated: by a machine for each class against the rest, or by the votes of a
        machine for each pair of classes, as :class:`sklearn.svm.SVC` does.
    class_weight : None, "balanced" or dict
        Weights of the classes, by label, which multiply the sample weights; "balanced" gives all classes the same total
        weight.

    Attributes
    ----------
    support_ : array of int
        Positions of the training samples that are support vectors of any machine.
    dual_coef_ : array of shape (n_machines, n_support)
        alpha y at `support_`, one row per machine: one for two classes, else one per class or per pair of classes.
    intercept_ : array of shape (n_machines,)
    pairs_ : array of shape (n_machines, 2) or None
        Positions of the two classes of each machine, whose output is positive for the first.
    kernel_weights_, kernel_ids_, classes_, n_features_in_
        As for `mklearn.subspace.KernelFDA`, as are the errors.

    References
    ----------
    Cortes, Vapnik, "Support-vector networks", Machine Learning 20, 1995.

    Notes
    -----
    Sample weights bound the dual variables: alpha_i <= C w_i. With ``C_scale="variance"`` the variance is weighted too.

    The machines are scikit-learn's (LIBSVM). Votes lose 10 accuracy points where classes are many and samples few
    (Caltech-101). Ties in votes go to the class with the larger outputs. There is no ``predict_proba``: scikit-learn's
    probabilities need a further cross-validation.

    If there are too many samples for kernel matrices, use scikit-learn's `LinearSVC` after `LandmarkFeatures`, or
    `KernelRidgeClassifier` with landmarks.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> KernelSVC(kernels=["gaussian"]).fit(X, y).score(X, y) > 0.9
    True
    """

    kernel_weights: Any = None

    def _weights(self, stack: KernelStack, codes: NDArray[np.intp]) -> NDArray[np.floating[Any]]:
        return fixed_weights(self.kernel_weights, len(stack))
