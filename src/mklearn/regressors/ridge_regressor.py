"""Base of the ridge regressors, with predictions for left-out training samples and prediction intervals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin

from mklearn.base.fit_context import aligned
from mklearn.base.kernel_source import n_samples
from mklearn.base.multi_view_ridge import MultiViewRidge
from mklearn.base.ridge_problem import RidgeProblem
from mklearn.errors import DataError, warn
from mklearn.estimator_input import checked_numbers, nonnegative_weights
from mklearn.optimize.calibration import jackknife_radius, variance_factor
from mklearn.optimize.left_out import group_codes

Array = NDArray[np.floating[Any]]
ALPHAS = tuple(10.0 ** (power / 2) for power in range(-8, 7))


class SamplesWithoutTargetWarning(UserWarning):
    """Warning that training samples lack a value of a target."""


class RidgeRegressor(RegressorMixin, MultiViewRidge):
    """Base of ridge regressors on several kernels, with closed-form predictions for left-out training samples.

    Targets are standardised, and each has its own ridge. Predictions have the shape in which targets were given: (m,)
    or (m, n_targets).
    """

    _tied_parameters = 0.0
    score = aligned(RegressorMixin.score)

    left_out_predictions_: Array
    left_out_r2_: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags

    def _fit(self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, groups: ArrayLike | None) -> None:
        samples = self._checked_samples(X)
        n = n_samples(samples)
        values = checked_numbers(self, y, n)
        weights = nonnegative_weights(self._known_weights(samples, sample_weight, groups), n)
        problem = RidgeProblem.of(values.reshape(n, -1), weights, groups)
        if len(problem.rows) < 2:
            raise DataError("fewer than two samples of positive weight have values of all targets")
        if n_lacking := (n if weights is None else np.count_nonzero(weights)) - len(problem.rows):
            warn(f"{n_lacking} of {n} samples lack a target: nothing is learned from them", SamplesWithoutTargetWarning)
        targets, mean, scale = standardised(problem.targets, problem.weights)
        problem = replace(
            problem, targets=targets, units=scale, each_target=True, tied_parameters=self._tied_parameters
        )
        fits = self._fit_problem(samples, problem)
        of_used, centre = fits.left_out.sum(axis=0) * scale, self.intercept_ * scale
        self.intercept_ = centre + mean
        left_out = np.full((n, len(scale)), np.nan)
        left_out[problem.rows] = of_used + mean
        self._error_groups_ = None if groups is None else group_codes(groups, n)
        self._variances_, self._variance_intercept_ = np.full((n, 1), np.nan), fits.variance_intercept
        self._variances_[problem.rows], rows = fits.variance, fits.mixer.problem.rows
        of_variance = [(mixture, mixture.of_variance[rows]) for mixture in fits.mixtures]
        self._variance_products = self._products_of(of_variance, fits.mixer)
        self._set_views(fits, np.append(of_used - centre, fits.variance - fits.variance_intercept, axis=1), samples)
        self._one_target, columns = values.ndim == 1, values.reshape(n, -1)
        self._errors_, self._error_weights_ = columns - left_out, weights
        self.left_out_predictions_ = self._shaped(left_out)
        fixed = self._variances_[:, 0], weights, self._error_groups_
        self._factors_ = np.array([variance_factor(errors, *fixed) for errors in self._errors_.T])
        scores = [_r2(y, errors, weights) for y, errors in zip(columns.T, self._errors_.T, strict=True)]
        self.left_out_r2_ = scores[0] if self._one_target else np.array(scores)

    def _weighing_targets(self, problem: RidgeProblem) -> Array:
        return standardised(problem.targets, problem.weights)[0]

    def _shaped(self, outputs: Array) -> Array:
        return outputs[:, 0] if self._one_target else outputs

    def predict(self, X: Any) -> Array:
        """Predict the targets, shape (m,) or (m, n_targets), in their units; NaN for samples that lack every view."""
        return self._shaped(self._outputs_of(X))

    def predict_interval(self, X: Any, coverage: float = 0.9) -> tuple[Array, Array]:
        """Compute prediction intervals, which contain the target of a new sample with a given probability.

        Half of the width is ``q s(x)``, where ``s(x) = (1 + c v(x))^(1/2)`` is larger for samples that are unlike most
        training samples; outside their range, where features are clipped, it says little. v(x) is the posterior
        variance of a Gaussian process, the mean over all regressions and targets: in closed form for left-out training
        samples, and predicted from these by the same regressions for new samples, at least 0
        (`mklearn.optimize.ridge_path`). c is the `variance_factor` of each target, and q the `jackknife_radius` of the
        left-out errors e_i / s_i (`mklearn.optimize.calibration`).

        For samples that lack views, a second q comes from training samples with at least the same views, predicted as
        if they had no others (`mklearn.base.left_out_views.LeftOutPatterns`), or, with kernels other than the
        dictionary, from training samples with at most the same views; the larger q counts. The probability is an
        average over samples like the training samples or, with ``groups``, over samples of new groups. A coverage of
        0.9 needs at least nine groups. The actual coverage can be slightly too small, because ridges and kernel weights
        are chosen with all training samples.

        Parameters
        ----------
        X : as for ``predict``
        coverage : float
            Above 0, below 1.

        Returns
        -------
        lower, upper : arrays of shape (m,) or (m, n_targets)
            Infinite where there are too few training samples, or groups, for this coverage; NaN for samples that lack
            every view.

        References
        ----------
        Papadopoulos, Vovk, Gammerman, "Regression conformal prediction with nearest neighbours", JAIR 40, 2011 (errors
        divided by a scale that grows with the distance). Deviation: theirs are distances to nearest neighbours.
        """
        predicted, scales = self._outputs_of(X), self._scales(self._variances_of(X))
        half = scales * self._radii(self._errors_, self._variances_, slice(None), coverage)
        for lacking, outputs, used in self._without_views(X):
            rows = self._used_[used]
            values = self._errors_[rows] + self.left_out_predictions_.reshape(self._errors_.shape)[rows]
            errors = values - outputs[:, :-1] - self.intercept_
            radii = self._radii(errors, outputs[:, -1:] + self._variance_intercept_, rows, coverage)
            half[lacking] = np.maximum(half[lacking], scales[lacking] * radii)
        return self._shaped(predicted - half), self._shaped(predicted + half)

    def _variances_of(self, X: Any) -> Array:
        """Predict the variances of new samples, (m, 1)."""
        products = [sum(self._applied(self._variance_products, block)) for block in self._blocks(X)]
        return self._variance_intercept_ + np.concatenate(products)

    def _scales(self, variances: Array) -> Array:
        """Return the scales of the errors, (m, n_targets), of samples with given variances, (m, 1)."""
        return np.sqrt(1.0 + np.maximum(variances, 0.0) * self._factors_)

    def _radii(self, errors: Array, variances: Array, rows: Any, coverage: float) -> Array:
        """Return the radius of scaled errors for each target, given errors and variances of left-out samples."""
        weights, groups = (None if each is None else each[rows] for each in (self._error_weights_, self._error_groups_))
        scaled = errors / self._scales(variances)
        return np.array([jackknife_radius(each, coverage, weights, groups) for each in scaled.T])


def standardised(values: Array, weights: Array | None) -> tuple[Array, Array, Array]:
    """Return standardised targets (n, c), and their means and standard deviations, (c,).

    A constant target becomes zeros with deviation 1, so that ridge regression returns its mean for every kernel.
    """
    shares = np.ones(values.shape) * (1.0 if weights is None else weights[:, None])
    shares /= shares.sum(axis=0)
    sizes = np.abs(values).max(axis=0)
    units = np.where(sizes > 0, sizes, 1.0)
    mean = (shares * (values / units)).sum(axis=0)
    deviations = values / units - mean
    scale = np.sqrt((shares * deviations**2).sum(axis=0))
    constant = scale <= 10 * np.finfo(np.float64).eps
    deviations[:, constant] = 0.0
    scale[constant] = 1.0
    return deviations / scale, mean * units, scale * units


def _r2(values: Array, errors: Array, weights: Array | None) -> float:
    """Return R^2 of left-out predictions; NaN for a target that is constant."""
    known = ~np.isnan(errors)
    own = np.ones(int(known.sum())) if weights is None else weights[known]
    values, errors = values[known], errors[known]
    deviations = values - np.average(values, weights=own)
    total = float(own @ deviations**2)
    noise = 10 * np.finfo(np.float64).eps * float(np.abs(values[own > 0]).max(initial=0.0))
    return 1.0 - float(own @ errors**2) / total if total > noise**2 * own.sum() else float("nan")
