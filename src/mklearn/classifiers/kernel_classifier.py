"""Base of the classifiers on several kernels: their input (features or precomputed kernels) and labels."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from mklearn.base.kernel_input import KernelInput
from mklearn.base.parameters import fit_context
from mklearn.base.validation import checked_labels
from mklearn.errors import NotApplicable
from mklearn.graphs import class_structure
from mklearn.kernels.normalise import centred_trace
from mklearn.kernels.stack import KernelStack


class KernelClassifier(KernelInput, ClassifierMixin, BaseEstimator):
    """Base of classifiers with a parameter ``kernels``: "precomputed", or specs of kernels on features.

    A subclass implements `_fit_kernels`; its predictions begin with `_new_stack`.
    """

    @fit_context
    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array of shape (n, d), views, or array of shape (n, n, n_kernels) with ``kernels="precomputed"``
        y : array of shape (n,)
            Class labels.
        """
        stack = self._training_stack(X)
        classes = class_structure(checked_labels(self, y, stack.n_columns))
        self.classes_ = classes.labels
        self._fit_kernels(stack, classes.codes)
        return self

    def _fit_kernels(self, stack: KernelStack, codes: NDArray[np.intp]) -> None:
        """Fit to training kernels and labels, given as positions in ``classes_``."""
        raise NotImplementedError


def variance_of(kernel: NDArray[np.float64]) -> float:
    """Compute the centred trace of a combined kernel; raise `NotApplicable` if the kernel is constant."""
    variance = centred_trace(kernel)
    if not variance > 10 * len(kernel) * np.finfo(np.float64).eps * float(np.abs(np.diagonal(kernel)).max()):
        raise NotApplicable("the combined kernel is constant over the samples: no class can be discriminated")
    return variance
