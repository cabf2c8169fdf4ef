"""Checks of what solvers are given: kernels of the same samples, and weights of samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.checks import check_positive, nonnegative_weights
from mklearn.errors import ConfigError, DataError

Floats = NDArray[np.floating[Any]]


def same_shape(first: Floats, second: Floats, names: tuple[str, str] = ("S", "S_prime")) -> None:
    """Raise `DataError` unless two matrices have the same shape."""
    if first.shape != second.shape:
        raise DataError(f"{names[1]} has shape {second.shape}, {names[0]} has {first.shape}: expected the same shape.")


def kernel_list(kernels: Iterable[NDArray[Any]], n: int) -> list[NDArray[Any]]:
    """Return the kernels as a list; raise `DataError` unless there is one or more, all of shape (n, n)."""
    found = list(kernels)
    if not found or any(np.shape(K) != (n, n) for K in found):
        shapes = ", ".join(str(np.shape(K)) for K in found) or "no kernel"
        raise DataError(f"Found {shapes} for {n} samples: expected one or more kernels of shape ({n}, {n}).")
    return found


def weighted_sum(kernels: Sequence[NDArray[Any]], weights: Floats, n: int) -> Floats:
    """Return sum_m weights_m K_m in double precision, shape (n, n); kernels of weight 0 are skipped."""
    total = np.zeros((n, n))
    for weight, kernel in zip(weights, kernels, strict=True):
        if weight != 0:
            total += weight * kernel
    return total


def not_positive_semidefinite(parameter: str) -> DataError:
    """Return the error for a combined kernel with an eigenvalue below minus the ridge."""
    return DataError(
        "The combined kernel has an eigenvalue below minus the ridge: expected positive semidefinite kernels; repair "
        f"them (psd_repair) or raise `{parameter}`."
    )


def checked_sample_weight(
    sample_weight: ArrayLike | None, codes: NDArray[np.intp], classes: NDArray[Any], class_weight: Any = None
) -> NDArray[np.float64] | None:
    """Check sample weights and return them, times those of classes, as a vector of length n; None if there are none.

    Parameters
    ----------
    sample_weight : array of shape (n,), optional
        Nonnegative: a sample of weight 2 counts as two equal ones, a sample of weight 0 as none.
    codes : array of shape (n,)
        Classes of the samples, as positions in ``classes``.
    classes : array of shape (c,)
        Labels.
    class_weight : None, "balanced" or mapping of labels to numbers > 0
        "balanced" gives all classes the same sum; classes that a mapping does not name have 1.

    Raises
    ------
    DataError
        Not one finite number >= 0 for each sample, or all weights of a class are zero.
    ConfigError
        A class weight of an unknown class, or not above 0.
    """
    if sample_weight is None and class_weight is None:
        return None
    weights = nonnegative_weights(sample_weight, len(codes))
    sums = np.bincount(codes, weights, minlength=len(classes))
    if not sums.all():
        empty = classes[int(np.argmin(sums))]
        raise DataError(f"sample_weight: all weights of class {empty!s} are zero; leave these samples out")
    if class_weight is None:
        return weights
    if isinstance(class_weight, Mapping):
        _check_class_weight(class_weight, classes)
        by_class = np.array([class_weight.get(label, 1.0) for label in classes.tolist()])
    else:
        by_class = sums.sum() / (len(sums) * sums)
    return np.asarray(by_class[codes] if weights is None else weights * by_class[codes], dtype=np.float64)


def _check_class_weight(by_label: Mapping[Any, Any], classes: NDArray[Any]) -> None:
    unknown = [label for label in by_label if label not in set(classes.tolist())]
    if unknown:
        known = ", ".join(map(repr, classes.tolist()[:10]))
        raise ConfigError(f"class_weight names the class {unknown[0]!r}, which is not in y; classes: {known}")
    for label, value in by_label.items():
        check_positive(value, f"class_weight[{label!r}]")
