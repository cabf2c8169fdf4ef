"""Checks of the samples, labels and numbers of components that estimators are given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from mklearn.errors import DataError, NotApplicable
from mklearn.kernels.checks import check_kept


def checked_array(estimator: BaseEstimator, X: ArrayLike, *, reset: bool, allow_nd: bool = False) -> NDArray[Any]:
    """Check X by scikit-learn's rules: finite, real, dense, float32 or float64, number of features as in ``fit``.

    Raises
    ------
    DataError
        In place of scikit-learn's ValueError, with its message; and see `mklearn.kernels.checks.check_kept`.
    """
    check_kept(X, "X")
    try:
        return validate_data(
            estimator,
            X,
            reset=reset,
            allow_nd=allow_nd,
            dtype=[np.float64, np.float32],
            ensure_min_samples=2 if reset else 1,
        )
    except ValueError as error:
        raise DataError(str(error)) from error


def checked_labels(estimator: BaseEstimator, y: ArrayLike | None, n: int) -> NDArray[Any]:
    """Check class labels and return them as a vector of length n.

    Raises
    ------
    DataError
        Missing, not a vector, of the wrong length, or continuous numbers.

    Warns
    -----
    DataConversionWarning
        y is a column; scikit-learn requires this warning.
    """
    if y is None:
        raise DataError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None: give the class labels"
        )
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = column_or_1d(labels, warn=True)
    if labels.ndim != 1:
        raise DataError(f"y has shape {labels.shape}: y should be a 1d array of class labels")
    if len(labels) != n:
        raise DataError(f"y has {len(labels)} labels for {n} samples: there must be one label per sample")
    try:
        check_classification_targets(labels)
    except ValueError as error:
        raise DataError(f"y must hold class labels: {error}") from error
    return labels


def checked_components(n_components: int | None, most: int, limit: str, *, default: int | None = None) -> int:
    """Return the number of components to compute.

    Parameters
    ----------
    n_components : int, optional
        The estimator's parameter.
    most : int
        The largest valid number.
    limit : str
        Where ``most`` comes from, for the message: "the centred features have rank 3".
    default : int, optional
        The number for ``n_components=None``; ``most`` if omitted.

    Raises
    ------
    NotApplicable
        ``n_components`` is larger than ``most``.
    """
    if n_components is None:
        return most if default is None else default
    if n_components > most:
        raise NotApplicable(f"n_components={n_components}: {limit}, give at most {most}")
    return n_components
