"""A random forest on features side by side, a baseline without kernels."""

from __future__ import annotations

from sklearn.ensemble import RandomForestClassifier

from mklearn.base.parameters import SHARE, StrOptions, at_least, constrained


@constrained(
    n_estimators=[at_least(1)], max_features=[StrOptions({"sqrt", "log2"}), SHARE], min_samples_leaf=[at_least(1)]
)
def random_forest(
    n_estimators: int = 300, max_features: str | float = "sqrt", min_samples_leaf: int = 1, random_state: int = 0
) -> RandomForestClassifier:
    """Build a random forest.

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    max_features : {"sqrt", "log2"} or float
        Features that a split of a tree looks at: the root or the logarithm of their number, or a share of them.
    min_samples_leaf : int
        Smallest number of training samples in a leaf.
    random_state : int
        Seed of the draws.
    """
    return RandomForestClassifier(
        n_estimators=n_estimators,
        max_features=max_features,
        min_samples_leaf=min_samples_leaf,
        random_state=random_state,
        n_jobs=1,
    )
