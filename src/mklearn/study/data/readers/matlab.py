"""MATLAB files of any version from 5 on: arrays of numbers, text, and cells; version 7.3 is HDF5."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.atomic import existing_file
from mklearn.errors import DataError
from mklearn.study.data.readers.hdf5 import open_hdf5, word

_NUMBERS = ("double", "single", "logical", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)))
"""MATLAB's classes of arrays of numbers; a double is stored as a smaller type where nothing is lost."""


def load_mat(path: Path, *alternatives: tuple[str, ...]) -> list[np.ndarray]:
    """Read variables of a MATLAB file.

    Of `alternatives`, names of variables in order of preference, the first that the file has completely are returned:
    arrays of two or more dimensions, in the dtype of MATLAB's class; cells are arrays of dtype object.
    """
    variables = matlab_variables(path)
    for names in alternatives:
        if all(name in variables and variables[name].dtype.kind in "uifO" for name in names):
            return [variables[name] for name in names]
    expected = ", or ".join(" and ".join(names) for names in alternatives)
    listed = ", ".join(f"{name} ({values.dtype})" for name, values in variables.items()) or "none"
    raise DataError(f"{path}: has the variables {listed}; expected {expected}, of real numbers")


def matlab_variables(path: Path, wanted: Collection[str] | None = None) -> dict[str, np.ndarray]:
    """Read variables of a MATLAB file: those that are wanted, by default all.

    Arrays of numbers have two or more dimensions, and the dtype of MATLAB's class, or complex. Text is a vector of str:
    an entry for each row of characters or each entry of a cell of text. Of versions before 7.3 there are also other
    cells, of dtype object. Structures and sparse matrices are left out.
    """
    import scipy.io  # here: each step that imports a reader would wait for it

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kinds = {name: kind for name, _, kind in scipy.io.whosmat(existing_file(path))}
            kinds = {name: kind for name, kind in kinds.items() if wanted is None or name in wanted}
            values = scipy.io.loadmat(path, variable_names=list(kinds))
        arrays = {name: _array(values[name], kind) for name, kind in kinds.items()}
    except NotImplementedError:
        with open_hdf5(path) as file:
            arrays = {name: _of_hdf5(file[name], file) for name in file if wanted is None or name in wanted}
    except (DataError, MemoryError):
        raise
    except Exception as error:  # of damaged bytes, whatever SciPy and NumPy raise
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"{path}: not a readable MATLAB file ({reason}); it is truncated or damaged") from error
    return {name: array for name, array in arrays.items() if array is not None}


def _array(value: Any, kind: str) -> np.ndarray | None:
    """Return an array of numbers, text or cells as MATLAB has it; None for what is none of these."""
    if kind == "char":
        return np.char.rstrip(value) if value.ndim == 1 else None
    if kind == "cell":
        parts = [np.asarray(part) for part in value.ravel(order="F")]
        is_text = [part.dtype.kind == "U" for part in parts]
        if not any(is_text) or any(part.size for part, is_word in zip(parts, is_text, strict=True) if not is_word):
            return value
        return np.array(["".join(part.ravel().tolist()).rstrip() for part in parts], dtype=str)
    if kind not in _NUMBERS:
        return None
    return value if value.dtype.kind == "c" else value.astype(np.uint8 if kind == "logical" else kind)


def _of_hdf5(node: Any, file: Any) -> np.ndarray | None:
    """Return an array of numbers, which HDF5 has transposed, text, or a cell of text, which are references to it."""
    kind = word(node, "MATLAB_class")
    if kind == "char":
        return _text(node)
    if kind == "cell":
        parts = [file[reference] for reference in node[()].ravel()]
        is_text = all(word(part, "MATLAB_class") == "char" for part in parts)
        return np.array(["".join(_text(part)) for part in parts], dtype=str) if is_text else None
    dtype = getattr(node, "dtype", np.dtype(object))
    if dtype.names == ("real", "imag"):
        values = node[()].T
        return np.asarray(values["real"] + 1j * values["imag"])
    return np.asarray(node[()]).T if kind != "struct" and dtype.kind in "uifb" else None


def _text(node: Any) -> np.ndarray:
    if "MATLAB_empty" in node.attrs:
        return np.array([""], dtype=str)
    return np.array(["".join(map(chr, row)).rstrip() for row in node[()].T.tolist()], dtype=str)
