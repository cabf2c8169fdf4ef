"""Data sets of R packages, ``.rda`` and ``.RData`` files: matrices, data frames and factors in lists, by their path.

The package ``rdata`` reads them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mklearn.atomic import existing_file
from mklearn.errors import DataError, UserError
from mklearn.extras import require
from mklearn.study.data.readers.content import Budget


class RTable(NamedTuple):
    """A matrix or data frame of numbers, with the names of its rows and columns."""

    values: np.ndarray
    rows: list[str]
    columns: list[str]


RValue = RTable | np.ndarray


def r_values(path: Path) -> dict[str, RValue]:
    """Read what a file of R holds.

    Returns
    -------
    dict of str to RTable or (n,) array of str
        Tables of numbers, and factors and text as arrays, by their path: the name of the object, then those in its
        lists, such as ``nutrimouse/gene``. Others are left out.

    Raises
    ------
    DataError
        Not such a file, or a damaged one.
    MissingExtra
        The package ``rdata`` is not installed.
    """
    path = existing_file(path)
    require("rdata")
    try:
        return _read(path)
    except (UserError, MemoryError):
        raise
    except Exception as error:  # of damaged bytes, whatever the package raises
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"{path}: not a readable file of R ({reason}); it is truncated or damaged") from error


def _read(path: Path) -> dict[str, RValue]:
    import rdata

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes that R knows and Python does not
        objects = rdata.conversion.convert(rdata.parser.parse_data(path.read_bytes()))
    return dict(_flattened(objects, path))


def _flattened(values: Mapping[str, Any], path: Path, place: str = "") -> Iterator[tuple[str, RValue]]:
    for name, value in values.items():
        where = f"{place}{name}"
        if isinstance(value, Mapping):
            yield from _flattened(value, path, f"{where}/")
        elif (known := _known(value, path, where)) is not None:
            yield where, known


def _known(value: Any, path: Path, where: str) -> RValue | None:
    """Return a table of numbers with its names, or a vector of text; None for what is neither."""
    shape = getattr(value, "shape", ())
    Budget(path).take(shape, where)
    held = np.asarray(value)
    if len(shape) == 1 and (hasattr(value, "categories") or held.dtype.kind == "U"):
        return held.astype(str)
    if len(shape) != 2 or held.dtype.kind not in "uif":
        return None
    rows, columns = (value.index, value.columns) if hasattr(value, "columns") else _names_of_matrix(value)
    return RTable(held.astype(np.float64), list(map(str, rows)), list(map(str, columns)))


def _names_of_matrix(value: Any) -> Iterator[Any]:
    """Yield the names of rows and of columns; their numbers, from 1, where it has none."""
    for axis, size in enumerate(value.shape):
        dim = getattr(value, "dims", ())[axis : axis + 1]
        yield value.coords[dim[0]].values if dim and dim[0] in value.coords else range(1, size + 1)
