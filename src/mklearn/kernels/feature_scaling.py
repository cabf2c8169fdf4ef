"""Scaling of features, fitted on the training samples, before kernels are computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import preprocessing

from mklearn.checks import Array, as_float_matrix, check_choice
from mklearn.errors import DataError
from mklearn.kernels.features import as_features, is_sparse

FeatureScaling = Literal["none", "standard", "minmax", "unit", "rank", "log"]
# A spread is rounding error up to `_ROUNDING` units of precision of the feature's largest value, or of the view's
# largest spread, or up to `_OF_MEDIAN` times the view's median spread, which few features in large units hardly change.
_ROUNDING = 10
_OF_MEDIAN = 1e-13
# With `clip`, new samples exceed the training range by at most this share of its width. A share of 0 costs 1 to 2
# points of accuracy where a linear relation continues outside; a share of 1 costs as much for new samples of another
# source. Samples of collinear features, which are scaled as a whole, may exceed it by the second share.
_MARGIN, _MARGIN_OF_COLLINEAR = 0.5, 1.0
# Share of a sample's collinear features that are clipped rather than in range after scaling, such as dead pixels.
_SINGLE = 0.05
# Median over the features of the largest correlation with another one, above which most features are collinear, and
# number of samples below which such correlations are chance.
_COLLINEAR, _FEWEST = 0.99, 10
# Median skewness above which features count as heavy-tailed.
_SKEWED = 1.0
_LOOKED_AT = 1000


def constant_features(X: ArrayLike, views: ArrayLike | None = None) -> NDArray[np.bool_]:
    """Return a mask, (d,), of the features that are constant up to rounding errors.

    The range of such a feature is at most a few rounding errors of its largest value, or of the ranges in its view.
    For example, a feature with the values 0 and 1.5e-16 is constant if other features have ranges of about 1.
    Features in different units, with ranges such as 1e-6 and 1e5, are not constant.

    Parameters
    ----------
    X : array of shape (n, d)
    views : array of shape (d,), optional
        Index of each feature's view; None if all features are of one view.
    """
    features = np.asarray(X)
    precision = np.finfo(features.dtype).eps if features.dtype.kind == "f" else np.finfo(np.float64).eps
    low, high = features.min(axis=0).astype(np.float64), features.max(axis=0).astype(np.float64)
    return _are_rounding(high - low, np.maximum(-low, high), precision, views)


def _are_rounding(ranges: Array, largest: Array, precision: float, views: ArrayLike | None = None) -> NDArray[np.bool_]:
    constant = ranges <= _ROUNDING * precision * largest
    numbers = np.zeros(len(ranges), dtype=np.intp) if views is None else np.asarray(views)
    for number in np.unique(numbers):
        own = numbers == number
        varying = ranges[own & ~constant]
        if len(varying):
            residue = max(_ROUNDING * np.finfo(np.float64).eps * varying.max(), _OF_MEDIAN * np.median(varying))
            constant |= own & (ranges <= residue)
    return constant


class StandardScaler(preprocessing.StandardScaler):
    """scikit-learn's ``StandardScaler`` that sets features to zero if they are constant up to rounding errors.

    See `constant_features`. scikit-learn divides rounding errors by their standard deviation and does not scale
    constant features, so that a single value of a new sample can outweigh all others.
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to features of shape (n, d)."""
        super().fit(X, y, sample_weight)
        counted = np.asarray(X) if sample_weight is None else np.asarray(X)[np.asarray(sample_weight) > 0]
        self.scale_ = np.where(constant_features(counted), np.inf, self.scale_)  # type: ignore[has-type]
        return self


@dataclass(eq=False)
class FeatureScaler:
    """Scaling of features, fitted on the training samples.

    Parameters
    ----------
    scaling : {"none", "standard", "minmax", "unit", "rank", "log"}
        - "standard": each feature minus its mean, divided by its sample standard deviation (divisor n - 1) in the
          training samples.
        - "minmax": each feature minus its minimum, divided by its range in the training samples.
        - "unit": each sample divided by its Euclidean norm; a sample of zeros stays zero.
        - "rank": each feature replaced by its quantile in the training samples, in [0, 1]. A training value has its
          mean rank, (samples below + half the samples equal) / n. Quantiles are interpolated between training values,
          and the nearest one is taken outside their range. An increasing map of a feature, such as a logarithm, does
          not change the ranks of the training samples.
        - "log": log(1 + x / s) of each feature x >= 0, standardised; s is the median of its positive values in the
          training samples. Negative values of new samples count as 0.
    clip : bool
        Whether scaled features of new samples are clipped to the range of the training samples, extended on both sides
        by half its width. Ignored for "unit" and "rank", whose ranges are fixed. If most features are nearly collinear,
        as in spectra, clipping single ones would make a sample unlike any other, and a linear function with a small
        ridge has huge outputs for it. Such a sample is moved towards the mean instead, until 95 % of its features are
        in the range, extended by its whole width; then the others are clipped.

    Notes
    -----
    Features that are constant in the training samples (see `constant_features`) keep this constant value in all
    samples, which "standard", "minmax" and "log" map to 0. With "none", this needs `clip`.

    Computed in double precision and returned in the dtype of the features. Ranks are exact, whereas scikit-learn's
    ``QuantileTransformer`` computes them from a subset.
    """

    scaling: FeatureScaling = "none"
    clip: bool = False

    def __post_init__(self) -> None:
        check_choice(self.scaling, "feature_scaling", get_args(FeatureScaling))

    def fit(self, X: ArrayLike, views: ArrayLike | None = None) -> Self:
        """Fit on features of shape (n, d), with `views` as for `constant_features`.

        Raises `DataError` if a feature is not finite or, for "log", negative.
        """
        given = as_float_matrix(X, "X")
        self.n_features_in_ = given.shape[1]
        if self._changes_nothing:
            return self
        self._constant, self._values = constant_features(given, views), given[0].astype(np.float64)
        features = self._held(given)
        if self.scaling == "log":
            if not _are_nonnegative(features):
                raise DataError("feature_scaling 'log' takes features >= 0, and some are negative; use 'rank'")
            self._small = np.array([_positive_median(column) for column in features.T])
            features = _log(features, self._small)
        if self.scaling in ("standard", "log"):
            deviations = features.std(axis=0, ddof=1) if len(features) > 1 else np.ones(self.n_features_in_)
            self._origin = features.mean(axis=0)
            self._unit = np.where(self._constant | (deviations == 0), np.inf, deviations)  # 0: squares underflow
        elif self.scaling == "minmax":
            self._origin = features.min(axis=0)
            self._unit = np.where(self._constant, np.inf, np.ptp(features, axis=0))
        elif self.scaling == "rank":
            values, counts = zip(*(np.unique(column, return_counts=True) for column in features.T), strict=True)
            ranks = [(np.cumsum(of_feature) - of_feature / 2) / len(features) for of_feature in counts]
            # concatenated, since a saved model has one file for each array
            self._values_in_order, self._ranks = np.concatenate(values), np.concatenate(ranks)
            self._cuts = np.cumsum([len(of_feature) for of_feature in values[:-1]], dtype=np.intp)
        if self._clips:
            scaled = self._scaled(given)
            self._centre = scaled.mean(axis=0) if _are_collinear(scaled[:, ~self._constant]) else None
            margin = _MARGIN if self._centre is None else _MARGIN_OF_COLLINEAR
            self._low, self._high = _widened(scaled.min(axis=0), scaled.max(axis=0), margin)
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Scale features, (m, d); raise `DataError` if they are not finite or their number differs from ``fit``."""
        if not hasattr(self, "n_features_in_"):
            raise DataError("this FeatureScaler is not fitted; call fit with the training features first")
        given = as_float_matrix(X, "X")
        if given.shape[1] != self.n_features_in_:
            raise DataError(f"X has {given.shape[1]} features, but the training samples had {self.n_features_in_}")
        if self._changes_nothing:
            return given
        scaled = self._scaled(given)
        if self._clips:
            clipped = np.clip(scaled, self._low, self._high)
            if (centre := self._centre) is not None:
                shares = np.divide(clipped - centre, scaled - centre, out=np.ones_like(scaled), where=scaled != clipped)
                share = np.quantile(shares, _SINGLE, axis=1, keepdims=True)
                clipped = np.clip(centre + share * (scaled - centre), self._low, self._high)
            scaled = clipped
        return scaled.astype(given.dtype, copy=False)

    @property
    def _clips(self) -> bool:
        return self.clip and self.scaling not in ("unit", "rank")

    @property
    def _changes_nothing(self) -> bool:
        return self.scaling == "none" and not self.clip

    def _held(self, given: Array) -> Array:
        """Return features in float64, with constant features set to their value in the training samples."""
        features: Array = given.astype(np.float64, copy=False)
        return np.where(self._constant, self._values, features) if self._constant.any() else features

    def _scaled(self, given: Array) -> Array:
        features = self._held(given)
        if self.scaling == "log":
            features = _log(features, self._small)
        if self.scaling in ("standard", "minmax", "log"):
            features = (features - self._origin) / self._unit
        elif self.scaling == "unit":
            # divided by the largest value first: squares of very small or large numbers under- or overflow
            largest = np.abs(features).max(axis=1, keepdims=True)
            features = features / np.where(largest > 0, largest, 1.0)
            norms = np.linalg.norm(features, axis=1, keepdims=True)
            features = features / np.where(norms > 0, norms, 1.0)
        elif self.scaling == "rank":
            columns = zip(
                features.T, np.split(self._values_in_order, self._cuts), np.split(self._ranks, self._cuts), strict=True
            )
            features = np.stack([np.interp(*column) for column in columns], axis=1)
        return features


