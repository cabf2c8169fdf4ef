"""Linear support vector machine in the embedding of kernel Fisher discriminant analysis."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from mklearn.base.kernels_mixin import fixed_weights
from mklearn.base.parameters import Nonnegative, Positive, PositiveInt, RandomState, parameters
from mklearn.classifiers.class_scores import DecisionLabels
from mklearn.classifiers.kernel_classifier import KernelClassifier
from mklearn.kernels.stack import KernelStack
from mklearn.subspace.kfd import KernelFDA


@parameters
class EmbeddedLinearSVC(DecisionLabels, KernelClassifier):
    """One-vs-rest linear SVM on the kernel Fisher embedding of a fixed combination of kernels.

    Embedded samples are centred at the mean of the training embedding and scaled to unit length: with a ridge, new
    samples are closer to the mean than training samples, so that lengths do not discriminate classes. Unit length would
    reduce a single component to its sign. It is therefore divided by its mean length over the training samples, and the
    machine has no intercept, so that the sign still decides.

    Parameters
    ----------
    n_components : int, optional
        Number of components of the embedding. At most, and by default, the number of classes less one.
    kernels, kernel_weights
        As for `mklearn.subspace.KernelFDA`.
    ridge : float
        Ridge of the embedding, see `mklearn.subspace.KernelFDA`.
    C : float
        Penalty of :class:`sklearn.svm.LinearSVC` (squared hinge loss).
    random_state : int, RandomState or None
        Seed of the solver of `LinearSVC`.

    Attributes
    ----------
    embedder_ : KernelFDA
    mean_ : array of shape (n_components,)
        Mean of the training embedding.
    length_ : float
        Mean length of the centred training embedding.
    svc_ : LinearSVC
    kernel_weights_, kernel_ids_, classes_, n_features_in_
        As for `mklearn.subspace.KernelFDA`, as are the errors.
    """

    n_components: PositiveInt | None = field(default=None, kw_only=False)
    kernel_weights: Any = None
    ridge: Nonnegative = 1e-3
    C: Positive = 1.0
    random_state: RandomState = 0

    def _fit_kernels(self, stack: KernelStack, codes: NDArray[np.intp]) -> None:
        self.kernel_weights_ = fixed_weights(self.kernel_weights, len(stack))
        self.embedder_ = KernelFDA(self.n_components, ridge=self.ridge)
        Z = self.embedder_.fit_transform(stack.combine(self.kernel_weights_), codes)
        self.mean_ = Z.mean(axis=0)
        self.length_ = float(np.linalg.norm(Z - self.mean_, axis=1).mean())
        several = Z.shape[1] > 1
        svc = LinearSVC(C=self.C, fit_intercept=several, random_state=self.random_state, max_iter=10_000)
        self.svc_ = svc.fit(self._centre_and_normalise(Z), codes)

    def decision_function(self, X: Any) -> NDArray[np.floating]:
        """Compute signed distances, shape (m, n_classes); for two classes shape (m,), positive for the second.

        X is as for ``fit``; precomputed kernels have shape (m, n_train, n_kernels).
        """
        stack, _ = self._new_stack(X)
        Z = self.embedder_.transform(stack.combine(self.kernel_weights_))
        return self.svc_.decision_function(self._centre_and_normalise(Z))

    def _centre_and_normalise(self, Z: NDArray[np.floating]) -> NDArray[np.floating]:
        return (Z - self.mean_) / self.length_ if Z.shape[1] == 1 else normalize(Z - self.mean_)
