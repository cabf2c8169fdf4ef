"""Checks of arguments, numbers and arrays, and small functions of arrays. Messages name argument and valid values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.errors import ConfigError, DataError, NotApplicable, nearest

Array = NDArray[np.floating[Any]]
# Number of rows and columns of a tile, and number of entries of a block of rows, that fit into a core's cache.
_TILE = 256
_CACHED = 2**14

SMALLEST_VALUE, LARGEST_VALUE = 1e-60, 1e60
"""Range in which sums of fourth powers neither overflow nor underflow in double precision."""
LARGEST_TARGET = 1e150  # its square does not overflow
LARGEST_INTEGER = 2**31 - 1
"""Largest valid count: larger ones fit neither into memory nor into the integers of compiled code."""
ROUNDING = float(np.sqrt(np.finfo(np.float32).eps))
"""Largest asymmetry of a matrix, relative to its largest entry, that is rounding in single precision."""


def invalid(value: object, name: str, expected: str) -> ConfigError:
    """Return the error for an invalid argument."""
    return ConfigError(f"Invalid value {value!r} for `{name}`: expected {expected}.")


def check_choice(value: object, name: str, valid: Iterable[object]) -> None:
    """Raise `ConfigError` unless `value` is one of the valid values."""
    if value not in (values := tuple(valid)):
        raise invalid(value, name, f"one of {', '.join(map(repr, values))}")


def check_integer(value: Any, name: str, least: int = 1, most: int | None = None) -> int:
    """Return `value` as an int; raise `ConfigError` unless it is an integer from `least` to `most` (else 2**31 - 1)."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    largest = LARGEST_INTEGER if most is None else most
    if not whole or not least <= value <= largest:
        bounded = most is not None or (whole and value > largest)
        raise invalid(value, name, f"an integer from {least} to {largest}" if bounded else f"an integer >= {least}")
    return int(value)


def check_positive(value: Any, name: str) -> float:
    """Return `value` as a float; raise `ConfigError` unless it is a finite number > 0."""
    number = _number(value)
    if not 0 < number < math.inf:
        raise invalid(value, name, "a finite number > 0")
    return number


def check_nonnegative(value: Any, name: str) -> float:
    """Return `value` as a float; raise `ConfigError` unless it is a finite number >= 0."""
    number = _number(value)
    if not 0 <= number < math.inf:
        raise invalid(value, name, "a finite number >= 0")
    return number


def _number(value: Any) -> float:
    """Return `value` as a float, or NaN if it is not a number."""
    try:
        return math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def check_keys(keys: Iterable[object], valid: Sequence[str], owner: str) -> None:
    """Raise `ConfigError` for an invalid key, and suggest the closest valid one."""
    for key in keys:
        if key not in valid:
            raise ConfigError(
                f"{owner} has the unknown key {key!r}.{nearest(key, valid)} Valid keys: {', '.join(valid)}"
            )


def regular_array(values: Any, name: str) -> NDArray[Any]:
    """Return `values` as an array; raise `DataError` for nested lists whose parts have different lengths."""
    try:
        if hasattr(values, "iloc") and _needs_conversion(values):
            return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.asarray(values)
    except ValueError as error:
        raise DataError(f"{name} is not a regular array: its parts have different lengths") from error


def _needs_conversion(table: Any) -> bool:
    """Return whether a pandas table has only numeric or boolean columns that NumPy would convert to objects.

    NumPy does so for nullable types, and for a mix of numeric and boolean columns.
    """
    dtypes = list(table.dtypes) if table.ndim == 2 else [table.dtype]
    kinds = {dtype.kind for dtype in dtypes}
    mixed = "b" in kinds and len(kinds) > 1
    return kinds <= set("fiub") and (mixed or any(not isinstance(dtype, np.dtype) for dtype in dtypes))


def as_float_matrix(values: ArrayLike, name: str, n_train: int | None = None) -> Array:
    """Return `values` as a finite 2-d floating-point array, with `n_train` columns if given; see `as_float_array`."""
    matrix = as_float_array(values, name, ndim=2)
    if n_train is not None and matrix.shape[1] != n_train:
        raise DataError(f"{name} have {matrix.shape[1]} columns, but there were {n_train} training samples")
    return matrix