@dataclass(eq=False)
class SparseScaler:
    """Scaling of sparse features that keeps zeros: `FeatureScaler` with clipping, without the shift.

    Ranges include zero. Features that are constant in the training samples become zero, whatever the scaling.

    Parameters
    ----------
    scaling : {"none", "standard", "unit", "log"}
    """

    scaling: FeatureScaling = "none"
    clip: ClassVar[bool] = True

    def fit(self, X: Any) -> Self:
        """Fit on the features of the training samples, a sparse matrix of shape (n, d)."""
        check_choice(self.scaling, "feature_scaling of sparse features", ("none", "standard", "unit", "log"))
        table = as_features(X, "X")
        low, high = (np.asarray(values.toarray(), dtype=np.float64).ravel() for values in (table.min(0), table.max(0)))
        constant = _are_rounding(high - low, np.maximum(-low, high), float(np.finfo(table.dtype).eps))
        self._low, self._high = _widened(np.minimum(low, 0.0), np.maximum(high, 0.0))
        if self.scaling == "log":
            columns = table.tocsc()
            stored = np.split(columns.data.astype(np.float64), columns.indptr[1:-1])
            self._small = np.array([_positive_median(column) for column in stored])
        self._factor = np.where(constant, 0.0, 1.0)
        if self.scaling in ("standard", "log"):
            self._factor /= preprocessing.StandardScaler(with_mean=False).fit(self._scaled(table)).scale_
        return self

    def transform(self, X: Any) -> Any:
        """Scale features, shape (m, d)."""
        scaled = self._scaled(as_features(X, "X"))
        return preprocessing.normalize(scaled, copy=False) if self.scaling == "unit" else scaled

    def _scaled(self, table: Any) -> Any:
        found, columns = table.copy(), table.indices
        values = found.data.astype(np.float64)
        if self.scaling != "unit":
            values = np.clip(values, self._low[columns], self._high[columns])
        if self.scaling == "log":
            values = _log(values, self._small[columns])
        found.data = (values * self._factor[columns]).astype(table.dtype)
        return found


