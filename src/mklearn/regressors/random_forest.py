"""A random forest on features side by side, a baseline without kernels."""

from __future__ import annotations

from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.preprocessing import StandardScaler

from mklearn.base.parameters import SHARE, at_least, constrained


@constrained(n_estimators=[at_least(1)], max_features=[SHARE])
def random_forest_regressor(
    n_estimators: int = 300, max_features: float = 1 / 3, random_state: int = 0
) -> TransformedTargetRegressor:
    """Build a random forest for a target of mean 0 and variance 1: trees of scikit-learn do not split below 1e-16.

    Parameters
    ----------
    n_estimators : int
        Number of trees, whose predictions are averaged.
    max_features : float in (0, 1]
        Share of the features that a node of a tree is split by the best of; a third as Breiman proposes.
    random_state : int
        Seed of the draws.
    """
    forest = RandomForestRegressor(n_estimators, max_features=max_features, random_state=random_state)
    return TransformedTargetRegressor(forest, transformer=StandardScaler())