def as_float_array(
    values: ArrayLike, name: str, *, ndim: int, may_be_empty: bool = False, may_have_nan: bool = False
) -> Array:
    """Return `values` as a floating-point array of `ndim` axes; float32 is kept, other types become float64.

    Raises `DataError`, with a message that begins with `name`, for values that are not real numbers, not finite, empty,
    of another number of axes, or changed by the conversion (see `check_kept`).
    """
    if hasattr(values, "toarray"):
        raise DataError(f"{name} is a sparse matrix; pass a dense array, e.g. {name}.toarray()")
    check_kept(values, name)
    array = regular_array(values, name)
    if array.dtype.kind not in "fiub":
        raise DataError(f"{name} has dtype {array.dtype}; expected real numbers")
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    if array.ndim != ndim:
        raise DataError(f"{name} has shape {array.shape}; expected an array with {ndim} axes")
    if array.size == 0 and not may_be_empty:
        raise DataError(f"{name} is empty (shape {array.shape})")
    if not all_finite(array):
        finite = ~np.isinf(array) if may_have_nan else np.isfinite(array)
        if not finite.all():
            where = tuple(int(i) for i in np.argwhere(~finite)[0])
            raise DataError(f"{name} has NaN or infinite entries, the first one at index {where}")
    return array


def all_finite(array: Array) -> bool:
    """Return whether all entries are finite; a finite sum shows this in one pass."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(array.sum())) or bool(np.isfinite(array).all())


def cached_rows(matrix: Array) -> Iterator[slice]:
    """Yield slices of rows that are small enough to stay in the cache during several operations."""
    rows = max(1, _CACHED // max(1, matrix[:1].size))
    for start in range(0, len(matrix), rows):
        yield slice(start, start + rows)


def check_kept(values: Any, name: str) -> None:
    """Raise `DataError` for values that floats can't represent: masked entries, dates, or integers >= 2**53."""
    if isinstance(values, np.ma.MaskedArray):
        raise DataError(f"{name} is a masked array; fill its masked values, or leave these samples out")
    if hasattr(values, "select_dtypes"):
        if dates := [dtype for dtype in values.dtypes if dtype.kind in "mM"]:
            raise DataError(f"{name} has a column of dtype {dates[0]}; expected numbers")
        values = values.select_dtypes("integer").to_numpy()
    elif isinstance(values, list | tuple) or hasattr(values, "iloc"):
        values = regular_array(values, name)
    if isinstance(values, np.ndarray) and values.dtype.kind in "mM":
        raise DataError(f"{name} has dtype {values.dtype}; expected numbers")
    is_whole = isinstance(values, np.ndarray) and values.dtype.kind in "iu" and values.size > 0
    if is_whole and max(int(values.max()), -int(values.min())) >= 2**53:
        raise DataError(f"{name} has integers of 2**53 or more, which lose digits as floats; rescale them")


def as_square_matrix(values: ArrayLike, name: str, dtype: type[np.floating] | None = np.float64) -> Array:
    """Return `values` as a finite square matrix; ``dtype=None`` keeps float32."""
    matrix = as_float_matrix(values, name)
    check_square(matrix, name)
    return matrix if dtype is None else matrix.astype(dtype, copy=False)


def symmetrized(matrix: Array) -> Array:
    """Return the symmetric part of a square matrix."""
    return (matrix + matrix.T) / 2


def as_square_symmetric(values: ArrayLike, name: str) -> Array:
    """Return `values` as a finite symmetric matrix; asymmetry by rounding errors is averaged out."""
    matrix = as_float_matrix(values, name)
    return matrix if check_symmetric(matrix, name) else symmetrized(matrix)


def as_distances(values: ArrayLike, name: str) -> Array:
    """Return `values` as a finite symmetric matrix that is non-negative with a zero diagonal, up to rounding errors."""
    matrix = as_nonnegative(as_square_symmetric(values, name), name)
    diagonal = np.abs(np.diagonal(matrix))
    largest = float(diagonal.max())
    if largest > 0 and largest > _tolerance(matrix) * max(float(matrix.max()), float(np.finfo(matrix.dtype).tiny)):
        sample = int(diagonal.argmax())
        raise DataError(
            f"{name} gives sample {sample} the distance {diagonal[sample]:.6g} to itself; the diagonal of a distance "
            "matrix is zero. Set it to 0 if this is rounding; use kind 'precomputed' for a similarity matrix"
        )
    return matrix


def are_distances(matrix: Array) -> bool:
    """Return whether a square matrix is non-negative with a zero diagonal, up to rounding errors."""
    least = _tolerance(matrix) * float(matrix.max())
    return bool(matrix.min() >= -least and np.abs(np.diagonal(matrix)).max() <= least)