def is_heavy_tailed(X: Any) -> bool:
    """Return whether the scaling "log" suits features: they are nonnegative and most are right-skewed.

    Binary features are ignored. The table may be sparse or contain NaN. If there are many features, only a subset is
    checked.
    """
    table = X.tocsc() if is_sparse(X) else X
    if not _are_nonnegative(table.data if is_sparse(X) else table):
        return False
    some = table[:, :: 1 + table.shape[1] // _LOOKED_AT]
    features = np.asarray(some.toarray() if is_sparse(X) else some, dtype=np.float64)
    features = features[:, ~np.isnan(features).all(axis=0)]
    several = ((features > np.nanmin(features, axis=0)) & (features < np.nanmax(features, axis=0))).any(axis=0)
    if not several.any():
        return False
    distances = features[:, several] - np.nanmean(features[:, several], axis=0)
    variances, thirds = (np.nanmean(distances**power, axis=0) for power in (2, 3))
    return bool(np.median(thirds / variances**1.5) > _SKEWED)


def _are_nonnegative(values: Any) -> bool:
    """Return whether there are values and none is negative beyond rounding errors."""
    rounding = _ROUNDING * np.finfo(np.float64).eps
    return values.size > 0 and bool(np.nanmin(values) >= -rounding * np.nanmax(values))


def _log(values: Array, small: Array) -> Array:
    return np.asarray(np.log1p(np.maximum(values, 0.0) / small))


def _widened(low: Array, high: Array, margin: float = _MARGIN) -> tuple[Array, Array]:
    """Return the ends of ranges, extended on both sides."""
    return low - margin * (high - low), high + margin * (high - low)


def _positive_median(column: Array) -> float:
    """Return the median of the positive values; 1 if there are none."""
    positive = column[column > 0]
    return float(np.median(positive)) if len(positive) else 1.0


def _are_collinear(features: Array) -> bool:
    """Return whether most features are almost a multiple of another one, plus a constant.

    Features that have one value in most samples are not, and outliers count as three median deviations: single samples
    make no collinear features. If there are many features, only a subset is compared.
    """
    some = features[:, :: 1 + features.shape[1] // _LOOKED_AT]
    deviations = some - np.median(some, axis=0)
    typical = np.median(np.abs(deviations), axis=0)
    if len(features) < _FEWEST or np.count_nonzero(typical) < max(2, len(typical) / 2):
        return False
    bounded = np.clip(deviations[:, typical > 0] / typical[typical > 0], -3.0, 3.0)
    correlations = np.abs(np.corrcoef(bounded, rowvar=False))
    np.fill_diagonal(correlations, 0.0)
    return bool(np.median(correlations.max(axis=1)) > _COLLINEAR)
