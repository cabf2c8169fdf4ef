"""Checks of the samples and labels that the subspace estimators are given."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from mklearn.errors import DataError

FLOAT_DTYPES = [np.float64, np.float32]


def checked_array(estimator: BaseEstimator, X: ArrayLike, *, reset: bool, allow_nd: bool = False) -> NDArray[Any]:
    """scikit-learn's check of X (finite, real, dense, number of features), its ValueError turned into `DataError`."""
    try:
        return validate_data(
            estimator, X, reset=reset, allow_nd=allow_nd, dtype=FLOAT_DTYPES, ensure_min_samples=2 if reset else 1
        )
    except ValueError as error:
        raise DataError(str(error)) from error


def checked_labels(estimator: BaseEstimator, y: ArrayLike | None, n: int) -> NDArray[Any]:
    """Class labels as a vector of length n.

    Raises
    ------
    DataError
        Missing, not a vector, of the wrong length, or continuous numbers.
    """
    if y is None:
        raise DataError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None: give the class labels"
        )
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        # scikit-learn's convention for a column of labels.
        from sklearn.exceptions import DataConversionWarning

        warnings.warn("y is a column; a vector of labels was expected", DataConversionWarning, stacklevel=3)
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise DataError(f"y has shape {labels.shape}: y should be a 1d array of class labels")
    if len(labels) != n:
        raise DataError(f"y has {len(labels)} labels for {n} samples: there must be one label per sample")
    try:
        check_classification_targets(labels)
    except ValueError as error:
        raise DataError(f"y must hold class labels: {error}") from error
    return labels
