"""Baselines for survival times: the Kaplan-Meier estimate, and models of scikit-survival on features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from mklearn.base.fit_context import aligned
from mklearn.base.parameters import Positive, PositiveInt, Share, constrained
from mklearn.checks import as_float_array
from mklearn.errors import DataError, MissingExtra, NotApplicable, SolverFailed
from mklearn.estimator_input import checked_array
from mklearn.extras import require
from mklearn.kernels.feature_scaling import StandardScaler
from mklearn.survival.kaplan_meier import KaplanMeier
from mklearn.survival.times import times_and_events

Array = NDArray[np.float64]


class KaplanMeierSurvival(BaseEstimator):
    """Kaplan-Meier estimate of the training samples, the same for every sample.

    Attributes
    ----------
    curve_ : :class:`mklearn.survival.kaplan_meier.KaplanMeier`
    times_ : array of shape (n_times,)
        Times of events.
    n_features_in_ : int

    References
    ----------
    Kaplan, Meier, "Nonparametric estimation from incomplete observations", JASA 53, 1958.
    """

    @aligned
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Fit the estimate to times and events, see `times_and_events`; features, (n, d), are checked but not used."""
        n = len(checked_array(self, X, reset=True))
        time, event = times_and_events(y)
        if len(time) != n:
            raise DataError(f"y has {len(time)} times, and X has {n} samples")
        self.curve_ = KaplanMeier.of(time, event)
        self.times_ = self.curve_.times
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Return the risk 0 for each of the m samples, (m,)."""
        check_is_fitted(self)
        return np.zeros(len(checked_array(self, X, reset=False)))

    def predict_survival_function(self, X: ArrayLike, times: ArrayLike) -> Array:
        """Return the probability of surviving each time, (m, n_times)."""
        return np.tile(self.curve_.at(as_float_array(times, "times", ndim=np.ndim(times))), (len(self.predict(X)), 1))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = tags.target_tags.positive_only = True
        return tags


class SurvivalModel(BaseEstimator):
    """An estimator of scikit-survival for times in the forms of `mklearn.survival.times.times_and_events`.

    Parameters
    ----------
    model : estimator of scikit-survival
        It is cloned, and fitted to features of shape (n, d) and a structured array.
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: ArrayLike, y: Any) -> Self:
        """Fit the model to features, (n, d), and times; raise SolverFailed if its solver does."""
        time, event = times_and_events(y)
        target = np.array(list(zip(event, time, strict=True)), dtype=[("event", bool), ("time", np.float64)])
        try:
            self.model_ = clone(self.model).fit(X, target)
        except ArithmeticError as error:  # a small penalty can make the coefficients diverge
            raise SolverFailed(f"{type(self.model).__name__}: {error}") from error
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Compute the risk of each sample, (m,)."""
        return np.asarray(self.model_.predict(X), dtype=np.float64)

    def predict_survival_function(self, X: ArrayLike, times: ArrayLike) -> Array:
        """Compute the probability of surviving each time, (m, n_times).

        Times outside the range of the training samples have the value at its end.
        """
        functions = self.model_.predict_survival_function(X)
        places = np.clip(as_float_array(times, "times", ndim=np.ndim(times)), *functions[0].domain)
        return np.stack([function(places) for function in functions])


def _require_scikit_survival() -> None:
    """Raise NotApplicable without the package, so that a study goes on with its other methods."""
    try:
        require("sksurv")
    except MissingExtra as error:
        raise NotApplicable(str(error)) from error


@constrained()
def cox_ridge(alpha: Positive = 100.0) -> Pipeline:
    """Build Cox's proportional hazards model with a ridge penalty, on standardised features.

    The features are rotated to their principal components, which changes no prediction and makes thousands of features
    as fast as there are samples.

    Parameters
    ----------
    alpha : float
        Weight of half the squared norm of the coefficients, beside the sum of the samples' log likelihood.

    References
    ----------
    Verweij, Van Houwelingen, "Penalized likelihood in Cox regression", Statistics in Medicine 13, 1994.
    """
    _require_scikit_survival()
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    return make_pipeline(StandardScaler(), PCA(), SurvivalModel(CoxPHSurvivalAnalysis(alpha=alpha)))


@constrained()
def cox_elastic_net(alpha: Positive = 0.05, l1_ratio: Share = 0.5) -> Pipeline:
    """Build Cox's proportional hazards model with an elastic net penalty, on standardised features.

    It is fitted for decreasing penalties, each from the solution before: from zero, coordinate descent may end far from
    the solution where features are many and the penalty is small.

    Parameters
    ----------
    alpha : float
        Weight of the penalty, as in glmnet: beside the mean log likelihood of the samples.
    l1_ratio : float in (0, 1]
        Share of the l1 norm in the penalty; the rest is the squared l2 norm.

    References
    ----------
    Simon, Friedman, Hastie, Tibshirani, "Regularization paths for Cox's proportional hazards model via coordinate
    descent", Journal of Statistical Software 39, 2011.
    """
    _require_scikit_survival()
    from sksurv.linear_model import CoxnetSurvivalAnalysis

    path = np.geomspace(max(1.0, alpha), alpha, 20)
    net = CoxnetSurvivalAnalysis(alphas=path, l1_ratio=l1_ratio, fit_baseline_model=True)
    return make_pipeline(StandardScaler(), SurvivalModel(net))


@constrained()
def random_survival_forest(
    n_estimators: PositiveInt = 300, min_samples_leaf: PositiveInt = 3, random_state: int = 0
) -> SurvivalModel:
    """Build a random survival forest.

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    min_samples_leaf : int
        Smallest number of samples in a leaf.
    random_state : int
        Seed of the draws.

    References
    ----------
    Ishwaran, Kogalur, Blackstone, Lauer, "Random survival forests", Annals of Applied Statistics 2, 2008.
    """
    _require_scikit_survival()
    from sksurv.ensemble import RandomSurvivalForest

    forest = RandomSurvivalForest(
        n_estimators, min_samples_leaf=min_samples_leaf, max_features="sqrt", random_state=random_state
    )
    return SurvivalModel(forest)
