"""Support vector classification on a fixed combination of kernels."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.svm import SVC

from mklearn.base.kernel_input import KernelInput, fixed_weights
from mklearn.base.parameters import POSITIVE, one_of
from mklearn.classifiers.kernel_classifier import KernelClassifier, variance_of
from mklearn.kernels.stack import KernelStack

CScale = Literal["variance", "none"]


class CombinedSVC(KernelClassifier):
    """Base of support vector classifiers on one combination of the kernels, one class against one.

    A subclass has the parameters ``C`` and ``C_scale`` and implements `_weights`.
    """

    C: float
    C_scale: CScale

    def _weights(self, stack: KernelStack, codes: NDArray[np.intp]) -> NDArray[np.floating[Any]]:
        """Return the kernel weights, shape (n_kernels,), sum 1."""
        raise NotImplementedError

    def _fit_kernels(self, stack: KernelStack, codes: NDArray[np.intp]) -> None:
        self.kernel_weights_ = self._weights(stack, codes)
        kernel = np.asarray(stack.combine(self.kernel_weights_), dtype=np.float64)
        variance = variance_of(kernel)
        # Dividing the kernel by its variance is multiplying the bound of the dual variables, C, by 1 / variance.
        bound = self.C / variance if self.C_scale == "variance" else self.C
        self.svc_ = SVC(C=bound, kernel="precomputed", break_ties=True).fit(kernel, codes)
        self.support_ = self.svc_.support_

    def decision_function(self, X: ArrayLike) -> NDArray[np.floating]:
        """Compute decision values, shape (m, n_classes); for two classes shape (m,), positive for the second.

        Parameters
        ----------
        X : array of shape (m, d), or (m, n_train, n_kernels) with ``kernels="precomputed"``
        """
        kernel = self._combined(X)
        values: NDArray[np.floating] = self.svc_.decision_function(kernel)
        return values

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict class labels, shape (m,)."""
        kernel = self._combined(X)
        return self.classes_[self.svc_.predict(kernel)]

    def _combined(self, X: ArrayLike) -> NDArray[np.floating]:
        stack, _ = self._new_stack(X)
        return stack.combine(self.kernel_weights_)


class KernelSVC(CombinedSVC):
    """scikit-learn's support vector classifier on a fixed combination of kernels, one class against one.

    Parameters
    ----------
    kernels : "precomputed" or list of kernel specs
        "precomputed": X is (n_samples, n_train, n_kernels), or (n_samples, n_train) for one kernel. Specs: X is
        (n_samples, n_features); see `mklearn.kernels.specs.StackTransform`.
    kernel_weights : None, "uniform", int or array of shape (n_kernels,)
        The average, one kernel by its position, or given weights (scaled to sum 1).
    C : float
        Penalty of :class:`sklearn.svm.SVC`, in the unit that ``C_scale`` says.
    C_scale : {"variance", "none"}
        "variance": C is for a kernel whose centred trace tr(K)/n - 1'K1/n^2, the variance in feature space, is 1, so
        that decisions do not depend on the scale of K. "none": C bounds the dual variables for the kernel as it is.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,), sum 1
    kernel_ids_ : tuple of str
    classes_ : array of shape (n_classes,)
    svc_ : SVC
    support_ : array of int
        Positions of the support vectors among the training samples.
    n_features_in_ : int

    Raises
    ------
    DataError
        X or y malformed.
    NotApplicable
        One class only, or a constant kernel.
    ConfigError
        Invalid kernel weights or specs.

    References
    ----------
    Cortes, Vapnik, "Support-vector networks", Machine Learning 20, 1995.

    Notes
    -----
    Of classes with equally many votes, the one with the larger decision values is predicted (``break_ties``). There are
    no probabilities: scikit-learn's would come from another cross-validation.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> KernelSVC(kernels=["gaussian"]).fit(X, y).score(X, y) > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelInput._parameter_constraints,
        "kernel_weights": "no_validation",
        "C": [POSITIVE],
        "C_scale": [one_of(CScale)],
    }

    def __init__(
        self,
        *,
        kernels: Any = "precomputed",
        kernel_weights: Any = None,
        C: float = 10.0,
        C_scale: CScale = "variance",
    ) -> None:
        self.kernels = kernels
        self.kernel_weights = kernel_weights
        self.C = C
        self.C_scale = C_scale

    def _weights(self, stack: KernelStack, codes: NDArray[np.intp]) -> NDArray[np.floating[Any]]:
        return fixed_weights(self.kernel_weights, len(stack))
