"""Kernel ridge regression on a fixed or learned combination of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.base.kernel_mixtures import KernelMixer
from mklearn.base.kernels_mixin import KernelsMixin, fixed_weights
from mklearn.base.landmark_input import LandmarkMoments, LandmarkRidge, fitted_features
from mklearn.base.parameters import POSITIVE, Interval, one_of
from mklearn.base.ridge_problem import RidgeProblem
from mklearn.checks import checked_numbers
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.optimize.landmark_ridge import generalised_errors, landmark_ridge
from mklearn.optimize.ridge_path import best_ridges
from mklearn.regressors.ridge_regressor import ALPHAS, RidgeRegressor, WeightSharing

Array = NDArray[np.floating[Any]]


class KernelRidge(LandmarkRidge, RidgeRegressor):
    """Kernel ridge regression of one or several targets on a combination of kernels with fixed or learned weights.

    Same model as `mklearn.classifiers.KernelRidgeClassifier`, with numbers in place of class indicators.

    Parameters
    ----------
    kernels
        As for `mklearn.subspace.KernelFDA`.
    kernel_weights : None, "uniform", int, array of shape (n_kernels,), or "learned"
        The average, one kernel, fixed weights, or weights of the smallest leave-one-out error, see
        `mklearn.optimize.leave_one_out_ridge`.
    alpha : float or sequence of float
        The ridge lambda relative to the centred trace of the combined kernel. If several are given, each target takes
        the one with its smallest leave-one-out error (with landmarks, its smallest generalised cross-validation error).
    shrinkage, weights
        For learned weights only; as for `mklearn.regressors.MultiViewRegressor`.
    landmarks : None, int or mapping
        As for `mklearn.subspace.KernelFDA`. Landmarks exclude sample weights, groups, missing values and learned
        weights.

    Attributes
    ----------
    alpha_ : array of shape (n_targets,)
        The ridge of each target.
    intercept_ : array of shape (n_targets,)
    kernel_weights_ : array of shape (n_kernels,), or (n_targets, n_kernels)
        0 for kernels that are constant over the samples.
    left_out_predictions_, left_out_r2_
        As for `mklearn.regressors.MultiViewRegressor`; not with landmarks.
    kernel_ids_, n_features_in_, landmark_features_
        As for `mklearn.subspace.KernelFDA`.

    Raises
    ------
    DataError, NotApplicable, ConfigError
        As for `mklearn.regressors.MultiViewRegressor`.

    References
    ----------
    Saunders, Gammerman, Vovk, "Ridge regression learning algorithm in dual variables", ICML 1998.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> KernelRidge(kernels=["gaussian", "linear"]).fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.4
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelsMixin._parameter_constraints,
        "kernel_weights": "no_validation",
        "alpha": [POSITIVE, "array-like"],
        "shrinkage": [Interval(Real, 0, 1, closed="both")],
        "weights": [one_of(WeightSharing)],
        **LandmarkRidge._parameter_constraints,
    }
    _needs_labels = False
    # All kernels are combined, with learned or with fixed weights alone.
    learned, least_agreement, missing_views = 1.0, 0.0, "error"

    def __init__(
        self,
        *,
        kernels: Any = "precomputed",
        kernel_weights: Any = None,
        alpha: Any = ALPHAS,
        shrinkage: float = 0.5,
        weights: WeightSharing = "shared",
        landmarks: Any = None,
    ) -> None:
        self.kernels = kernels
        self.kernel_weights = kernel_weights
        self.alpha = alpha
        self.shrinkage = shrinkage
        self.weights = weights
        self.landmarks = landmarks

    @property
    def alphas(self) -> Any:
        """Candidate ridges."""
        return np.atleast_1d(self.alpha)

    @property
    def _is_learned(self) -> bool:
        return isinstance(self.kernel_weights, str) and self.kernel_weights == "learned"

    def _fit(self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, groups: ArrayLike | None) -> None:
        self._clear_landmarks()
        if self.landmarks is None:
            super()._fit(X, y, sample_weight, groups)
            self.alpha_ = self.alphas_[1]
            return
        self._check_alphas()
        if sample_weight is not None or groups is not None:
            raise ConfigError(
                "sample weights and groups are not among the moments of landmark features: set landmarks=None, or take "
                "MultiViewRegressor(landmarks=...)"
            )
        features = fitted_features(self.kernels, self.landmarks, X)
        values = checked_numbers(self, y, features.n_samples_)
        self._learn(LandmarkMoments.gathered(features, X, None, values.reshape(len(values), -1)))
        self._one_target = values.ndim == 1  # as y was given

    def _equal_shares(self, mixer: KernelMixer, parts: Sequence[tuple[list[NDArray[Any]], RidgeProblem]]) -> Array:
        if self._is_learned:
            return super()._equal_shares(mixer, parts)
        weights = fixed_weights(self.kernel_weights, len(mixer.scales))
        shares = np.divide(weights, mixer.scales, out=np.zeros(len(weights)), where=mixer.scales > 0)
        if not shares.any():
            raise NotApplicable("all kernels of positive weight are constant over the samples")
        return np.tile(shares / shares.sum(), (len(parts), 1))

    def _learned_shares(self, kernels: list[NDArray[Any]], problem: RidgeProblem, equal: Array) -> Array:
        return super()._learned_shares(kernels, problem, equal) if self._is_learned else equal

    def _fit_moments(self, data: LandmarkMoments) -> None:
        if not data.moments.n_targets_:
            raise DataError("KernelRidge needs numbers as targets: give `targets` to Moments.partial_fit")
        if self._is_learned:
            raise ConfigError("kernel_weights='learned' needs kernels among all samples: set landmarks=None")
        self._one_target = data.moments.n_targets_ == 1
        problem, weights, variance = self._ridge_problem(data, supervised=False)
        cross, squares = data.scale[:, None] * data.moments.cross, np.diagonal(data.moments.target_scatter)
        tried = np.sort(np.asarray(self.alphas, dtype=np.float64)) * variance
        best = best_ridges(generalised_errors(problem, cross, squares, weights, tried))
        coefficients = np.empty_like(cross)
        for number in np.unique(best):
            own = best == number
            coefficients[:, own] = landmark_ridge(problem, cross[:, own], weights, tried[number])
        self._set_regression(data, coefficients, weights, data.moments.target_mean)
        self.alpha_ = tried[best] / variance

    def predict(self, X: Any) -> Array:
        """Predict the targets, shape (m,) or (m, n_targets), in their units."""
        if getattr(self, "landmark_features_", None) is None:
            return super().predict(X)
        assert self.landmark_features_ is not None
        return self._shaped(self._outputs(self.landmark_features_, X))

    def predict_interval(self, X: Any, coverage: float = 0.9) -> tuple[Array, Array]:
        """Compute prediction intervals; see `mklearn.regressors.MultiViewRegressor.predict_interval`."""
        self._refuse_landmarks("prediction intervals")
        return super().predict_interval(X, coverage)

    def contributions(self, X: Any) -> dict[str, Array]:
        """Compute what each view adds; see `mklearn.regressors.MultiViewRegressor.contributions`."""
        self._refuse_landmarks("contributions of views")
        return super().contributions(X)

    def clipped_values(self, X: Any) -> dict[str, tuple[int, int]]:
        """Count clipped values; see `mklearn.regressors.MultiViewRegressor.clipped_values`. Empty with landmarks."""
        return {} if getattr(self, "landmark_features_", None) is not None else super().clipped_values(X)

    def _refuse_landmarks(self, what: str) -> None:
        if getattr(self, "landmark_features_", None) is not None:
            raise NotApplicable(f"with landmarks there are no {what}: take MultiViewRegressor(landmarks=...)")
