"""Base of the classifiers that learn from kernel matrices or from landmark features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.base.landmark_input import LandmarkInput
from mklearn.base.landmark_moments import LandmarkMoments
from mklearn.base.parameters import fit_context
from mklearn.classifiers.kernel_classifier import WeightedKernelClassifier
from mklearn.errors import ConfigError


class LandmarkClassifier(LandmarkInput, WeightedKernelClassifier):
    """Base of classifiers with ``landmarks``, whose outputs have an intercept.

    A subclass implements `_fit_weighted` for kernel matrices, and for landmark features `_fit_moments`, which also sets
    ``intercept_``.
    """

    _needs_labels = True
    intercept_: NDArray[np.float64]

    @fit_context
    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier; see `WeightedKernelClassifier.fit`. With landmarks there are no sample weights."""
        self.landmark_features_ = None
        if self.landmarks is None:
            return super().fit(X, y, sample_weight)
        if sample_weight is not None:
            raise ConfigError(
                "sample weights are not among the moments of landmark features, so that fit takes no sample weights "
                "with them: set landmarks=None"
            )
        self._fit_landmarks(X, y)
        return self

    def _learn(self, data: LandmarkMoments) -> None:
        if self.class_weight is not None:
            raise ConfigError("class weights are not among the moments of landmark features: set class_weight=None")
        super()._learn(data)

    def _shifted(self, products: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
        return super()._shifted(products).astype(np.float64) + self.intercept_
