"""Checks of descriptors' parameters and learned arrays, with messages that name the argument and say what is valid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.errors import ConfigError, DataError

Learned = Mapping[str, NDArray]
"""What the ``learn_*`` function of a descriptor returned: arrays by name."""


def invalid(value: object, name: str, expected: str) -> ConfigError:
    """Return the error for an invalid parameter."""
    return ConfigError(f"Invalid value {value!r} for `{name}`: expected {expected}.")


def whole_number(value: Any, name: str, least: int = 1, most: int | None = None) -> int:
    """Return ``value`` as an int; raise `ConfigError` unless it is an integer from ``least`` to ``most``."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        raise invalid(value, name, f"an integer >= {least}" if most is None else f"an integer from {least} to {most}")
    return int(value)


def positive(value: Any, name: str) -> float:
    """Return ``value`` as a float; raise `ConfigError` unless it is a finite number > 0."""
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not number or not 0 < value < np.inf:
        raise invalid(value, name, "a finite number > 0")
    return float(value)


def one_of(value: object, name: str, valid: Iterable[object]) -> None:
    """Raise `ConfigError` unless ``value`` is one of ``valid``."""
    if value not in (values := tuple(valid)):
        raise invalid(value, name, f"one of {', '.join(map(repr, values))}")


def learned_array(
    learned: Learned, name: str, shape: tuple[int, ...], descriptor: str, dtype: type | None = None
) -> NDArray:
    """Return an array of ``learned``; raise `DataError` unless it has the shape that the parameters need."""
    found = np.shape(learned[name]) if name in learned else None
    if found != shape:
        has = f"shape {found}" if found is not None else "no array"
        raise DataError(
            f"`learned` has {has} for {name!r}, expected shape {shape}: pass what learn_{descriptor} returned for the "
            "same parameters."
        )
    return np.asarray(learned[name], dtype=dtype)
