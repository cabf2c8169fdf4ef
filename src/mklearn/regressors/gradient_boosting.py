"""Gradient boosting on features side by side, a baseline without kernels."""

from __future__ import annotations

from sklearn.ensemble import HistGradientBoostingRegressor

from mklearn.base.parameters import POSITIVE, at_least, constrained


@constrained(learning_rate=[POSITIVE], max_iter=[at_least(1)])
def gradient_boosting_regressor(
    learning_rate: float = 0.1, max_iter: int = 100, random_state: int = 0
) -> HistGradientBoostingRegressor:
    """Build gradient boosting.

    Parameters
    ----------
    learning_rate : float
        Factor of what each tree adds.
    max_iter : int
        Number of trees, each fitted to the residuals of those before it.
    random_state : int
        Seed of the draws.
    """
    return HistGradientBoostingRegressor(learning_rate=learning_rate, max_iter=max_iter, random_state=random_state)
