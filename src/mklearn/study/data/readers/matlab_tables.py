"""Variables of the user's own MATLAB files, of any version from 5 on; version 7.3 is HDF5."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.atomic import existing_file
from mklearn.study.data.readers.content import Budget
from mklearn.study.data.readers.hdf5 import hdf5_errors, numbers, open_hdf5, word
from mklearn.study.data.readers.matlab import all_variables


def own_variables(path: Path, wanted: Collection[str] | None = None) -> dict[str, np.ndarray]:
    """Read the variables that a table can be made from: those that are wanted, by default all.

    Returns
    -------
    dict of str to array
        Arrays of numbers with two or more dimensions, in the dtype of MATLAB's class, or complex; text, one entry for
        each row of characters or each entry of a cell, as a vector of str. Others (structures, sparse matrices) are
        left out.

    Raises
    ------
    DataError
        Missing, not a MATLAB file, or a truncated or damaged one.
    """
    variables = all_variables(existing_file(path), wanted)
    if variables is None:
        return _of_hdf5(path, wanted)
    found = {}
    for name, values in variables.items():
        if values is not None and values.dtype.hasobject:
            values = _words(values)
        if values is not None:
            found[name] = values
    return found


def _words(cells: np.ndarray) -> np.ndarray | None:
    """Return the entries of a cell as text; None if one is no text."""
    parts = [np.asarray(part) for part in cells.ravel(order="F")]
    words = ["".join(part.ravel().tolist()).rstrip() for part in parts if part.dtype.kind == "U" or part.size == 0]
    return np.array(words, dtype=str) if len(words) == cells.size else None


def _of_hdf5(path: Path, wanted: Collection[str] | None) -> dict[str, np.ndarray]:
    """Read arrays of numbers, which HDF5 has transposed, text, and cells of text, which are references to it."""
    found = {}
    with open_hdf5(path) as (file, own), hdf5_errors(path, "MATLAB 7.3"):
        for name in file if wanted is None else wanted:
            if name not in file:
                continue
            node = file[name]
            kind = word(node, "MATLAB_class")
            if kind == "char":
                found[name] = _text(node, own)
            elif kind == "cell":
                parts = [file[reference] for reference in numbers(node, own).ravel()]
                if all(word(part, "MATLAB_class") == "char" for part in parts):
                    found[name] = np.array(["".join(_text(part, own).tolist()) for part in parts], dtype=str)
            elif kind != "struct" and getattr(node, "dtype", np.dtype(object)).kind in "uifb":
                found[name] = numbers(node, own).T
            elif getattr(getattr(node, "dtype", None), "names", None) == ("real", "imag"):
                values = numbers(node, own).T
                found[name] = values["real"] + 1j * values["imag"]
    return found


def _text(node: Any, own: Budget) -> np.ndarray:
    if "MATLAB_empty" in node.attrs:
        return np.array([""], dtype=str)
    return np.array(["".join(map(chr, row)).rstrip() for row in numbers(node, own).T.tolist()], dtype=str)
