"""Estimators with the parameter ``landmarks``: learning from moments of explicit features, for many samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from mklearn.base.fit_context import checked_parameters, few_threads, fit_context
from mklearn.base.landmark_features import LandmarkFeatures
from mklearn.base.moments import Moments
from mklearn.base.parameters import at_least, parameters
from mklearn.checks import check_keys, checked_components
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.estimator_input import checked_labels
from mklearn.kernels.views import kept
from mklearn.optimize.landmark_embedding import LandmarkProblem, per_feature

Array = NDArray[np.floating[Any]]

_SETTINGS = ("n", "dtype", "rank_tolerance", "random_state")
# Ratio of centred to uncentred trace below which the centred trace is rounding error, see `scale_to_centred_trace`.
_CONSTANT = 1e-12


def landmark_features(kernels: Any, landmarks: Any) -> LandmarkFeatures:
    """Return the unfitted transformer for ``landmarks``: a number, or a mapping of parameters with "n".

    Raises `ConfigError` for unknown parameters of `LandmarkFeatures`, or if "n" is missing.
    """
    if not isinstance(landmarks, Mapping):
        return LandmarkFeatures(kernels, n=landmarks)
    check_keys(landmarks, list(_SETTINGS), "`landmarks`")
    if "n" not in landmarks:
        raise ConfigError(f"`landmarks` has no number of landmarks: give n, as in {{'n': 300, {str(landmarks)[1:]}")
    return LandmarkFeatures(kernels, **landmarks)


@dataclass(frozen=True, eq=False)
class LandmarkMoments:
    """Fitted landmark features and their moments over the training samples.

    Raises `DataError` if the moments are of other features, and on use if a kernel to be scaled is constant.
    """

    features: LandmarkFeatures
    moments: Moments

    def __post_init__(self) -> None:
        check_is_fitted(self.features)
        if not hasattr(self.moments, "classes_"):
            raise DataError("these moments hold no batch: call partial_fit first")
        width = self.features.blocks_[-1].stop
        if self.moments.n_features_ != width:
            raise DataError(f"the moments are of {self.moments.n_features_} features, but the landmarks have {width}")

    @classmethod
    def gathered(cls, features: LandmarkFeatures, X: Any, labels: NDArray[Any] | None) -> Self:
        """Gather the moments of samples block by block, without holding all features in memory."""

        def gather() -> Moments:
            moments = Moments()
            for rows, block in features.transform_blocks(X):
                moments.partial_fit(block, None if labels is None else labels[rows])
            return moments

        return cls(features, kept(X, gather, id(features), labels))

    @property
    def n_kernels(self) -> int:
        """Number M of kernels."""
        return len(self.features.blocks_)

    @cached_property
    def centred_traces(self) -> Array:
        """Centred traces tr(K_m)/n - 1'K_m 1/n^2 before scaling, (M,), over the samples that have the view."""
        variances = self.moments.squares / self.moments.n_samples_
        traces = np.array([variances[block].sum() for block in self.features.blocks_])
        return traces / self.features.observed_shares_

    @cached_property
    def scale(self) -> Array:
        """Factor of each feature, (D,), which gives the kernels that are scaled unit centred trace."""
        divisors = np.ones(self.n_kernels)
        for number, (name, trace) in enumerate(zip(self.features.kernel_ids_, self.centred_traces, strict=True)):
            block = self.features.blocks_[number]
            size = trace + float((self.moments.mean[block] ** 2).sum())
            if self.features.scaled_[number]:
                if not trace > _CONSTANT * size:
                    raise DataError(
                        f"kernel {name!r} has centred trace {trace:.3g}: in its feature space all training samples "
                        "coincide, so it can't be scaled to unit variance; leave it out or choose another bandwidth"
                    )
                divisors[number] = np.sqrt(trace)
        return 1.0 / per_feature(divisors, self.features.blocks_)

    @property
    def origin(self) -> Array:
        """Mean of each feature, (D,), if its kernel is centred, else 0."""
        return self.moments.mean * per_feature(self.features.centred_, self.features.blocks_)

    def problem(self, *, supervised: bool = True) -> LandmarkProblem:
        """Return the scatters of the scaled features for the LDA graph, or the PCA graph if not supervised."""
        scale = self.scale
        between = scale[:, None] * self.moments.between if supervised else None
        total = self.moments.scatter
        total *= scale
        total *= scale[:, None]
        offset = scale * (self.moments.mean - self.origin)
        return LandmarkProblem(self.moments.n_samples_, self.features.blocks_, total, between, offset)


@parameters
class WithLandmarks:
    """The parameter ``landmarks`` of `LandmarkInput`."""

    landmarks: Annotated[Any, None, at_least(1), Mapping] = None


