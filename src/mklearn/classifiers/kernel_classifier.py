"""Base classes of the classifiers on several kernels, with checks of input and labels."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from mklearn.base.fit_context import aligned, fit_context
from mklearn.base.kernels_mixin import KernelsMixin
from mklearn.base.parameters import ClassWeight, parameters
from mklearn.errors import NotApplicable
from mklearn.estimator_input import checked_labels, checked_sample_weight
from mklearn.graphs import class_structure
from mklearn.kernels.matrices import centred_trace
from mklearn.kernels.stack import KernelStack


class KernelClassifier(KernelsMixin, ClassifierMixin, BaseEstimator):
    """Base of classifiers with a parameter ``kernels``: "precomputed", or specs for kernels on features.

    A subclass implements `_fit_kernels`; its predictions begin with `_new_stack`.
    """

    score = aligned(ClassifierMixin.score)

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
        self._fit_kernels(stack, self._class_codes(stack, y))
        return self

    def _class_codes(self, stack: KernelStack, y: ArrayLike | None) -> NDArray[np.intp]:
        """Set ``classes_`` and return the labels as positions in it."""
        classes = class_structure(checked_labels(self, y, stack.n_columns))
        self.classes_ = classes.labels
        return classes.codes

    def _fit_kernels(self, stack: KernelStack, codes: NDArray[np.intp]) -> None:
        """Fit to training kernels, and to labels as positions in ``classes_``."""
        raise NotImplementedError


@parameters
class WeightedKernelClassifier(KernelClassifier):
    """Base of kernel classifiers whose ``fit`` takes sample weights.

    A subclass implements `_fit_kernels`.
    """

    class_weight: ClassWeight = None

    @fit_context
    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array of shape (n, d), views, or array of shape (n, n, n_kernels) with ``kernels="precomputed"``
        y : array of shape (n,)
            Class labels.
        sample_weight : array of shape (n,), optional
            A sample of weight 2 counts as two equal ones, a sample of weight 0 as none. Kernels of features (bandwidth,
            scaling, preprocessing) are fitted to the samples without weights.
        """
        stack = self._training_stack(X)
        codes = self._class_codes(stack, y)
        weights = checked_sample_weight(sample_weight, codes, self.classes_, self.class_weight)
        self._fit_kernels(stack, codes, weights)
        return self

    def _fit_kernels(
        self, stack: KernelStack, codes: NDArray[np.intp], sample_weight: NDArray[np.float64] | None = None
    ) -> None:
        """Fit to training kernels, labels as positions in ``classes_``, and sample weights."""
        raise NotImplementedError


def variance_of(kernel: NDArray[np.float64], sample_weight: NDArray[np.float64] | None = None) -> float:
    """Compute the centred trace of a combined kernel; raise `NotApplicable` unless it is positive."""
    variance = centred_trace(kernel, sample_weight)
    if not variance > 10 * len(kernel) * np.finfo(np.float64).eps * float(np.abs(np.diagonal(kernel)).max()):
        raise NotApplicable("the combined kernel is constant over the samples, or is no kernel (distances?)")
    return variance
