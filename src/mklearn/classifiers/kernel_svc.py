"""Support vector classification on a fixed combination of kernels."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import LinearSVC

from mklearn.base.kernels_mixin import fixed_weights
from mklearn.base.landmark_features import LandmarkFeatures
from mklearn.base.landmark_input import LandmarkInput
from mklearn.base.landmark_moments import LandmarkMoments
from mklearn.base.moments import Moments
from mklearn.base.parameters import CLASS_WEIGHT
from mklearn.classifiers.combined_svc import CombinedSVC, CScale, Decide
from mklearn.classifiers.landmark_classifier import LandmarkClassifier
from mklearn.errors import ConfigError, NotApplicable
from mklearn.kernels.stack import KernelStack
from mklearn.optimize.landmark_embedding import per_feature


class KernelSVC(CombinedSVC, LandmarkClassifier):
    """Support vector machines on a fixed combination of kernels.

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
    decide : {"one_vs_rest", "one_vs_one"}
        How more than two classes are told apart: by a machine for each class against the rest, or by the votes of a
        machine for each pair of classes, as :class:`sklearn.svm.SVC` does. With landmarks by the first only.
    class_weight : None, "balanced" or dict
        Weights of the classes, by label, which multiply the sample weights; "balanced" gives all classes the same sum.
    landmarks : int or mapping, optional
        Learn from explicit features of so many landmarks, as in `mklearn.subspace.KernelFDA`, without weights:
        scikit-learn's linear machine on them, for more samples than kernel matrices take. See the notes.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,), sum 1
    kernel_ids_ : tuple of str
    classes_ : array of shape (n_classes,)
    support_ : array of int
        Positions of the training samples that are support vectors of any machine. Not with landmarks.
    dual_coef_ : array of shape (n_machines, n_support)
        alpha y at `support_`: of the one machine of two classes, of each class, or of each pair. Not with landmarks.
    intercept_ : array of shape (n_machines,)
    pairs_ : array of shape (n_machines, 2) or None
        Positions of the two classes of each machine, whose output is positive for the first. Not with landmarks.
    svc_ : LinearSVC
        With landmarks only.
    n_features_in_ : int

    Raises
    ------
    DataError
        X or y malformed.
    NotApplicable
        One class only, or a constant kernel.
    ConfigError
        Invalid kernel weights or specs; with landmarks sample weights, or `fit_moments`.

    References
    ----------
    Cortes, Vapnik, "Support-vector networks", Machine Learning 20, 1995.

    Notes
    -----
    Sample weights bound the dual variables: alpha_i <= C w_i. With ``C_scale="variance"`` the variance is weighted too.

    The machines are scikit-learn's (LIBSVM). Votes lose 10 accuracy points where classes are many and samples few
    (Caltech-101). Of classes with equally many votes, the one with the larger outputs is predicted. There are no
    probabilities: scikit-learn's would come from another cross-validation.

    With landmarks the loss is the squared hinge, each class is separated from the rest, and the intercept is penalised
    with the coefficients: what scikit-learn solves in a time that grows with n. The machine needs the features of all
    samples in memory, n D numbers in double precision, and three times that while it learns. Without that memory see
    `KernelRidgeClassifier`, which needs their moments only.

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
        **LandmarkInput._parameter_constraints,
    }

    def __init__(
        self,
        *,
        kernels: Any = "precomputed",
        kernel_weights: Any = None,
        C: float = 10.0,
        C_scale: CScale = "variance",
        decide: Decide = "one_vs_rest",
        class_weight: Any = None,
        landmarks: Any = None,
    ) -> None:
        self.kernels = kernels
        self.kernel_weights = kernel_weights
        self.C = C
        self.C_scale = C_scale
        self.decide = decide
        self.class_weight = class_weight
        self.landmarks = landmarks

    def fit_moments(self, features: LandmarkFeatures, moments: Moments) -> Self:
        """Raise `ConfigError`: the hinge loss is not a function of moments."""
        raise ConfigError("a support vector machine needs samples, which are not among their moments: call fit")

    def decision_function(self, X: Any) -> NDArray[np.floating]:
        """Compute decision values; see `mklearn.classifiers.combined_svc.CombinedSVC.decision_function`."""
        features = getattr(self, "landmark_features_", None)
        if features is None:
            return super().decision_function(X)
        values = self._outputs(features, X)
        return values[:, 0] if values.shape[1] == 1 else values

    def _fit_moments(self, data: LandmarkMoments) -> None:
        if self.decide == "one_vs_one" and len(self.classes_) > 2:
            raise ConfigError('decide is "one_vs_one": on landmarks the linear machine is "one_vs_rest"')
        weights = fixed_weights(self.kernel_weights, data.n_kernels)
        root = per_feature(np.sqrt(weights), data.features.blocks_)
        variance = float((root * data.scale) ** 2 @ data.moments.squares) / data.moments.n_samples_
        if not variance > 0:
            raise NotApplicable("the combined kernel is constant over the samples: no class can be discriminated")
        features = data.scaled_features()
        features *= root
        bound = self.C / variance if self.C_scale == "variance" else self.C
        self.svc_ = LinearSVC(C=bound, random_state=0, max_iter=10_000).fit(features, data.labels)
        self._set_coefficients(data, root[:, None] * self.svc_.coef_.T)
        self.intercept_ = self.svc_.intercept_
        self.kernel_weights_ = weights
        for name in ("support_", "dual_coef_", "pairs_"):  # of another fit
            self.__dict__.pop(name, None)

    def _weights(self, stack: KernelStack, codes: NDArray[np.intp]) -> NDArray[np.floating[Any]]:
        return fixed_weights(self.kernel_weights, len(stack))
