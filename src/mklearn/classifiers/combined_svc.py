"""Base of support vector classifiers on one combination of several kernels."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from mklearn.classifiers.kernel_classifier import KernelClassifier, variance_of
from mklearn.kernels.stack import KernelStack
from mklearn.optimize.svm import fit_svc

CScale = Literal["variance", "none"]


class CombinedSVC(KernelClassifier):
    """Base of support vector classifiers on one combination of the kernels, one class against one.

    A subclass has the parameters ``C`` and ``C_scale`` and implements `_weights`, which knows no sample weights: a
    subclass with fixed kernel weights takes them, see `mklearn.classifiers.kernel_classifier.WeightedKernelClassifier`.
    """

    C: float
    C_scale: CScale

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
        # Dividing the kernel by its variance is multiplying the bound of the dual variables, C, by 1 / variance.
        bound = self.C / variance if self.C_scale == "variance" else self.C
        self.svc_ = SVC(C=bound, kernel="precomputed", break_ties=True)
        self._kept_ = fit_svc(self.svc_, kernel, codes, sample_weight)
        self.support_ = self.svc_.support_ if self._kept_ is None else self._kept_[self.svc_.support_]

    def decision_function(self, X: Any) -> NDArray[np.floating]:
        """Compute decision values, shape (m, n_classes); for two classes shape (m,), positive for the second.

        Parameters
        ----------
        X : array of shape (m, d), views, or array of shape (m, n_train, n_kernels) with ``kernels="precomputed"``
        """
        kernel = self._combined(X)
        values: NDArray[np.floating] = self.svc_.decision_function(kernel)
        return values

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict class labels, shape (m,)."""
        kernel = self._combined(X)
        return self.classes_[self.svc_.predict(kernel)]

    def _combined(self, X: Any) -> NDArray[np.floating]:
        stack, _ = self._new_stack(X)
        kernel = stack.combine(self.kernel_weights_)
        return kernel if self._kept_ is None else kernel[:, self._kept_]
