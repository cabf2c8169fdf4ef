"""Checks of the samples, labels and numbers of components that estimators are given."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from mklearn.checks import LARGEST_VALUE, SMALLEST_VALUE, check_kept, regular_array
from mklearn.errors import DataError, NotApplicable
from mklearn.kernels.views import in_order_of

_LARGEST_TARGET = 1e150


def aligned(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function of X and y: bring y, ``sample_weight`` and ``groups`` into the order of X's row labels.

    See `mklearn.kernels.views.in_order_of`.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def in_order(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind_partial(*args, **kwargs)
        for name in {"y", "sample_weight", "groups"} & set(given.arguments):
            given.arguments[name] = in_order_of(given.arguments.get("X"), given.arguments[name], name)
        return function(*given.args, **given.kwargs)

    return in_order


def checked_array(estimator: BaseEstimator, X: ArrayLike, *, reset: bool, allow_nd: bool = False) -> NDArray[Any]:
    """Check X by scikit-learn's rules: finite, real, dense, float32 or float64, number of features as in ``fit``.

    Raises `DataError` in place of scikit-learn's ValueError (not of its TypeError for objects that are no numbers),
    with its message. So it does for values whose squares overflow or vanish: above 1e60, or all below 1e-60.
    """
    check_kept(X, "X")
    try:
        array = validate_data(
            estimator, X, reset=reset, allow_nd=allow_nd, dtype=[np.float64, np.float32],
            ensure_min_samples=2 if reset else 1,
        )  # fmt: skip
    except ValueError as error:
        # Without the whole array, which it shows of complex numbers, and without NumPy's way to show text.
        message = re.sub(r"np\.str_\((.*?)\)", r"\1", str(error).split("\n[")[0])
        raise DataError(message) from error
    largest = max(float(array.max(initial=0.0)), -float(array.min(initial=0.0)))
    if largest > LARGEST_VALUE or (reset and 0 < largest < SMALLEST_VALUE):
        raise DataError(
            f"X has the largest absolute value {largest:.3g}: its squares can't be computed with; rescale X to values "
            f"from {SMALLEST_VALUE:g} to {LARGEST_VALUE:g}"
        )
    return array


def checked_labels(estimator: object, y: ArrayLike | None, n: int) -> NDArray[Any]:
    """Check class labels and return them as a vector of length n; warn of a column, as scikit-learn requires.

    Raises `DataError` for labels that are missing (one, or all), no vector, of the wrong length, continuous or complex
    numbers, bytes, of types that have no common order, such as text and numbers, or a masked array.
    """
    if y is None:
        raise DataError(f"{type(estimator).__name__} requires y to be passed, but the target y is None: give labels")
    labels = _label_array(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = column_or_1d(labels, warn=True)
    if labels.ndim != 1:
        raise DataError(f"y has shape {labels.shape}: y should be a 1d array of class labels")
    if len(labels) != n:
        raise DataError(f"y has {len(labels)} labels for {n} samples: there must be one label per sample")
    try:
        check_classification_targets(labels)
        np.unique(labels)
    except (TypeError, ValueError) as error:
        is_target = labels.dtype.kind == "f" and np.isfinite(labels).all()
        advice = ". For numbers as targets use a regressor, such as mklearn.MultiViewRegressor" if is_target else ""
        raise DataError(f"y must hold class labels: {str(error).removesuffix('.')}{advice}") from error
    return labels


def checked_numbers(estimator: object, y: ArrayLike | None, n: int) -> NDArray[np.float64]:
    """Check targets and return them in the shape in which they are given, (n,) or (n, n_targets).

    NaN are missing values: a target has two values or more. Raises `DataError` for none at all, another number of rows,
    text, complex or infinite numbers, or too few values of a target.
    """
    if y is None:
        raise DataError(f"{type(estimator).__name__} requires y to be passed, but the target y is None: give numbers")
    if isinstance(y, np.ma.MaskedArray):
        raise DataError("y is a masked array; give NaN for missing values: y.filled(numpy.nan)")
    try:
        values = regular_array(y, "y")
        if values.dtype.kind in "ScUMmV":
            raise TypeError(f"they have dtype {values.dtype}")
        if values.dtype.kind == "O" and any(isinstance(each, str) for each in values.flat):
            raise TypeError("they are text")
        values = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        advice = "; for labels use a classifier, such as MultiViewClassifier"
        raise DataError(f"y must hold numbers: {str(error).removesuffix('.')}{advice}") from error
    if values.ndim not in (1, 2) or values.size == 0 or len(values) != n:
        raise DataError(f"y has shape {values.shape} for {n} samples: expected (n_samples,) or (n_samples, n_targets)")
    if np.nanmax(np.abs(values), initial=0.0) > _LARGEST_TARGET:
        raise DataError("Input y contains infinity or a value too large for dtype('float64') to be squared")
    known = (~np.isnan(values)).sum(axis=0)
    if np.min(known) < 2:
        which = f" {int(np.argmin(known))}" if values.ndim == 2 else ""
        raise DataError(f"target{which} of y has {int(np.min(known))} value(s) that are not NaN: at least 2 are needed")
    return values


def _label_array(y: ArrayLike) -> NDArray[Any]:
    """Convert labels to an array; raise DataError for those that the conversion changes or that have no order."""
    if isinstance(y, np.ma.MaskedArray):
        raise DataError("y is a masked array; leave the samples without a label out")
    try:
        labels = np.asarray(y)
    except ValueError as error:
        raise DataError("y is not a regular array: its parts have different lengths") from error
    if labels.dtype.kind in "ScV":
        raise DataError(f"y has dtype {labels.dtype}: expected class labels as text or whole numbers")
    values = y if isinstance(y, list | tuple) else labels.tolist() if labels.dtype.kind in "Of" and labels.ndim else []
    types = sorted({type(value).__name__ for value in values if not isinstance(value, list | tuple)})
    if labels.dtype.kind in "mM" and np.isnat(labels).any():
        raise DataError("y has missing labels; leave these samples out")
    if {"NoneType", "NAType", "NaTType"} & set(types) or any(v != v for v in values if isinstance(v, float)):
        raise DataError("y has missing labels; leave these samples out")
    if "bytes" in types or ({"str", "str_"} & set(types) and set(types) - {"str", "str_"}):
        raise DataError(f"y has labels of types {', '.join(types)}: expected all of one type, text or whole numbers")
    return labels


def checked_components(n_components: int | None, most: int, limit: str, *, default: int | None = None) -> int:
    """Return the number of components to compute: ``n_components``, or for None the default, or ``most``.

    Raises `NotApplicable` if it is above ``most``, for the reason ``limit``: "the centred features have rank 3".
    """
    if n_components is None:
        return most if default is None else default
    if n_components > most:
        raise NotApplicable(f"n_components={n_components}: {limit}, give at most {most}")
    return n_components
