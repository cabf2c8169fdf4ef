"""The parameter ``landmarks`` of kernel embeddings: learning from moments of explicit features, for many samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.base.landmark_features import LandmarkFeatures
from mklearn.base.landmark_moments import LandmarkMoments, landmark_features
from mklearn.base.moments import Moments
from mklearn.base.parameters import at_least, fit_context
from mklearn.base.validation import checked_components, checked_labels
from mklearn.errors import DataError

Array = NDArray[np.floating[Any]]


class LandmarkFit:
    """Mixin of kernel embeddings that learn from landmark features as well as from kernel matrices.

    With ``landmarks`` each kernel is replaced by the product of explicit features (Nystroem's approximation, exact if
    all samples are landmarks), and the method is computed from their moments: time grows with n, memory does not. The
    results are those of the method on the approximate kernels, the ridge on the coefficients of all n samples included.

    Differences in the attributes: ``coefficients_`` are of the features, (n_features, n_components), and there are

    landmark_features_ : LandmarkFeatures
        The fitted transformer; None without ``landmarks``.
    offset_ : array of shape (n_components,)
        Subtracted from every embedded sample: the centring of the kernels.

    A subclass implements `_fit_moments`, which ends with `_set_coefficients`. Place the mixin before the base class.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"landmarks": [None, at_least(1), Mapping]}

    landmarks: Any
    kernels: Any
    n_components: int | None
    landmark_features_: LandmarkFeatures | None
    coefficients_: Array
    offset_: Array
    embedding_: Array

    @fit_context
    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Learn the projection, and the kernel weights unless they are given.

        Parameters
        ----------
        X : array of shape (n, d), views, or array of shape (n, n, n_kernels) with ``kernels="precomputed"``
            Views are a dict or list of tables, or `mklearn.kernels.Views`.
        y : array of shape (n,)
            Class labels; ignored by unsupervised methods.
        """
        self.landmark_features_ = None
        if self.landmarks is None:
            return super().fit(X, y)  # type: ignore[misc,no-any-return]
        features = landmark_features(self.kernels, self.landmarks).fit(X, y)
        labels = checked_labels(self, y, features.n_samples_) if self._needs_labels else None  # type: ignore[attr-defined]
        self._learn(LandmarkMoments.gathered(features, X, labels))
        self._keep_labels(y if labels is None else labels)  # type: ignore[attr-defined]
        self.embedding_ = self._project(X)
        return self

    @fit_context
    def fit_moments(self, features: LandmarkFeatures, moments: Moments) -> Self:
        """Learn from moments that were gathered elsewhere: batch by batch, in several processes, or of some folds only.

        Parameters
        ----------
        features : LandmarkFeatures
            Fitted. Its kernels are used; ``kernels`` and ``landmarks`` are ignored.
        moments : Moments
            Of these features over the training samples; with labels for supervised methods.

        Returns
        -------
        self
            ``embedding_`` are the embedded class means, so that ``predict`` is by the nearest class mean.

        Raises
        ------
        DataError
            No labels, or moments of other features.
        """
        self._learn(LandmarkMoments(features, moments))
        self._keep_labels(moments.classes_)  # type: ignore[attr-defined]
        self.embedding_ = moments.class_means @ self.coefficients_ - self.offset_
        return self

    def _learn(self, data: LandmarkMoments) -> None:
        if self._needs_labels and not data.moments.labelled:  # type: ignore[attr-defined]
            raise DataError(f"{type(self).__name__} needs class labels: give y to Moments.partial_fit")
        features = data.features
        self.landmark_features_ = features
        self.kernel_ids_ = features.kernel_ids_
        self.n_features_in_ = features.n_features_in_
        vars(self).pop("feature_names_in_", None)
        if hasattr(features, "feature_names_in_"):
            self.feature_names_in_ = features.feature_names_in_
        if self._needs_labels:  # type: ignore[attr-defined]
            self.classes_ = data.moments.classes_
        self._fit_moments(data)

    def _fit_moments(self, data: LandmarkMoments) -> None:
        """Learn from moments; set ``kernel_weights_`` and the method's own attributes, and call `_set_coefficients`."""
        raise NotImplementedError

    def _wanted_of_classes(self, data: LandmarkMoments) -> int:
        """Return ``n_components`` of a method with at most classes - 1 of them, which are the default."""
        most = len(data.moments.classes_) - 1
        if most < 1:
            raise DataError(f"y has one class, {data.moments.classes_[0]}: at least two are needed")
        return checked_components(self.n_components, most, f"the number of classes less one is {most}")

    def _wanted_of_margin(self, data: LandmarkMoments) -> int:
        """Return ``n_components`` of a margin criterion: by default classes - 1, at most the number of features."""
        most = data.features.blocks_[-1].stop
        default = min(most, len(data.moments.classes_) - 1)
        if default < 1:
            raise DataError(f"y has one class, {data.moments.classes_[0]}: at least two are needed")
        limit = f"the landmarks have {most} features"
        return checked_components(self.n_components, most, limit, default=default)

    def _set_coefficients(self, data: LandmarkMoments, coefficients: Array) -> None:
        """Set the coefficients, given those of the scaled features, (n_features, n_components)."""
        self.coefficients_ = data.scale[:, None] * coefficients
        self.offset_ = data.origin @ self.coefficients_

    def _project(self, X: Any) -> NDArray[np.floating[Any]]:
        features = getattr(self, "landmark_features_", None)
        if features is None:
            return super()._project(X)  # type: ignore[misc,no-any-return]
        coefficients, offset = (each.astype(features.dtype) for each in (self.coefficients_, self.offset_))
        return np.concatenate([block @ coefficients - offset for _, block in features.transform_blocks(X)])
