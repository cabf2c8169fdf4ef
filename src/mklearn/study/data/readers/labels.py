"""Check of labels, numbers to predict and survival times that are read as text, "" for a missing one."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np

from mklearn.errors import DataError, nearest
from mklearn.study.data.samples import some
from mklearn.study.data.text_tables import LIMIT, is_number
from mklearn.survival.times import signed_times

_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def class_names(labels: np.ndarray, what: str, column: str) -> np.ndarray:
    """Return labels as class names. Whole numbers lose the ".0" that pandas adds if some labels are missing."""
    labelled = [label for label in dict.fromkeys(labels.tolist()) if label]
    if not any("." in label for label in labelled) or not all(map(_NUMBER.fullmatch, labelled)):
        return labels
    fractions = [label for label in labelled if float(label) % 1]
    if fractions:
        raise DataError(
            f"{what} has numbers with fractions, such as {fractions[0]}, and labels are names of classes: write the "
            f"classes as whole numbers or as text, or, to predict the numbers, set `target: {column}` in place of "
            "`label_column`"
        )
    return np.array([label and str(int(float(label))) for label in labels.tolist()], dtype=str)


def check_decimal_points(text: np.ndarray, what: str) -> None:
    """Raise DataError if all points in the numbers of a file with decimal commas may separate thousands."""
    with_points = [value for value in text.tolist() if "." in value]
    if with_points and all(map(_THOUSANDS.fullmatch, with_points)):
        raise DataError(
            f"{what} has {with_points[0]!r} in a file with decimal commas: write thousands without a point, decimals "
            "with a comma"
        )


def target_numbers(text: np.ndarray, what: str, ids: np.ndarray) -> np.ndarray:
    """Normalise numbers given as text, at full precision, so that equal numbers have equal text."""
    bad = np.array([value and not (is_number(value) and abs(float(value)) < LIMIT) for value in text], bool)
    if bad.any():
        raise DataError(
            f"{what} has values that are no numbers below {LIMIT:g}: {some(np.unique(text[bad]))} of samples "
            f"{some(ids[bad])}; write numbers such as 1234.5, leave them empty, or set `task: classes` (init: --label)"
        )
    return np.array([value and repr(float(value)) for value in text.tolist()], dtype=str)


def survival_times(
    times: np.ndarray, events: np.ndarray, ids: np.ndarray, path: Path, columns: tuple[str, str], occurred: str | None
) -> tuple[np.ndarray, list[str]]:
    """Return survival times as text, negative if they are censored, and "" where the time or the event is missing.

    An event is 1 or true, no event 0 or false. With `occurred`, this value is an event and any other value is none; a
    note counts the other values. Raise DataError with all mistakes in the two columns.
    """
    time, event = (f"column {name!r}" for name in columns)
    both, mistakes = (times != "") & (events != ""), list[str]()
    values = np.array([_plain(value) for value in events[both].tolist()], dtype=str)
    sought = ["1", "true"] if occurred is None else [_plain(occurred)]
    names = list(dict.fromkeys(events[both].tolist()))
    wrong = [value for value in times[both] if not (is_number(value) and abs(float(value)) < LIMIT)]
    if wrong:
        mistakes.append(f"{time} has times that are no numbers below {LIMIT:g}, such as {wrong[0][:40]!r}")
    elif (bad := ids[both][times[both].astype(np.float64) <= 0]).size:
        mistakes.append(f"{time} has times that are not above 0, which have no rank, for {some(bad)}: leave them empty")
    if occurred is None and not np.isin(values, ["0", "1", "false", "true"]).all():
        mistakes.append(
            f"{event} has the values {some(names)}; expected 0 or 1, or false or true: name the value that means that "
            "the event occurred (occurred: VALUE)"
        )
    elif occurred is not None and sought[0] not in values and names:
        mistakes.append(
            f"{event} never has the value {occurred!r} (occurred), but {some(names)}.{nearest(occurred, names)}"
            + " YAML reads yes, no, on, off as booleans: put words in quotes." * (sought[0] in ("true", "false"))
        )
    if mistakes:
        raise DataError(f"{path}: {'; '.join(mistakes)}")
    signed = np.full(len(times), "", dtype=object)
    ended = np.isin(values, sought)
    signed[both] = [repr(value) for value in signed_times(times[both].astype(np.float64), ended).tolist()]
    others = Counter(events[both][~ended].tolist() if occurred is not None else []).most_common()
    counted = ", ".join(f"{value!r} ({n})" for value, n in others[:5]) + ", ..." * (len(others) > 5)
    return signed.astype(str), [f"{path}: {event} means a censored time where it is {counted}"] * bool(others)


def _plain(value: str) -> str:
    """Return a value as it is compared: 2.0 is 2, and True is true."""
    value = value.removesuffix(".0")
    return value.lower() if value.lower() in ("true", "false") else value
