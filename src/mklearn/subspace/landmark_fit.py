"""The parameter ``landmarks`` of kernel embeddings."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.base.landmark_features import LandmarkFeatures
from mklearn.base.landmark_input import LandmarkInput
from mklearn.base.landmark_moments import LandmarkMoments
from mklearn.base.moments import Moments
from mklearn.base.parameters import fit_context
from mklearn.base.validation import checked_components


class LandmarkFit(LandmarkInput):
    """Mixin of kernel embeddings that learn from landmarks too: see `mklearn.base.landmark_input.LandmarkInput`."""

    n_components: int | None
    embedding_: NDArray[np.floating[Any]]

    @fit_context
    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Learn the projection, and the kernel weights unless they are given.

        Parameters
        ----------
        X : array of shape (n, d), views, or array of shape (n, n, n_kernels) with ``kernels="precomputed"``
            Views are a dict or list of tables, or `mklearn.kernels.Views`.
        y : array of shape (n,)
            Class labels; unsupervised methods ignore them, but that landmarks are drawn from each class.
        """
        self.landmark_features_ = None
        vars(self).pop("offset_", None)
        if self.landmarks is None:
            return super().fit(X, y)  # type: ignore[misc]
        labels = self._fit_landmarks(X, y)
        self._keep_labels(y if labels is None else labels)  # type: ignore[attr-defined]
        self.embedding_ = self._project(X)
        return self

    def fit_moments(self, features: LandmarkFeatures, moments: Moments) -> Self:
        super().fit_moments(features, moments)
        self._keep_labels(moments.classes_ if moments.labelled else None)  # type: ignore[attr-defined]
        self.embedding_ = moments.class_means @ self.coefficients_ - self.offset_
        return self

    def _wanted_of_classes(self, data: LandmarkMoments) -> int:
        """Return ``n_components`` of a method with at most classes - 1 of them, which are the default."""
        most = len(data.moments.classes_) - 1
        return checked_components(self.n_components, most, f"the number of classes less one is {most}")

    def _wanted_of_features(self, data: LandmarkMoments, default: int) -> int:
        """Return ``n_components`` of a method with at most as many of them as features."""
        most = data.features.blocks_[-1].stop
        limit = f"the landmarks have {most} features"
        return checked_components(self.n_components, most, limit, default=min(most, default))

    def _project(self, X: Any) -> NDArray[np.floating[Any]]:
        features = getattr(self, "landmark_features_", None)
        return super()._project(X) if features is None else self._outputs(features, X)  # type: ignore[misc]
