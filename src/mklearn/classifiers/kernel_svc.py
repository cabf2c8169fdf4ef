"""Support vector classification on a fixed combination of kernels."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mklearn.base.kernel_input import KernelInput, fixed_weights
from mklearn.base.parameters import POSITIVE, one_of
from mklearn.classifiers.combined_svc import CombinedSVC, CScale
from mklearn.classifiers.kernel_classifier import WeightedKernelClassifier
from mklearn.kernels.stack import KernelStack


class KernelSVC(CombinedSVC, WeightedKernelClassifier):
    """scikit-learn's support vector classifier on a fixed combination of kernels, one class against one.

    Parameters
    ----------
    kernels : "precomputed", list of kernel specs, or mapping of names to specs
        "precomputed": X is (n_samples, n_train, n_kernels), or (n_samples, n_train) for one kernel. Specs: X is
        (n_samples, n_features) or several views; see `mklearn.kernels.specs.StackTransform`.
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
        Fitted to the samples whose weight is not 0.
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
    Sample weights bound the dual variables: alpha_i <= C w_i. With ``C_scale="variance"`` the variance is weighted too.

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
