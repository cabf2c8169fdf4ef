"""Class centroids in the feature space of kernels that are weighted sample by sample."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from mklearn.base.parameters import POSITIVE
from mklearn.cards import Input, MethodCard


@MethodCard(
    kind="gated_centroids",
    title="Gated class centroids",
    reference="none: an example",
    inputs={
        "kernels": Input("kernels"),
        "gating": Input("features", about="The descriptor whose features gate the kernels."),
    },
    tuned=("sharpness",),
)
class GatedCentroids(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Nearest class centroid with the kernel weights of each sample.

    Parameters
    ----------
    sharpness : float
        Factor of the gating values before their softmax.
    kernels : "precomputed"
        Kernels are given as X, shape (n_samples, n_train, n_kernels).
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"sharpness": [POSITIVE]}

    def __init__(self, sharpness: float = 1.0, kernels: str = "precomputed") -> None:
        self.sharpness = sharpness
        self.kernels = kernels

    def fit(self, X: ArrayLike, y: ArrayLike, *, gating: ArrayLike) -> GatedCentroids:
        """Fit on kernels (n, n, M) and gating features (n, d)."""
        features = np.asarray(gating, dtype=float)
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        self.mean_, self.scale_ = features.mean(axis=0), features.std(axis=0) + 1e-12
        rng = np.random.default_rng(0)
        self.directions_ = rng.normal(size=(features.shape[1], np.shape(X)[2])) / np.sqrt(features.shape[1])
        self.gates_ = self._gates(features)
        self.members_ = np.eye(len(self.classes_))[codes] / np.bincount(codes)
        return self

    def decision_function(self, X: ArrayLike, *, gating: ArrayLike) -> NDArray[np.float64]:
        """Return the similarity of each sample (m, n, M) to each class, (m, n_classes)."""
        check_is_fitted(self)
        kernel = np.einsum("ik,ijk,jk->ij", self._gates(np.asarray(gating, dtype=float)), np.asarray(X), self.gates_)
        similarity: NDArray[np.float64] = kernel @ self.members_
        return similarity

    def predict(self, X: ArrayLike, *, gating: ArrayLike) -> NDArray[Any]:
        """Return the most similar class of each sample."""
        predicted: NDArray[Any] = self.classes_[np.argmax(self.decision_function(X, gating=gating), axis=1)]
        return predicted

    def _gates(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        values = self.sharpness * ((features - self.mean_) / self.scale_) @ self.directions_
        exponentials = np.exp(values - values.max(axis=1, keepdims=True))
        gates: NDArray[np.float64] = exponentials / exponentials.sum(axis=1, keepdims=True)
        return gates
