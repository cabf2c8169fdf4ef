"""Data sets of R packages, ``.rda`` and ``.RData`` files: matrices, data frames and factors in lists, by their path."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mklearn.atomic import existing_file
from mklearn.errors import DataError
from mklearn.extras import require

RValue = pd.DataFrame | np.ndarray


def r_values(path: Path) -> dict[str, RValue]:
    """Read the tables of numbers of a file of R, and factors and text as (n,) arrays of str; others are left out.

    They are named by their path: the name of the object, then those in its lists, such as ``nutrimouse/gene``.
    """
    path = existing_file(path)
    require("rdata")
    import rdata

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of classes that R knows and Python does not
            return dict(_flattened(rdata.conversion.convert(rdata.parser.parse_data(path.read_bytes()))))
    except Exception as error:  # of damaged bytes, whatever the package raises
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"{path}: not a readable file of R ({reason}); it is truncated or damaged") from error


def _flattened(values: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, RValue]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flattened(value, f"{place}{name}/")
            continue
        array, shape = np.asarray(value), getattr(value, "shape", ())
        if len(shape) == 1 and (hasattr(value, "categories") or array.dtype.kind == "U"):
            yield f"{place}{name}", array.astype(str)
        elif len(shape) == 2 and array.dtype.kind in "uif":
            rows, columns = (value.index, value.columns) if hasattr(value, "columns") else _names_of_matrix(value)
            yield (
                f"{place}{name}",
                pd.DataFrame(array.astype(np.float64), list(map(str, rows)), list(map(str, columns))),
            )


def _names_of_matrix(value: Any) -> Iterator[Any]:
    """Yield the names of rows and of columns; their numbers, from 1, where it has none."""
    for axis, size in enumerate(value.shape):
        dim = getattr(value, "dims", ())[axis : axis + 1]
        yield value.coords[dim[0]].values if dim and dim[0] in value.coords else range(1, size + 1)
