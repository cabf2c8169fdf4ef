"""Gradient boosting on features side by side, a baseline without kernels."""

from __future__ import annotations

from sklearn.ensemble import HistGradientBoostingClassifier

from mklearn.base.parameters import NONNEGATIVE, POSITIVE, SHARE, at_least, constrained


@constrained(
    max_iter=[at_least(1)],
    learning_rate=[POSITIVE],
    max_leaf_nodes=[at_least(2)],
    min_samples_leaf=[at_least(1)],
    l2_regularization=[NONNEGATIVE],
    max_features=[SHARE],
)
def gradient_boosting(
    max_iter: int = 100,
    learning_rate: float = 0.1,
    max_leaf_nodes: int = 31,
    min_samples_leaf: int = 5,
    l2_regularization: float = 0.0,
    max_features: float = 1.0,
    random_state: int = 0,
) -> HistGradientBoostingClassifier:
    """Build gradient boosting, as in :class:`sklearn.ensemble.HistGradientBoostingClassifier`, without early stopping.

    Parameters
    ----------
    max_iter : int
        Number of iterations, each with one tree, or one for each of more than two classes.
    learning_rate : float
        Share of a tree's correction that is taken.
    max_leaf_nodes : int
        Largest number of leaves of a tree.
    min_samples_leaf : int
        Smallest number of training samples in a leaf. scikit-learn's default, 20, leaves no tree where a class has
        five samples.
    l2_regularization : float
        Penalty of the leaves' values.
    max_features : float
        Share of the features that a split of a tree looks at.
    random_state : int
        Seed of the draws.
    """
    return HistGradientBoostingClassifier(
        max_iter=max_iter,
        learning_rate=learning_rate,
        max_leaf_nodes=max_leaf_nodes,
        min_samples_leaf=min_samples_leaf,
        l2_regularization=l2_regularization,
        max_features=max_features,
        early_stopping=False,
        random_state=random_state,
    )
