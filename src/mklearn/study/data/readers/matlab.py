"""MATLAB files of versions 5 to 7: arrays of numbers, text, and cells of them, with errors that name the file.

``scipy.io.loadmat`` is not made for files of unknown origin: its own documentation says so, and a wrong type code makes
it read outside its tables. It runs in a worker process, whose crash is a sentence. It reads on where an element is
longer than the file or a size is negative, and drops imaginary parts where it is asked for MATLAB's classes; so sizes
and classes are compared and set here.
"""

from __future__ import annotations

import faulthandler
import os
import struct
import warnings
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.errors import DataError, UserError
from mklearn.study.data.readers.content import Budget
from mklearn.study.supervisor import supervised

_HEADER = 128
_NUMBERS = ("double", "single", "logical", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)))
"""MATLAB's classes of arrays of numbers; a double is stored as a smaller type where nothing is lost."""
_WHOLE_IN_DOUBLE = 2**53


def load_mat(path: Path, *alternatives: tuple[str, ...]) -> list[np.ndarray]:
    """Read variables of a MATLAB file.

    Parameters
    ----------
    path : Path
    *alternatives : tuples of str
        Names of the variables, in order of preference; the first that the file has completely are returned.

    Returns
    -------
    list of arrays
        Of two or more dimensions, in the dtype of MATLAB's class; cells are arrays of dtype object.

    Raises
    ------
    DataError
        Not a MATLAB file, a truncated one, of version 7.3 (which is HDF5), or without these variables as real numbers.
    """
    variables = all_variables(path)
    if variables is None:
        raise DataError(f"{path}: a MATLAB file of version 7.3 (HDF5); save it with save(..., '-v7')")
    numeric = {name: array for name, array in variables.items() if array is not None and array.dtype.kind in "uifO"}
    for names in alternatives:
        if set(names) <= set(numeric):
            return [numeric[name] for name in names]
    found = ", ".join(f"{name}{'' if name in numeric else ' (no real numbers)'}" for name in variables) or "none"
    expected = ", or ".join(" and ".join(names) for names in alternatives)
    raise DataError(f"{path}: has the variables {found}; expected {expected}")


def all_variables(path: Path, wanted: Collection[str] | None = None) -> dict[str, np.ndarray | None] | None:
    """Read the variables of a MATLAB file; return None for a file of version 7.3, which is HDF5.

    Parameters
    ----------
    path : Path
    wanted : collection of str, optional
        Names of the variables to read, as far as there are such; by default all.

    Returns
    -------
    dict of str to array
        Real or complex numbers in the dtype of MATLAB's class; text as a vector of its rows; cells of dtype object;
        None for what is none of these.

    Raises
    ------
    DataError
        Not a MATLAB file, or a truncated or damaged one.
    """
    if _is_hdf5(path):
        return None
    try:
        (variables,) = supervised(_variables(path, wanted), minutes=None)
    except UserError:
        raise
    except Exception as error:  # of damaged bytes, whatever SciPy and NumPy raise, or a crash
        raise _damaged(path, error) from error
    return variables


def integer_values(values: np.ndarray, path: Path, name: str) -> np.ndarray:
    """Return a variable of codes or positions as a vector of int64; raise DataError if it is no whole numbers."""
    flat = values.ravel()
    if flat.dtype.kind not in "uif" or not ((np.abs(flat) < _WHOLE_IN_DOUBLE) & (np.mod(flat, 1) == 0)).all():
        raise DataError(f"{path}: {name} has values that are not whole numbers below 2**53")
    return flat.astype(np.int64)


def is_8_bit(values: np.ndarray) -> bool:
    """Tell whether all values are integers in 0..255, so that nothing is lost as uint8."""
    if values.dtype.kind not in "uif" or not values.size:
        return False
    return bool(values.min() >= 0 and values.max() <= 255 and not np.mod(values, 1).any())


def _is_hdf5(path: Path) -> bool:
    """Tell whether a MATLAB file is of version 7.3; raise DataError unless the elements of another one fill it."""
    with path.open("rb") as stream:
        header = stream.read(_HEADER)
        order = {b"IM": "<", b"MI": ">"}.get(header[126:])
        if order is None:
            raise DataError(f"{path}: not a readable MATLAB file of version 5 to 7; it is truncated or of another kind")
        if struct.unpack(order + "H", header[124:126])[0] >> 8 == 2:
            return True
        while len(tag := stream.read(8)) == 8:
            stream.seek(struct.unpack(order + "II", tag)[1], os.SEEK_CUR)
        if tag or stream.tell() != path.stat().st_size:
            raise _damaged(path, "an element is longer than the file")
    return False


def _variables(path: Path, wanted: Collection[str] | None) -> Iterator[dict[str, np.ndarray | None]]:
    import scipy.io  # here: each step that imports a reader would wait for it

    faulthandler.disable()  # of a damaged file, a crash is an answer
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        held = {name: (shape, kind) for name, shape, kind in scipy.io.whosmat(path)}
        stored = {name: about for name, about in held.items() if wanted is None or name in wanted}
        budget = Budget(path)
        for name, (shape, kind) in stored.items():
            budget.take(shape if kind in (*_NUMBERS, "char", "cell") else None, name)
        found = scipy.io.loadmat(path, variable_names=list(stored))
    yield {name: _known(found[name], *about) for name, about in stored.items()}


def _known(value: Any, shape: tuple[int, ...], kind: str) -> np.ndarray | None:
    """Return an array of numbers, text or cells; None for structures, functions, objects and sparse matrices."""
    if isinstance(value, str):
        raise ValueError(value)  # why SciPy could not read a variable
    if kind == "char" and value.ndim == 1:
        return np.char.rstrip(value)
    if kind not in (*_NUMBERS, "cell"):
        return None
    if value.shape != shape:
        raise ValueError(f"a variable of shape {shape} with {value.size} values")
    if kind == "cell" or value.dtype.kind == "c":
        return value
    return value.astype(np.uint8 if kind == "logical" else kind)


def _damaged(path: Path, reason: object) -> DataError:
    reason = " ".join(str(reason).split()) or type(reason).__name__
    return DataError(f"{path}: not a readable MATLAB file ({reason}); it is truncated or damaged")
