"""Survival from several views: kernel ridge regression on pseudo-observations."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.base.fit_context import aligned
from mklearn.base.parameters import Positive, parameters
from mklearn.checks import as_float_array
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.estimator_input import nonnegative_weights
from mklearn.regressors.multi_view import MultiViewRegressor
from mklearn.survival.kaplan_meier import pseudo_restricted_means, pseudo_survival
from mklearn.survival.metrics import harrell_c
from mklearn.survival.times import times_and_events

Array = NDArray[np.floating[Any]]
MOST_TIMES = 100
"""Largest number of times at which survival functions are estimated."""


@parameters
class MultiViewSurvival(MultiViewRegressor):
    """Multi-view regression of times that may be censored, by pseudo-observations.

    The target of sample i is ``n R - (n - 1) R_{-i}``: R is the restricted mean survival time, the area under the
    Kaplan-Meier estimate of all n training samples up to a horizon, and R_{-i} the area without sample i. Its
    expectation given the features is the expected time up to the horizon, if censoring does not depend on the features.
    Without censoring it is ``min(time, horizon)``. Everything else is `mklearn.regressors.MultiViewRegressor`: the
    dictionary of kernels, their weights, ridges by closed-form leave-one-out, missing views, groups, landmarks.

    Where censoring depends on the features (patients of one hospital leave the study early), predictions are biased:
    fit the parts with different censoring apart.

    Parameters
    ----------
    horizon : float, optional
        Time up to which the mean is restricted; it must be after the first event. By default the 90 % quantile of the
        times of events or, if that is the first event, the largest time. As in scikit-survival, nothing is
        extrapolated: a horizon above the largest time of the training samples, censored or not, is refused.
    times : sequence of float, optional
        Times in ascending order. The targets are then the pseudo-observations of the survival at each of them, with
        shared kernel weights, in place of the restricted mean; ``horizon`` is the last of them, with the same limit.
    kernels, learned, shrinkage, least_agreement, weight_samples, n_kernels, missing_views, impute, \