class LandmarkInput(WithLandmarks):
    """Mixin of kernel estimators that can learn from landmark features instead of kernel matrices.

    With ``landmarks`` each kernel is approximated by inner products of explicit features (Nystroem method, exact if all
    samples are landmarks). The method is computed from the moments of these features: time grows with n, memory does
    not. With the approximate kernel matrices and the same parameters, the method would give the same results.

    Differences in the attributes: ``coefficients_`` apply to the features, (n_features, n_columns), and there are

    landmark_features_ : LandmarkFeatures
        The fitted transformer; None without ``landmarks``.
    offset_ : array of shape (n_columns,)
        Centring of the kernels: subtracted from the outputs of every sample.

    A subclass implements `_fit_moments`, which ends with `_set_coefficients`. Place the mixin before the base class.
    """

    kernels: Any
    landmark_features_: LandmarkFeatures | None
    coefficients_: Array
    offset_: Array
    _needs_labels: Any

    @checked_parameters  # with all threads: D^3 operations, whatever the samples
    def fit_moments(self, features: LandmarkFeatures, moments: Moments) -> Self:
        """Learn from moments gathered elsewhere: batch by batch, in several processes, or from some folds only.

        Parameters
        ----------
        features : LandmarkFeatures
            Fitted transformer. Its kernels are used; ``kernels`` and ``landmarks`` are ignored.
        moments : Moments
            Moments of these features over the training samples; supervised methods need labels, else `DataError`.

        Returns
        -------
        self
            An embedding sets ``embedding_`` to the class means, and ``predict`` uses the nearest class mean.
        """
        self._learn(LandmarkMoments(features, moments))
        return self

    def _clear_landmarks(self) -> None:
        """Remove the attributes that only a fit with landmarks sets."""
        self.landmark_features_ = None
        vars(self).pop("offset_", None)

    def _fit_landmarks(self, X: Any, y: ArrayLike | None) -> NDArray[Any] | None:
        """Fit features and method to samples; return the checked labels, or None if the method needs none."""
        of_classes = self._needs_labels or (y is not None and type_of_target(y) in ("binary", "multiclass"))
        kernels, landmarks, target = self.kernels, self.landmarks, y if of_classes else None
        # estimators on the same `CachingViews` share the transformer
        features = kept(X, lambda: landmark_features(kernels, landmarks).fit(X, target), kernels, landmarks, target)
        labels = checked_labels(self, y, features.n_samples_) if self._needs_labels else None
        self._learn(LandmarkMoments.gathered(features, X, labels))
        return labels

    def _learn(self, data: LandmarkMoments) -> None:
        if self._needs_labels and not data.moments.labelled:
            raise DataError(f"{type(self).__name__} needs class labels: give y to Moments.partial_fit")
        for name in [name for name in vars(self) if name.endswith("_")]:  # attributes of an earlier fit
            delattr(self, name)
        features = data.features
        self.landmark_features_ = features
        self.kernel_ids_ = features.kernel_ids_
        self.n_features_in_ = features.n_features_in_
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
        """Set the coefficients, given coefficients of the scaled features, (n_features, n_columns)."""
        self.coefficients_ = data.scale[:, None] * coefficients
        self.offset_ = data.origin @ self.coefficients_

    def outputs_of_features(self, features: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
        """Compute the embedding or class scores, (m, n_columns), from landmark features, (m, n_features)."""
        return self._shifted(features @ self.coefficients_.astype(features.dtype))

    def _outputs(self, features: LandmarkFeatures, X: Any) -> NDArray[np.floating[Any]]:
        """Compute the outputs of samples without storing their features."""
        return self._shifted(features.transform_times(X, self.coefficients_))

    def _shifted(self, products: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
        """Return the outputs, given the products of features and coefficients."""
        return np.asarray(products - self.offset_.astype(products.dtype))


class LandmarkEmbedding(LandmarkInput):
    """Mixin of kernel embeddings that can learn from landmark features."""

    n_components: int | None
    embedding_: Array

    @fit_context
    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Learn the projection, and the kernel weights unless they are given.

        Parameters
        ----------
        X : array of shape (n, d), views, or array of shape (n, n, n_kernels) with ``kernels="precomputed"``
            Views are a dict or list of tables, or `mklearn.kernels.Views`.
        y : array of shape (n,)
            Class labels. Unsupervised methods use them only to draw landmarks from each class.
        """
        self._clear_landmarks()
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
        """Return ``n_components`` for a method with at most classes - 1 components, the default."""
        most = len(data.moments.classes_) - 1
        return checked_components(self.n_components, most, f"the number of classes less one is {most}")

    def _wanted_of_features(self, data: LandmarkMoments, default: int) -> int:
        """Return ``n_components`` for a method with at most as many components as features."""
        most = data.features.blocks_[-1].stop
        limit = f"the landmarks have {most} features"
        return checked_components(self.n_components, most, limit, default=min(most, default))

    @few_threads
    def _project(self, X: Any) -> Array:
        features = getattr(self, "landmark_features_", None)
        return super()._project(X) if features is None else self._outputs(features, X)  # type: ignore[misc]
