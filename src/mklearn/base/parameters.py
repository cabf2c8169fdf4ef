"""Checks of the parameters of estimators, and the only private imports from scikit-learn.

scikit-learn's own estimators declare their valid parameters in ``_parameter_constraints`` and check them in ``fit``.
scikit-learn has no public name for the classes and the decorator behind this, so pyproject.toml caps its version and
`tests/unit/base/test_parameters.py` says what is missing after an update.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, get_args

from sklearn.base import _fit_context
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from mklearn.base.threads import few_threads
from mklearn.base.validation import aligned

__all__ = [
    "CLASS_WEIGHT",
    "N_COMPONENTS",
    "NONNEGATIVE",
    "POSITIVE",
    "HasMethods",
    "Interval",
    "StrOptions",
    "at_least",
    "fit_context",
    "one_of",
]


def fit_context(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate ``fit``: check the parameters against ``_parameter_constraints`` first, and bring y into X's order.

    See `mklearn.base.validation.aligned`, and `mklearn.base.threads.few_threads` of its threads.
    """
    return few_threads(aligned(_fit_context(prefer_skip_nested_validation=True)(fit)))


def at_least(smallest: int) -> Interval:
    """Return the constraint of an integer with a smallest value."""
    return Interval(Integral, smallest, None, closed="left")


def one_of(literal: Any) -> StrOptions:
    """Return the constraint of a string among the values of a `typing.Literal`."""
    return StrOptions(set(get_args(literal)))


NONNEGATIVE = Interval(Real, 0, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
N_COMPONENTS = [None, at_least(1)]
CLASS_WEIGHT = [StrOptions({"balanced"}), None, Mapping]
"""The first two can be said in a study."""