random_state, landmarks, alphas
        As for `mklearn.regressors.MultiViewRegressor`.

    Attributes
    ----------
    horizon_ : float
    times_ : array of shape (n_times,)
        Times at which survival functions are estimated: ``times``, or up to 100 times of events until the horizon.
    pseudo_observations_ : array of shape (n,) or (n, n_times)
        Targets of the regression.
    survival_line_ : array of shape (2, n_times)
        Intercept and slope of the survival at each time as a function of the predicted mean; only without ``times``.

    The other attributes are those of `mklearn.regressors.MultiViewRegressor`, for the pseudo-observations.

    Raises
    ------
    DataError
        Times that are not positive, events that are not 0 or 1, or fewer than two events; and as for the regressor.
    NotApplicable
        The horizon is before the first event or above the largest time.
    ConfigError
        An invalid kernel, or times that are not positive and ascending; scikit-learn's InvalidParameterError, a
        ValueError, for another invalid parameter.

    References
    ----------
    Andersen, Hansen, Klein, "Regression analysis of restricted mean survival time based on pseudo-observations",
    Lifetime Data Analysis 10, 2004. Andersen, Perme, "Pseudo-observations in survival analysis", Statistical Methods in
    Medical Research 19, 2010. Deviation: they fit generalised linear models, this class kernel ridge regression.

    Notes
    -----
    Sample weights are those of the regression. The Kaplan-Meier estimate counts every sample of positive weight once.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> views = {"clinical": rng.normal(size=(200, 3)), "gene": rng.normal(size=(200, 20))}
    >>> death = rng.exponential(np.exp(-views["clinical"][:, 0]))
    >>> censored = rng.exponential(2.0, size=200)
    >>> y = {"time": np.minimum(death, censored), "event": death <= censored}
    >>> model = MultiViewSurvival().fit(views, y)
    >>> model.score(views, y) > 0.7
    True
    >>> model.predict_survival_function(views).shape == (200, len(model.times_))
    True
    """

    horizon: Positive | None = None
    times: Annotated[Any, None, "array-like"] = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        tags.estimator_type = None  # a risk score is no number of the target's unit
        return tags

    def _fit(self, X: Any, y: Any, sample_weight: ArrayLike | None, groups: ArrayLike | None) -> None:
        time, event = times_and_events(y, fewest_events=2)
        weights = nonnegative_weights(sample_weight, len(time))
        used = slice(None) if weights is None else weights > 0
        time_used, event_used = time[used], event[used]
        ends, largest = np.unique(time_used[event_used]), time_used.max()
        first = ends[0]
        if self.times is None:
            usual = np.quantile(time_used[event_used], 0.9)
            self.horizon_ = float(self.horizon or (usual if usual > first else largest))
            ends = ends[ends <= self.horizon_]
            self.times_ = ends[np.unique(np.linspace(0, len(ends) - 1, min(len(ends), MOST_TIMES)).astype(int))]
            values = pseudo_restricted_means(time_used, event_used, self.horizon_)
        else:
            self.times_ = self._checked_times()
            self.horizon_ = float(self.times_[-1])
            values = pseudo_survival(time_used, event_used, self.times_)
        if not first <= self.horizon_ <= largest or (self.times is None and self.horizon_ == first):
            name, start = ("horizon", "after") if self.times is None else ("last of times", "from")
            raise NotApplicable(
                f"the {name} is {self.horizon_:g}: expected a time {start} the first event, {first:g}, and up to the "
                f"largest time of the training samples, {largest:g}"
            )
        self.pseudo_observations_ = np.full((len(time), *values.shape[1:]), np.nan)
        self.pseudo_observations_[used] = values
        super()._fit(X, self.pseudo_observations_, sample_weight, groups)
        if self.times is None:
            survival = pseudo_survival(time_used, event_used, self.times_)
            own = None if weights is None else weights[weights > 0]
            self.survival_line_ = _lines(self.left_out_predictions_[used], survival, own)

    def _checked_times(self) -> Array:
        try:
            times = np.asarray(self.times, dtype=np.float64)
        except (TypeError, ValueError):
            times = np.empty((0, 0))
        if times.ndim != 1 or not len(times) or not (np.diff(times, prepend=0.0) > 0).all() or self.horizon is not None:
            raise ConfigError(f"times={self.times!r}: expected positive numbers in ascending order, without a horizon")
        return times

    def predict(self, X: Any) -> Array:
        """Compute the risk of each sample, (m,), higher for an event that is expected earlier.

        It is the negative restricted mean survival time: ``-predict(X)`` is the expected time up to the horizon, in the
        unit of the times. With ``times`` it is the area under the survival at these times. NaN for samples that lack
        every view.
        """
        outputs = super().predict(X)
        if self.times is None:
            return -outputs
        before = np.concatenate([np.ones((len(outputs), 1)), outputs[:, :-1]], axis=1)  # survival up to each time
        return -np.diff(self.times_, prepend=0.0) @ before.T

    def predict_survival_function(self, X: Any, times: ArrayLike | None = None) -> Array:
        """Compute the probability of surviving each time, (m, n_times), which falls with the time.

        Without the parameter ``times``, the survival at each of ``times_`` is a line of the predicted mean, fitted by
        least squares to the pseudo-observations of the survival and the left-out predictions of the training samples;
        a mean that predicts nothing gives the Kaplan-Meier estimate. Values are limited to 0 and 1, and a function that
        rises is replaced by the average of its running minimum and of the running maximum from its end.

        Parameters
        ----------
        X : as for ``predict``
        times : array of shape (n_times,), optional
            Times of the values: a step function, with steps at ``times_``. By default ``times_``.
        """
        outputs = super().predict(X)
        if self.times is None:
            outputs = self.survival_line_[0] + outputs[:, None] * self.survival_line_[1]
        steps = np.clip(outputs, 0.0, 1.0)
        falling = np.minimum.accumulate(steps, axis=1)
        rising = np.maximum.accumulate(steps[:, ::-1], axis=1)[:, ::-1]
        return at_times((falling + rising) / 2.0, self.times_, self.times_ if times is None else times)

    @aligned
    def score(self, X: Any, y: Any, sample_weight: None = None) -> float:
        """Compute Harrell's C of the risks; ``sample_weight`` is not supported and has to be None."""
        if sample_weight is not None:
            raise ConfigError("sample_weight has no meaning for Harrell's C: leave it out")
        risks = self.predict(X)
        if np.isnan(risks).any():
            raise DataError(f"{np.isnan(risks).sum()} samples lack every view, and have no risk: leave them out")
        return harrell_c(y, risks)

    @property
    def predict_interval(self) -> Any:
        """Raise AttributeError: intervals of the regression would be intervals of pseudo-observations."""
        raise AttributeError("MultiViewSurvival has no prediction intervals; use predict_survival_function")


def at_times(values: Array, steps: Array, times: ArrayLike) -> Array:
    """Evaluate step functions, (m, n_steps), that are 1 before the first step, at other times: (m, n_times)."""
    padded = np.concatenate([np.ones((len(values), 1)), values], axis=1)
    return padded[:, np.searchsorted(steps, as_float_array(times, "times", ndim=np.ndim(times)), side="right")]


def _lines(means: NDArray[Any], survival: NDArray[Any], weights: NDArray[Any] | None) -> Array:
    """Fit the survival at each time, (n, n_times), as a line of the predicted means, (n,), by least squares."""
    known = ~np.isnan(means)
    means, survival, shares = means[known], survival[known], np.ones(int(known.sum()))
    shares = shares if weights is None else weights[known]
    shares = shares / shares.sum()
    centre, level = shares @ means, shares @ survival
    variance = shares @ (means - centre) ** 2
    slopes = (shares * (means - centre)) @ survival / variance if variance > 0 else np.zeros(survival.shape[1])
    slopes = np.maximum(slopes, 0.0)  # a longer expected time never lowers the survival
    return np.stack([level - slopes * centre, slopes])
