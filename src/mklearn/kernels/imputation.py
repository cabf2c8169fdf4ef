"""Missing values of features, filled in by what the training samples are."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mklearn.errors import NotApplicable

Impute = Literal["none", "mean", "median"]


def impute_features(
    known: NDArray[Any], asked: NDArray[Any], strategy: Literal["mean", "median"]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Fill in missing values by the mean or median of each feature over the training samples.

    Parameters
    ----------
    known, asked : (n, d) and (m, d) arrays
        Features of training samples and of others, with NaN where a value is missing. Not changed.
    strategy : {"mean", "median"}

    Returns
    -------
    known, asked : (n, p) and (m, p) arrays
        Without the features that no training sample has.

    Raises
    ------
    NotApplicable
        No training sample has any value.
    """
    held = ~np.isnan(known).all(axis=0)
    if not held.any():
        raise NotApplicable(f"all values of the {len(known)} training samples are missing")
    if not held.all():
        known, asked = known[:, held], asked[:, held]
    if not (np.isnan(known).any() or np.isnan(asked).any()):
        return known, asked
    from sklearn.impute import SimpleImputer

    imputer = SimpleImputer(strategy=strategy).fit(known)
    return imputer.transform(known), imputer.transform(asked) if len(asked) else asked
