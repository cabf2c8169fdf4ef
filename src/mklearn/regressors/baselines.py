"""Baselines on features: scikit-learn's regressors on standardised features and targets."""

from __future__ import annotations

import numpy as np
from sklearn import preprocessing
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import ElasticNet, RidgeCV
from sklearn.pipeline import Pipeline, make_pipeline

from mklearn.base.parameters import Positive, PositiveInt, Share, constrained
from mklearn.kernels.feature_scaling import StandardScaler

ALPHAS = np.logspace(-3, 6, 19)
"""Candidate ridges for standardised features, from negligible to more than the number of features."""


def mean_regressor() -> DummyRegressor:
    """Build a regressor that predicts the mean of the training samples."""
    return DummyRegressor()


def ridge() -> Pipeline:
    """Build ridge regression on features of mean 0 and variance 1, with the ridge of smallest leave-one-out error."""
    return make_pipeline(StandardScaler(), RidgeCV(alphas=ALPHAS))


@constrained()
def elastic_net(alpha: Positive = 0.1, l1_ratio: Share = 0.5) -> Pipeline:
    """Build an elastic net on features and a target scaled to mean 0 and variance 1.

    Parameters
    ----------
    alpha : float
        Weight of the penalty for a target of variance 1, as in :class:`sklearn.linear_model.ElasticNet`.
    l1_ratio : float in (0, 1]
        Share of the l1 norm in the penalty; the rest is the squared l2 norm.
    """
    net = ElasticNet(alpha=alpha, l1_ratio=l1_ratio, max_iter=5000)
    return make_pipeline(StandardScaler(), TransformedTargetRegressor(net, transformer=preprocessing.StandardScaler()))


@constrained()
def random_forest_regressor(
    n_estimators: PositiveInt = 300, max_features: Share = 1 / 3, random_state: int = 0
) -> TransformedTargetRegressor:
    """Build a random forest for a target scaled to mean 0 and variance 1.

    The target is scaled because scikit-learn's trees do not split nodes with a variance below 1e-16.

    Parameters
    ----------
    n_estimators : int
        Number of trees, whose predictions are averaged.
    max_features : float in (0, 1]
        Share of the features tried at each split; a third, as Breiman proposes.
    random_state : int
        Seed of the draws.
    """
    forest = RandomForestRegressor(n_estimators, max_features=max_features, random_state=random_state)
    return TransformedTargetRegressor(forest, transformer=preprocessing.StandardScaler())


@constrained()
def gradient_boosting_regressor(
    learning_rate: Positive = 0.1, max_iter: PositiveInt = 100, random_state: int = 0
) -> HistGradientBoostingRegressor:
    """Build a gradient boosting regressor.

    Parameters
    ----------
    learning_rate : float
        Factor by which the output of each tree is multiplied.
    max_iter : int
        Number of trees, each fitted to the residuals of the trees before it.
    random_state : int
        Seed of the draws.
    """
    return HistGradientBoostingRegressor(learning_rate=learning_rate, max_iter=max_iter, random_state=random_state)
