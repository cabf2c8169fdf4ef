"""Scaling of features, fitted on the training samples, before kernels are computed from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike

from mklearn.checks import Array, as_float_matrix, check_choice
from mklearn.errors import DataError

FeatureScaling = Literal["none", "standard", "minmax", "unit", "rank"]


@dataclass(eq=False)
class FeatureScaler:
    """Scaling of features by what the training samples are.

    Parameters
    ----------
    scaling : {"none", "standard", "minmax", "unit", "rank"}
        - "standard": each feature minus its mean, divided by its sample standard deviation (divisor n - 1) in the
          training samples. A feature that is constant there, and every feature of a single sample, is not divided.
        - "minmax": each feature minus its least value, divided by its range in the training samples, where it is not
          constant.
        - "unit": each sample divided by its Euclidean norm; a sample of zeros stays zero.
        - "rank": each feature replaced by its quantile in the training samples, in [0, 1]. A value that occurs there
          has its mean rank, (samples below + half the samples equal) / n; between two of them the quantile is
          interpolated, outside their range it is that of the nearest. Any increasing map of a feature (a
          logarithm) leaves the ranks of the training samples the same.

    Attributes
    ----------
    n_features_in_ : int

    Raises
    ------
    ConfigError
        Another value of `scaling`.

    Notes
    -----
    Computed in double precision and returned in the dtype of the features. Ranks are exact: unlike scikit-learn's
    ``QuantileTransformer``, no subset is drawn and no grid of quantiles is laid, so that nothing depends on chance.
    """

    scaling: FeatureScaling = "none"

    def __post_init__(self) -> None:
        check_choice(self.scaling, "feature_scaling", get_args(FeatureScaling))

    def fit(self, X: ArrayLike) -> Self:
        """Fit on the features of the training samples, shape (n, d).

        Raises
        ------
        DataError
            Not a finite matrix.
        """
        features = as_float_matrix(X, "X").astype(np.float64, copy=False)
        self.n_features_in_ = features.shape[1]
        if self.scaling == "standard":
            self._origin = features.mean(axis=0)
            deviations = features.std(axis=0, ddof=1) if len(features) > 1 else np.zeros(self.n_features_in_)
            self._unit = _unless_constant(deviations, features)
        elif self.scaling == "minmax":
            ranges = np.ptp(features, axis=0)
            self._origin, self._unit = features.min(axis=0), _unless_constant(ranges, features)
        elif self.scaling == "rank":
            values, ranks = zip(*(_mean_ranks(column) for column in features.T), strict=True)
            # one feature after the other: a saved model has a file for each array
            self._values, self._ranks = np.concatenate(values), np.concatenate(ranks)
            self._cuts = np.cumsum([len(of_feature) for of_feature in values[:-1]], dtype=np.intp)
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Scale features, shape (m, d).

        Raises
        ------
        DataError
            Not fitted, not a finite matrix, or a number of features that differs from the training samples.
        """
        if not hasattr(self, "n_features_in_"):
            raise DataError("this FeatureScaler is not fitted; call fit with the training features first")
        given = as_float_matrix(X, "X")
        if given.shape[1] != self.n_features_in_:
            raise DataError(f"X has {given.shape[1]} features, but the training samples had {self.n_features_in_}")
        if self.scaling == "none":
            return given
        features = given.astype(np.float64, copy=False)
        if self.scaling in ("standard", "minmax"):
            features = (features - self._origin) / self._unit
        elif self.scaling == "unit":
            # the largest value first: squares of very small or large numbers leave the range of floating point
            largest = np.abs(features).max(axis=1, keepdims=True)
            features = features / np.where(largest > 0, largest, 1.0)
            norms = np.linalg.norm(features, axis=1, keepdims=True)
            features = features / np.where(norms > 0, norms, 1.0)
        else:
            columns = zip(
                features.T, np.split(self._values, self._cuts), np.split(self._ranks, self._cuts), strict=True
            )
            features = np.stack([np.interp(*column) for column in columns], axis=1)
        return features.astype(given.dtype, copy=False)


def _unless_constant(spreads: Array, features: Array) -> Array:
    """Return the spread of each feature, 1 where it is that of rounding errors."""
    return np.where(spreads <= 10 * np.finfo(np.float64).eps * np.abs(features).max(axis=0), 1.0, spreads)


def _mean_ranks(column: Array) -> tuple[Array, Array]:
    """Return the distinct values of a feature in increasing order, and the quantile of each."""
    values, counts = np.unique(column, return_counts=True)
    return values, (np.cumsum(counts) - counts / 2) / len(column)
