"""Support vector classification on a fixed combination of kernels."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mklearn.base.kernels_mixin import fixed_weights
from mklearn.base.parameters import CLASS_WEIGHT
from mklearn.classifiers.combined_svc import CombinedSVC, CScale, Decide
from mklearn.classifiers.kernel_classifier import WeightedKernelClassifier
from mklearn.kernels.stack import KernelStack


class KernelSVC(CombinedSVC, WeightedKernelClassifier):
    """Support vector machines on a fixed combination of kernels.

    Parameters
    ----------
    kernels : "precomputed", list of kernel specs, or mapping of names to specs
        "precomputed": X is (n_samples, n_train, n_kernels), or (n_samples, n_train) for one kernel. Specs: X is
        (n_samples, n_features) or several views; see `mklearn.kernels.transform.StackTransform`.
    kernel_weights : None, "uniform", int or array of shape (n_kernels,)
        The average, one kernel by its position, or weights (scaled to sum 1).
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
    kernel_weights_ : array of shape (n_kernels,), sum 1
    kernel_ids_ : tuple of str
    classes_ : array of shape (n_classes,)
    support_ : array of int
        Positions of the training samples that are support vectors of any machine.
    dual_coef_ : array of shape (n_machines, n_support)
        alpha y at `support_`, one row per machine: one for two classes, else one per class or per pair of classes.
    intercept_ : array of shape (n_machines,)
    pairs_ : array of shape (n_machines, 2) or None
        Positions of the two classes of each machine, whose output is positive for the first.
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

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CombinedSVC._parameter_constraints,
        "kernel_weights": "no_validation",
        "class_weight": CLASS_WEIGHT,
    }

    def __init__(
        self, *, kernels: Any = "precomputed", kernel_weights: Any = None, C: float = 10.0,
        C_scale: CScale = "variance", decide: Decide = "one_vs_rest", class_weight: Any = None,
    ) -> None:  # fmt: skip
        self.kernels = kernels
        self.kernel_weights = kernel_weights
        self.C = C
        self.C_scale = C_scale
        self.decide = decide
        self.class_weight = class_weight

    def _weights(self, stack: KernelStack, codes: NDArray[np.intp]) -> NDArray[np.floating[Any]]:
        return fixed_weights(self.kernel_weights, len(stack))
