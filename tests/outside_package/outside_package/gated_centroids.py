"""Class centroids in the feature space of kernels that are weighted sample by sample."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from mklearn.base.kernels_mixin import KernelsMixin
from mklearn.base.parameters import POSITIVE
from mklearn.kernels import Views
from mklearn.methods import MethodRow


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
    _parameter_constraints: ClassVar[dict[str, Any]] = {"sharpness": [POSITIVE]}

    def __init__(self, sharpness: float = 1.0, kernels: Any = "gaussian", gating: str = "gating") -> None:
        self.sharpness = sharpness
        self.kernels = kernels
        self.gating = gating

    def fit(self, X: Views, y: ArrayLike) -> GatedCentroids:
        """Fit on views of n samples."""
        stack = self._training_stack(X)
        features = np.asarray(X[self.gating], dtype=float)
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        self.mean_, self.scale_ = features.mean(axis=0), features.std(axis=0) + 1e-12
        rng = np.random.default_rng(0)
        self.directions_ = rng.normal(size=(features.shape[1], len(stack))) / np.sqrt(features.shape[1])
        self.gates_ = self._gates(features)
        self.members_ = np.eye(len(self.classes_))[codes] / np.bincount(codes)
        return self

    def decision_function(self, X: Views) -> NDArray[np.float64]:
        """Return the similarity of each of m samples to each class, (m, n_classes)."""
        stack, _ = self._new_stack(X)
        gates = self._gates(np.asarray(X[self.gating], dtype=float))
        kernel = np.einsum("ik,kij,jk->ij", gates, stack.matrices, self.gates_)
        similarity: NDArray[np.float64] = kernel @ self.members_
        return similarity

    def predict(self, X: Views) -> NDArray[Any]:
        """Return the most similar class of each sample."""
        predicted: NDArray[Any] = self.classes_[np.argmax(self.decision_function(X), axis=1)]
        return predicted

    def _gates(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        values = self.sharpness * ((features - self.mean_) / self.scale_) @ self.directions_
        exponentials = np.exp(values - values.max(axis=1, keepdims=True))
        gates: NDArray[np.float64] = exponentials / exponentials.sum(axis=1, keepdims=True)
        return gates
