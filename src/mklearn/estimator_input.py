"""Checks of the samples, targets and weights that estimators are given."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.checks import LARGEST_TARGET, LARGEST_VALUE, SMALLEST_VALUE, check_kept, check_positive, regular_array
from mklearn.errors import ConfigError, DataError


def nonnegative_weights(sample_weight: ArrayLike | None, n: int) -> NDArray[np.float64] | None:
    """Return sample weights, (n,), as an array; raise `DataError` unless they are finite, >= 0 and not all 0."""
    if sample_weight is None:
        return None
    try:
        if np.asarray(sample_weight).dtype.kind == "c":
            raise TypeError("they are complex")
        weights = np.array(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"sample_weight must be numbers: {error}") from error
    if weights.shape != (n,):
        raise DataError(f"sample_weight has shape {weights.shape}: expected one weight for each of {n} samples")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise DataError("sample_weight has negative weights, NaN or infinity: expected finite numbers >= 0")
    if not weights.any():
        raise DataError("sample_weight: all weights are zero; expected positive ones")
    return weights


def checked_sample_weight(
    sample_weight: ArrayLike | None, codes: NDArray[np.intp], classes: NDArray[Any], class_weight: Any = None
) -> NDArray[np.float64] | None:
    """Return checked sample weights times class weights, (n,), or None if neither is given.

    A sample of weight 2 counts as two equal samples, a sample of weight 0 as none. ``codes``, (n,), are positions in
    ``classes``, (c,). The class weights "balanced" give all classes the same total weight; classes missing from a
    mapping have weight 1. Raises `DataError` unless the weights are one finite number >= 0 for each sample and not all
    zero in a class, and `ConfigError` if a class weight is not positive, or is for a class that is not in y while one
    of y has none.
    """
    if sample_weight is None and class_weight is None:
        return None
    weights = nonnegative_weights(sample_weight, len(codes))
    sums = np.bincount(codes, weights, minlength=len(classes))
    if not sums.all():
        raise DataError(f"sample_weight: all weights of class {classes[sums.argmin()]!s} are zero; leave it out")
    if class_weight is None:
        return weights
    if isinstance(class_weight, Mapping):
        labels = classes.tolist()
        unknown = [label for label in class_weight if label not in labels]
        if unknown and not set(labels) <= set(class_weight):
            listed = ", ".join(map(repr, labels[:10]))
            raise ConfigError(
                f"class_weight names the class {unknown[0]!r}, which is not in y, but lacks one of y; classes: {listed}"
            )
        weight_of = {label: check_positive(value, f"class_weight[{label!r}]") for label, value in class_weight.items()}
        by_class = np.array([weight_of.get(label, 1.0) for label in labels])
    else:
        by_class = sums.sum() / (len(sums) * sums)
    return np.asarray(by_class[codes] if weights is None else weights * by_class[codes], dtype=np.float64)


def checked_array(estimator: Any, X: ArrayLike, *, reset: bool, allow_nd: bool = False) -> NDArray[Any]:
    """Check X by scikit-learn's rules: finite, real, dense, float32 or float64, number of features as in ``fit``.

    Raises `DataError` with the message of scikit-learn's ValueError (its TypeError for non-numeric objects is kept).
    Raises `DataError` too if squares of values would overflow or underflow: values above 1e60, or all below 1e-60.
    """
    from sklearn.utils.validation import validate_data

    check_kept(X, "X")
    try:
        array = validate_data(
            estimator, X, reset=reset, allow_nd=allow_nd, dtype=[np.float64, np.float32],
            ensure_min_samples=2 if reset else 1,
        )  # fmt: skip
    except ValueError as error:
        # Without the array that the message shows for complex numbers, and without NumPy's representation of strings.
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
    """Check class labels and return them as a vector of length n; warn for a column, as scikit-learn requires.

    Raises `DataError` if labels are missing, not a vector, of the wrong length, continuous or complex numbers, bytes,
    a masked array, or of types without a common order, such as text and numbers.
    """
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import column_or_1d

    if y is None:
        raise DataError(f"{type(estimator).__name__} requires y to be passed, but the target y is None: give labels")
    labels = label_array(y)
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
    """Check numeric targets and return them in their shape, (n,) or (n, n_targets).

    NaN marks missing values; each target needs at least two values. Raises `DataError` if `y` is None, for another
    number of rows, text, complex or infinite numbers, or too few values of a target.
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
    if np.nanmax(np.abs(values), initial=0.0) > LARGEST_TARGET:
        raise DataError("Input y contains infinity or a value too large for dtype('float64') to be squared")
    n_values = (~np.isnan(values)).sum(axis=0)
    if np.min(n_values) < 2:
        which = f" {int(np.argmin(n_values))}" if values.ndim == 2 else ""
        raise DataError(
            f"target{which} of y has {int(np.min(n_values))} value(s) that are not NaN: at least 2 are needed"
        )
    return values


def label_array(y: ArrayLike) -> NDArray[Any]:
    """Convert labels to an array; raise `DataError` for labels that the conversion changes or that have no order."""
    if isinstance(y, np.ma.MaskedArray):
        raise DataError("y is a masked array; leave the samples without a label out")
    try:
        labels = np.asarray(y)
    except ValueError as error:
        raise DataError("y is not a regular array: its parts have different lengths") from error
    kind = labels.dtype.kind
    if kind in "ScV":
        raise DataError(f"y has dtype {labels.dtype}: expected class labels as text or whole numbers")
    values = y if isinstance(y, list | tuple) else labels.tolist() if kind in "Of" and labels.ndim else []
    types = {type(value).__name__ for value in values if not isinstance(value, list | tuple)}
    is_missing = (kind in "mM" and np.isnat(labels).any()) or any(v != v for v in values if isinstance(v, float))
    if is_missing or types & {"NoneType", "NAType", "NaTType"}:
        raise DataError("y has missing labels; leave these samples out")
    if "bytes" in types or (types & {"str", "str_"} and types - {"str", "str_"}):
        listed = ", ".join(sorted(types))
        raise DataError(f"y has labels of types {listed}: expected all of one type, text or whole numbers")
    return labels
