"""What estimators with landmarks learn from: moments of landmark features, centred and scaled as their kernels are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from mklearn.base.landmark_features import LandmarkFeatures
from mklearn.base.moments import Moments
from mklearn.checks import check_keys
from mklearn.errors import ConfigError, DataError
from mklearn.kernels.kernel_cache import kept
from mklearn.optimize.landmark_embedding import LandmarkProblem, per_feature

Array = NDArray[np.floating[Any]]

_SETTINGS = ("n", "how", "dtype", "rank_tolerance", "random_state")
# Centred traces below this, relative to the uncentred ones, are rounding: see `scale_to_centred_trace`.
_CONSTANT = 1e-12


def landmark_features(kernels: Any, landmarks: Any) -> LandmarkFeatures:
    """Return the transformer that an estimator's parameter ``landmarks`` stands for, not fitted.

    That is the number of landmarks, or a mapping with "n" and optionally other parameters of `LandmarkFeatures`. Raises
    `ConfigError` for unknown settings, or no number.
    """
    if not isinstance(landmarks, Mapping):
        return LandmarkFeatures(kernels, n=landmarks)
    check_keys(landmarks, list(_SETTINGS), "`landmarks`")
    if "n" not in landmarks:
        raise ConfigError(f"`landmarks` has no number of landmarks: give n, as in {{'n': 300, {str(landmarks)[1:]}")
    return LandmarkFeatures(kernels, **landmarks)


def fitted_features(kernels: Any, landmarks: Any, X: Any, y: ArrayLike | None = None) -> LandmarkFeatures:
    """Return that transformer, fitted to samples; estimators on the same `CachingViews` share it."""
    return kept(X, lambda: landmark_features(kernels, landmarks).fit(X, y), kernels, landmarks, y)


@dataclass(frozen=True, eq=False)
class LandmarkMoments:
    """Fitted landmark features and their moments over the training samples.

    Raises `DataError` for moments of other features, or, on use, a kernel of unit trace that is constant.
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
    def gathered(
        cls, features: LandmarkFeatures, X: Any, labels: NDArray[Any] | None, targets: Array | None = None
    ) -> Self:
        """Gather the moments of samples block by block: their features are never together in memory."""

        def gather() -> Moments:
            moments = Moments()
            for rows, block in features.transform_blocks(X):
                own = None if targets is None else targets[rows]
                moments.partial_fit(block, None if labels is None else labels[rows], targets=own)
            return moments

        return cls(features, kept(X, gather, id(features), labels, targets))

    @property
    def n_kernels(self) -> int:
        """M."""
        return len(self.features.blocks_)

    @cached_property
    def centred_traces(self) -> Array:
        """tr(K_m)/n - 1'K_m 1/n^2 of each kernel before it is scaled, (M,).

        Of the samples that have its view: others are at the mean of those.
        """
        variances = self.moments.squares / self.moments.n_samples_
        traces = np.array([variances[block].sum() for block in self.features.blocks_])
        return traces / self.features.observed_shares_

    @cached_property
    def scale(self) -> Array:
        """What each feature is multiplied by, (D,): unit centred trace for the kernels that ask for it."""
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
        """The mean of the features in blocks of kernels that are centred, else 0, (D,)."""
        return self.moments.mean * per_feature(self.features.centred_, self.features.blocks_)

    def problem(self, *, supervised: bool = True) -> LandmarkProblem:
        """Return the scatters of the scaled features: of the LDA graph, or of the PCA graph if not supervised."""
        scale = self.scale
        between = scale[:, None] * self.moments.between if supervised else None
        total = self.moments.scatter
        total *= scale
        total *= scale[:, None]
        offset = scale * (self.moments.mean - self.origin)
        return LandmarkProblem(self.moments.n_samples_, self.features.blocks_, total, between, offset)
