"""Gradient boosting on features side by side, a baseline without kernels."""

from __future__ import annotations

from sklearn.ensemble import HistGradientBoostingRegressor

from mklearn.base.parameters import POSITIVE
from mklearn.cards import CONCATENATED, COUNT, MethodCard


@MethodCard(
    kind="gradient_boosting_regressor",
    title="Gradient boosting",
    about="Gradient boosting of regression trees, by histograms, on features of several descriptors side by side.",
    reference="Friedman 2001; Ke et al. 2017",
    advice="Many samples of few features; slow where features are thousands.",
    inputs=CONCATENATED,
    tuned=("learning_rate",),
    valid={"learning_rate": [POSITIVE], "max_iter": [COUNT]},
    targets=("numbers",),
    fit_seconds=2,
    order_decides=True,
    in_model_files=False,
)
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
