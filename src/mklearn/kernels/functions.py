"""Kernel functions: elementwise maps of a matrix of distances or inner products."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from mklearn.errors import ConfigError
from mklearn.kernels.checks import Array, as_float_matrix, check_nonnegative


def gaussian_kernel(d2: ArrayLike, gamma: float) -> Array:
    """Gaussian kernel ``exp(-d2 / gamma)`` of squared distances.

    With chi-squared distances in place of squared Euclidean ones this is the chi-squared exponential kernel.

    Parameters
    ----------
    d2 : array_like, shape (n, m)
        Squared distances, >= 0.
    gamma : float
        Bandwidth, > 0, in the units of `d2`: the distances are divided by it (not by ``2 gamma^2``).

    Returns
    -------
    ndarray, shape (n, m)
        Entries in [0, 1]; the dtype of `d2`.

    Raises
    ------
    ConfigError
        `gamma` is not a positive finite number.
    DataError
        `d2` is not a finite matrix of non-negative numbers.

    References
    ----------
    MKMMC (Gu and Zhou), section 4, and MKL-DR (Lin, Liu and Fuh, NIPS 2008), equation 8, both write the kernel so.
    """
    gamma = positive_number(gamma, "gamma")
    distances = check_nonnegative(as_float_matrix(d2, "d2"), "d2")
    kernel = distances / distances.dtype.type(-gamma)
    return np.exp(kernel, out=kernel)


def linear_kernel(gram: ArrayLike) -> Array:
    """Linear kernel: the inner products themselves (a copy).

    Parameters
    ----------
    gram : array_like, shape (n, m)

    Returns
    -------
    ndarray, shape (n, m)

    Raises
    ------
    DataError
        `gram` is not a finite matrix.
    """
    return as_float_matrix(gram, "gram").copy()


def polynomial_kernel(gram: ArrayLike, degree: int = 2, scale: float = 1.0, offset: float = 1.0) -> Array:
    """Polynomial kernel ``(scale * gram + offset) ** degree``.

    Parameters
    ----------
    gram : array_like, shape (n, m)
        Inner products.
    degree : int
        >= 1.
    scale : float
        > 0, in one over the units of `gram`.
    offset : float
        >= 0: a negative offset gives an indefinite function.

    Returns
    -------
    ndarray, shape (n, m)
        The dtype of `gram`.

    Raises
    ------
    ConfigError
        A parameter out of its range.
    DataError
        `gram` is not a finite matrix.
    """
    degree = positive_integer(degree, "degree")
    scale = positive_number(scale, "scale")
    offset = nonnegative_number(offset, "offset")
    products = as_float_matrix(gram, "gram")
    base = products * products.dtype.type(scale) + products.dtype.type(offset)
    power: Array = base**degree
    return power


def positive_number(value: float, name: str) -> float:
    """Return `value` as a float; raise `ConfigError` unless it is a finite number > 0."""
    number = _number(value, name, "a positive number")
    if not (math.isfinite(number) and number > 0):
        raise ConfigError(f"{name} = {value!r} is not legal: it must be a finite number greater than 0")
    return number


def nonnegative_number(value: float, name: str) -> float:
    """Return `value` as a float; raise `ConfigError` unless it is a finite number >= 0."""
    number = _number(value, name, "a number >= 0")
    if not (math.isfinite(number) and number >= 0):
        raise ConfigError(f"{name} = {value!r} is not legal: it must be a finite number, 0 or greater")
    return number


def positive_integer(value: int, name: str) -> int:
    """Return `value` as an int; raise `ConfigError` unless it is a whole number >= 1."""
    number = _number(value, name, "a whole number")
    if not (number >= 1 and number == int(number)):
        raise ConfigError(f"{name} = {value!r} is not legal: it must be a whole number, 1 or greater")
    return int(number)


def _number(value: object, name: str, wanted: str) -> float:
    if isinstance(value, bool | str) or value is None:
        raise ConfigError(f"{name} = {value!r} is not legal: {wanted} is needed")
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{name} = {value!r} is not legal: {wanted} is needed") from error
