"""Times that may be censored: the forms in which they are accepted, and the signed times of studies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.checks import LARGEST_VALUE
from mklearn.errors import DataError
from mklearn.kernels.views import in_order_of

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
_FORMS = (
    "expected an array with a boolean and a numeric field (as scikit-survival's), a frame with the columns `time` and "
    "`event`, an array with the columns time and event, or numbers that are negative for censored times"
)


def times_and_events(y: Any, *, fewest_events: int = 1) -> tuple[Floats, Flags]:
    """Return the time of each sample, (n,), and whether an event ended it, (n,) bool; otherwise it is censored.

    Raises `DataError` for other forms than those below, for times that are not positive and finite, and for events that
    are not 0 or 1.

    Parameters
    ----------
    y : structured array, frame or mapping, or array of shape (n, 2) or (n,)
        A structured array has one boolean field (event) and one numeric field (time), as in scikit-survival. A frame or
        mapping has the columns ``time`` and ``event``; the two columns of an array are in this order. Events are True
        or 1, censored times False or 0. Numbers of shape (n,) are times, negative if they are censored, as in XGBoost.
    fewest_events : int
        Smallest number of events; `DataError` for fewer.
    """
    time, flags = map(_numbers, _fields(y))
    if time.ndim != 1 or time.shape != flags.shape or not len(time):
        raise DataError(f"y has times of shape {time.shape} and events of shape {flags.shape}: {_FORMS}")
    for wrong, what in (
        (~((time > 0) & (time <= LARGEST_VALUE)), f"times that are not above 0 and up to {LARGEST_VALUE:g}"),
        (~np.isin(flags, (0.0, 1.0)), "events that are neither 0 nor 1"),
    ):
        if wrong.any():
            some = ", ".join(map(str, np.flatnonzero(wrong)[:5])) + ", ..." * bool(wrong.sum() > 5)
            raise DataError(f"y has {what} in {int(wrong.sum())} sample(s): {some}")
    if (n_events := int(flags.sum())) < fewest_events:
        raise DataError(
            f"y has {n_events} event(s) for {len(time)} sample(s), and all other times are censored: expected "
            f"{fewest_events} or more events"
        )
    return time, flags == 1.0


def _fields(y: Any) -> tuple[Any, Any]:
    """Return times and events without checks."""
    if (fields := getattr(getattr(y, "dtype", None), "fields", None)) is not None:
        kinds = {"event" if dtype.kind == "b" else "time": name for name, (dtype, *_) in fields.items()}
        if len(fields) != 2 or len(kinds) != 2:
            raise DataError(f"y has the fields {', '.join(fields)}: {_FORMS}")
        return y[kinds["time"]], y[kinds["event"]]
    if y is None:
        raise DataError(f"fit requires y to be passed, but the target y is None: {_FORMS}")
    if hasattr(y, "keys") and getattr(y, "ndim", 2) == 2:
        if missing := [name for name in ("time", "event") if name not in y.keys()]:  # noqa: SIM118 - a frame has keys
            raise DataError(f"y has no column {missing[0]!r}: {_FORMS}")
        return y["time"], in_order_of(y["time"], y["event"], "the event")
    values = _numbers(y)
    if values.ndim == 2 and values.shape[1] == 2:
        return values[:, 0], values[:, 1]
    return np.abs(values), values > 0


def _numbers(values: Any) -> Floats:
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise DataError(f"Complex data not supported: {_FORMS}")
    if array.dtype.kind in "mM":
        raise DataError("y has dates or durations: expected times as numbers, such as days since the start")
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"y has values that are no numbers: {_FORMS}") from error


def signed_times(time: ArrayLike, event: ArrayLike) -> Floats:
    """Return times with the sign of their kind, (n,): positive if an event ended them, negative if they are censored.

    Studies hold survival times in this form, so that one number says all of a sample.
    """
    return np.where(np.asarray(event, dtype=bool), 1.0, -1.0) * np.asarray(time, dtype=np.float64)
