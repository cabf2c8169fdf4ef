"""The parameter ``landmarks`` of estimators: learning from moments of explicit features, for many samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import type_of_target

from mklearn.base.landmark_features import LandmarkFeatures
from mklearn.base.landmark_moments import LandmarkMoments, fitted_features
from mklearn.base.moments import Moments
from mklearn.base.parameters import at_least, fit_context
from mklearn.base.validation import checked_labels
from mklearn.errors import DataError, NotApplicable

Array = NDArray[np.floating[Any]]


class LandmarkInput:
    """Mixin of kernel estimators that learn from landmark features as well as from kernel matrices.

    With ``landmarks`` each kernel is replaced by the product of explicit features (Nystroem's approximation, exact if
    all samples are landmarks), and the method is computed from their moments: time grows with n, memory does not. The
    results are those of the method on the approximate kernels, with the same parameters.

    Differences in the attributes: ``coefficients_`` are of the features, (n_features, n_columns), and there are

    landmark_features_ : LandmarkFeatures
        The fitted transformer; None without ``landmarks``.
    offset_ : array of shape (n_columns,)
        Subtracted from the outputs of every sample: the centring of the kernels.

    A subclass implements `_fit_moments`, which ends with `_set_coefficients`. Place the mixin before the base class.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"landmarks": [None, at_least(1), Mapping]}

    landmarks: Any
    kernels: Any
    landmark_features_: LandmarkFeatures | None
    coefficients_: Array
    offset_: Array
    _needs_labels: Any

    @fit_context
    def fit_moments(self, features: LandmarkFeatures, moments: Moments) -> Self:
        """Learn from moments that were gathered elsewhere: batch by batch, in several processes, or of some folds only.

        Parameters
        ----------
        features : LandmarkFeatures
            Fitted. Its kernels are used; ``kernels`` and ``landmarks`` are ignored.
        moments : Moments
            Of these features over the training samples; with labels for supervised methods, else `DataError` is raised.

        Returns
        -------
        self
            Of embeddings, ``embedding_`` are the embedded class means: ``predict`` is by the nearest class mean.
        """
        self._learn(LandmarkMoments(features, moments))
        return self

    def _fit_landmarks(self, X: Any, y: ArrayLike | None) -> NDArray[Any] | None:
        """Fit features and method to samples; return the checked labels, or None if the method needs none."""
        of_classes = self._needs_labels or (y is not None and type_of_target(y) in ("binary", "multiclass"))
        features = fitted_features(self.kernels, self.landmarks, X, y if of_classes else None)
        labels = checked_labels(self, y, features.n_samples_) if self._needs_labels else None
        self._learn(LandmarkMoments.gathered(features, X, labels))
        return labels

    def _learn(self, data: LandmarkMoments) -> None:
        if self._needs_labels and not data.moments.labelled:
            raise DataError(f"{type(self).__name__} needs class labels: give y to Moments.partial_fit")
        features = data.features
        self.landmark_features_ = features
        self.kernel_ids_ = features.kernel_ids_
        self.n_features_in_ = features.n_features_in_
        vars(self).pop("feature_names_in_", None)
        if hasattr(features, "feature_names_in_"):
            self.feature_names_in_ = features.feature_names_in_
        if self._needs_labels:
            self.classes_ = data.moments.classes_
            if len(self.classes_) < 2:
                raise NotApplicable(f"all samples have the label {self.classes_[0]}: at least two classes are needed")
        self._fit_moments(data)

    def _fit_moments(self, data: LandmarkMoments) -> None:
        """Learn from moments; set ``kernel_weights_`` and the method's own attributes, and call `_set_coefficients`."""
        raise NotImplementedError

    def _set_coefficients(self, data: LandmarkMoments, coefficients: Array) -> None:
        """Set the coefficients, given those of the scaled features, (n_features, n_columns)."""
        self.coefficients_ = data.scale[:, None] * coefficients
        self.offset_ = data.origin @ self.coefficients_

    def outputs_of_features(self, features: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
        """Compute the embedding, or class scores, (m, n_columns), of landmark features (m, n_features) of samples."""
        return self._shifted(features @ self.coefficients_.astype(features.dtype))

    def _outputs(self, features: LandmarkFeatures, X: Any) -> NDArray[np.floating[Any]]:
        """Compute the outputs of samples, without their features."""
        return self._shifted(features.transform_times(X, self.coefficients_))

    def _shifted(self, products: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
        """Return the outputs, given the products of features and coefficients."""
        return np.asarray(products - self.offset_.astype(products.dtype))
