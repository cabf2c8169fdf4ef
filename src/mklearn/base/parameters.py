"""Parameter checks of estimators.

Estimators declare valid parameter values in ``_parameter_constraints``, as in scikit-learn, and check them in ``fit``.
Functions that a study can name declare them with `constrained`. The scikit-learn classes behind this are private:
pyproject.toml caps the version, and `tests/unit/base/test_parameters.py` detects what an update breaks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, TypeVar, get_args

from sklearn.utils._param_validation import Interval as Interval
from sklearn.utils._param_validation import Options as Options
from sklearn.utils._param_validation import StrOptions as StrOptions
from sklearn.utils._param_validation import make_constraint as make_constraint
from sklearn.utils._param_validation import validate_parameter_constraints as validate_parameter_constraints


def at_least(smallest: int) -> Interval:
    """Return the constraint that a value is an integer >= `smallest`."""
    return Interval(Integral, smallest, None, closed="left")


def from_to(smallest: int, largest: int) -> Interval:
    """Return the constraint that a value is an integer from `smallest` to `largest`."""
    return Interval(Integral, smallest, largest, closed="both")


class ListOf(Options):  # scikit-learn accepts only its own constraint classes
    """Constraint that a value is a non-empty list of valid items, optionally of a given ``length``."""

    def __init__(self, item: Any, length: int | None = None) -> None:
        super(Options, self).__init__()
        self.item, self.length = item, length

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether `val` satisfies the constraint."""
        if not isinstance(val, (list, tuple)) or not val or self.length not in (None, len(val)):
            return False
        return all(self.item.is_satisfied_by(each) for each in val)

    def __str__(self) -> str:
        return f"a list of {'' if self.length is None else f'{self.length} times '}{self.item}"


Function = TypeVar("Function", bound=Callable[..., Any])


def constrained(**constraints: Any) -> Callable[[Function], Function]:
    """Decorate a function that a study can name to declare the valid values of its parameters."""

    def declare(function: Function) -> Function:
        setattr(function, "_parameter_constraints", constraints)  # noqa: B010 - not a declared attribute of functions
        return function

    return declare


def one_of(literal: Any) -> StrOptions:
    """Return the constraint that a value is one of the strings of a `typing.Literal`."""
    return StrOptions(set(get_args(literal)))


NONNEGATIVE = Interval(Real, 0, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
N_COMPONENTS = [None, at_least(1)]
CLASS_WEIGHT = [StrOptions({"balanced"}), None, Mapping]
SHARE = Interval(Real, 0, 1, closed="both")
