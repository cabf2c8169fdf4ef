"""A classifier: class centroids in the feature space of kernels that are weighted sample by sample."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.preprocessing import StandardScaler

from mklearn.base.kernels_mixin import Kernels, KernelsMixin
from mklearn.base.parameters import Positive, parameters
from mklearn.kernels import Views
from mklearn.methods import MethodRow


@parameters
class GatedCentroids(KernelsMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Nearest class centroid with the kernel weights of each sample.

    Parameters
    ----------
    sharpness : float
        Factor of the gating values before their softmax.
    kernels : specs of kernels
        See `mklearn.kernels.StackTransform`.
    gating : str
        Name of the view whose features gate the kernels.
    """

    study_row: ClassVar = MethodRow(title="Gated class centroids", views={"gating": ""}, tuned=("sharpness",))
    sharpness: Positive = 1.0
    kernels: Kernels = "gaussian"
    gating: str = "gating"

    def fit(self, X: Views, y: ArrayLike) -> GatedCentroids:
        """Fit on views of n samples."""
        stack = self._training_stack(X)
        features = np.asarray(X[self.gating], dtype=float)
        self.scaler_ = StandardScaler().fit(features)
        self.directions_ = np.random.default_rng(0).normal(size=(features.shape[1], len(stack)))
        self.gates_ = self._gates(X)
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        self.members_ = np.eye(len(self.classes_))[codes] / np.bincount(codes)
        return self

    def decision_function(self, X: Views) -> NDArray[np.float64]:
        """Return the similarity of each of m samples to each class, (m, n_classes)."""
        kernels = self._new_stack(X)[0].matrices
        return np.asarray(np.einsum("ik,kij,jk->ij", self._gates(X), kernels, self.gates_) @ self.members_)

    def predict(self, X: Views) -> NDArray[Any]:
        """Return the most similar class of each sample."""
        return np.asarray(self.classes_[np.argmax(self.decision_function(X), axis=1)])

    def _gates(self, X: Views) -> NDArray[np.float64]:
        features = self.scaler_.transform(np.asarray(X[self.gating], dtype=float))
        return np.asarray(softmax(self.sharpness * features @ self.directions_ / features.shape[1] ** 0.5, axis=1))
