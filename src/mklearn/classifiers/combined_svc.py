"""Base of support vector classifiers on one combination of several kernels."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from mklearn.base.parameters import POSITIVE, one_of
from mklearn.classifiers.class_scores import DecisionLabels, decision_values, one_vs_rest_signs
from mklearn.classifiers.kernel_classifier import KernelClassifier, variance_of
from mklearn.classifiers.one_vs_one import class_pairs, scores_by_votes
from mklearn.kernels.stack import KernelStack
from mklearn.optimize.svm import solve_svm

CScale = Literal["variance", "none"]
Decide = Literal["one_vs_rest", "one_vs_one"]


class CombinedSVC(DecisionLabels, KernelClassifier):
    """Base of support vector classifiers on one combination of the kernels.

    A subclass has the parameters ``C``, ``C_scale`` and ``decide`` and implements `_weights`, which gets no sample
    weights. A subclass with fixed kernel weights may take sample weights; see
    `mklearn.classifiers.kernel_classifier.WeightedKernelClassifier`.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelClassifier._parameter_constraints,
        "C": [POSITIVE],
        "C_scale": [one_of(CScale)],
        "decide": [one_of(Decide)],
    }

    C: float
    C_scale: CScale
    decide: Decide

    def _weights(self, stack: KernelStack, codes: NDArray[np.intp]) -> NDArray[np.floating[Any]]:
        """Return the kernel weights, shape (n_kernels,), sum 1."""
        raise NotImplementedError

    def _fit_kernels(self, stack: KernelStack, codes: NDArray[np.intp]) -> None:
        self._fit_weighted(stack, codes, None)

    def _fit_weighted(
        self, stack: KernelStack, codes: NDArray[np.intp], sample_weight: NDArray[np.float64] | None
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

        Parameters
        ----------
        X : array of shape (m, d), views, or array of shape (m, n_train, n_kernels) with ``kernels="precomputed"``
        """
        stack, _ = self._new_stack(X)
        kernel = stack.combine(self.kernel_weights_)[:, self.support_]
        outputs = kernel @ self.dual_coef_.T + self.intercept_
        if self.pairs_ is None:
            return decision_values(outputs.T)
        return scores_by_votes(outputs, len(self.classes_))