def refuse_distances(kernel: Array, name: str) -> None:
    """Raise `DataError` for distances in place of kernel values: only a zero kernel has zeros on its diagonal."""
    if kernel.any() and are_distances(kernel):
        raise DataError(
            f"{name} has a zero diagonal, as distances have; use kind 'gaussian' with measure 'distance', or give "
            "similarities (an adjacency matrix) positive values there"
        )


def check_square(matrix: Array, name: str, of: str = "") -> None:
    """Raise `DataError` unless `matrix` is (n, n); `of` describes its rows and columns."""
    if matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"{name} has shape {matrix.shape}: expected a square matrix{of}")


def check_symmetric(matrix: Array, name: str) -> bool:
    """Return whether `matrix` is exactly symmetric.

    Raises `DataError` unless it is (n, n) and symmetric up to `ROUNDING` of its largest entry.
    """
    check_square(matrix, name, " over the training samples (pass rows of new samples to transform, not to fit)")
    starts = range(0, len(matrix), _TILE)  # tiles fit into the cache
    tiles = (
        (matrix[i : i + _TILE, j : j + _TILE], matrix[j : j + _TILE, i : i + _TILE].T)
        for i in starts
        for j in starts
        if j >= i
    )
    differing = (np.abs(tile - mirrored).max() for tile, mirrored in tiles if not np.array_equal(tile, mirrored))
    asymmetry = float(max(differing, default=0.0))
    if asymmetry == 0:
        return True
    largest = float(np.abs(matrix).max())
    if asymmetry > ROUNDING * largest:
        row, column = _position(np.abs(matrix - matrix.T).argmax(), matrix)
        raise DataError(
            f"{name} is not symmetric: entry ({row}, {column}) is {matrix[row, column]:.6g} and entry "
            f"({column}, {row}) is {matrix[column, row]:.6g}; symmetrise it: K = (K + K.T) / 2"
        )
    return False


def as_nonnegative(matrix: Array, name: str) -> Array:
    """Return `matrix` with negative rounding errors set to zero; raise `DataError` for other negative entries."""
    smallest = float(matrix.min())
    if smallest >= 0:
        return matrix
    if smallest < -_tolerance(matrix) * float(np.abs(matrix).max()):
        row, column = _position(matrix.argmin(), matrix)
        raise DataError(
            f"{name} has negative entries (smallest {smallest:.6g} at ({row}, {column})); distances are >= 0. "
            "Use kind 'precomputed' for a similarity matrix, 'linear' or 'polynomial' for inner products"
        )
    return np.maximum(matrix, 0)


def _tolerance(array: Array) -> float:
    """Return the relative difference below which entries count as equal: the square root of the precision."""
    return float(np.sqrt(np.finfo(array.dtype).eps))


def _position(flat_index: np.intp, matrix: Array) -> tuple[int, int]:
    row, column = np.unravel_index(int(flat_index), matrix.shape)
    return int(row), int(column)


def same_shape(first: Array, second: Array, names: tuple[str, str] = ("S", "S_prime")) -> None:
    """Raise `DataError` unless two matrices have the same shape."""
    if first.shape != second.shape:
        raise DataError(f"{names[1]} has shape {second.shape}, {names[0]} has {first.shape}: expected the same shape.")


def weighted_sum(kernels: Sequence[NDArray[Any]], weights: Array, n: int) -> Array:
    """Compute sum_m weights_m K_m in double precision, shape (n, n); kernels with weight 0 are skipped."""
    total, used = np.zeros((n, n)), [pair for pair in zip(weights, kernels, strict=True) if pair[0] != 0]
    for part in cached_rows(total):
        for weight, kernel in used:
            total[part] += weight * kernel[part]
    return total


def not_positive_semidefinite(parameter: str) -> DataError:
    """Return the error for a combined kernel with an eigenvalue smaller than minus the ridge."""
    return DataError(
        "The combined kernel has an eigenvalue below minus the ridge: expected positive semidefinite kernels; repair "
        f"them (psd_repair) or raise `{parameter}`."
    )


def checked_components(n_components: int | None, most: int, limit: str, *, default: int | None = None) -> int:
    """Return the number of components to compute: ``n_components``, or if it is None ``default`` or ``most``.

    Raises `NotApplicable` if it exceeds ``most``; ``limit`` is the reason, such as "the centred features have rank 3".
    """
    if n_components is None:
        return most if default is None else default
    if n_components > most:
        raise NotApplicable(f"n_components={n_components}: {limit}, give at most {most}")
    return n_components
