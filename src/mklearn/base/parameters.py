"""Parameter checks of estimators.

The types of parameters state their valid values. Estimators (see `parameters`) check them in ``fit``, as scikit-learn
does, descriptors in each call, and studies when they are planned (see `constrained`). The scikit-learn classes behind
this are private: pyproject.toml caps the version, and `tests/unit/base/test_parameters.py` detects what an update
breaks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, dataclass_transform, get_args, get_origin

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
    """Declare the valid values of a function's parameters, by default those of their types."""

    def declare(function: Function) -> Function:
        types = {} if constraints else inspect.get_annotations(function, eval_str=True)
        stated = {name: valid_values(kind) for name, kind in types.items() if name != "return"}
        setattr(function, "_parameter_constraints", constraints or stated)  # noqa: B010 - not a declared attribute
        return function

    return declare


def one_of(literal: Any) -> StrOptions:
    """Return the constraint that a value is one of the strings of a `typing.Literal`."""
    return StrOptions(set(get_args(literal)))


NONNEGATIVE = Interval(Real, 0, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
CLASS_WEIGHT = [StrOptions({"balanced"}), None, Mapping]
SHARE = Interval(Real, 0, 1, closed="both")

Nonnegative = Annotated[float, NONNEGATIVE]
Positive = Annotated[float, POSITIVE]
Share = Annotated[float, SHARE]
NonnegativeInt = Annotated[int, at_least(0)]
PositiveInt = Annotated[int, at_least(1)]
ClassWeight = Annotated[Any, *CLASS_WEIGHT]
RandomState = Annotated[Any, "random_state"]

Estimator = TypeVar("Estimator", bound=type)


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def parameters(estimator: Estimator) -> Estimator:
    """Decorate an estimator to make it a dataclass whose fields are its parameters, with valid values from their types.

    ``ridge: Nonnegative = 0.001`` declares a keyword parameter. A positional parameter is
    ``field(default=0.001, kw_only=False)``, and an attribute that ``fit`` sets is ``field(init=False)``. Parameters of
    decorated bases are inherited; a class with several such bases needs the decorator itself.
    """
    dataclass(kw_only=True, eq=False, repr=False)(estimator)
    constraints: dict[str, Any] = {}
    for base in reversed(estimator.__mro__):
        constraints |= vars(base).get("_parameter_constraints", {})
    types = inspect.get_annotations(estimator, eval_str=True)
    own = [each.name for each in fields(estimator) if each.init and each.name in types]
    setattr(estimator, "_parameter_constraints", constraints | {name: valid_values(types[name]) for name in own})  # noqa: B010
    return estimator


def valid_values(kind: Any) -> list[Any]:
    """Return the constraints, in scikit-learn's form, one of which a value of this type has to meet.

    Those of ``Annotated[Any, str, list]`` are ``[str, list]``; those of a union are the constraints of its members.
    """
    if get_origin(kind) is Annotated:
        return list(kind.__metadata__)
    if get_origin(kind) in (Union, UnionType):
        return [each for part in get_args(kind) for each in valid_values(part)]
    if get_origin(kind) is Literal:
        return [one_of(kind)]
    return [_OTHER_TYPES.get(kind, get_origin(kind) or kind)]


_OTHER_TYPES = {Any: object, NoneType: None, bool: "boolean", int: Integral, float: Real}
