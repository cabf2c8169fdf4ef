"""HDF5 files that users bring: opened, and their arrays read, with errors that name the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.atomic import existing_file
from mklearn.errors import DataError, UserError
from mklearn.extras import require
from mklearn.study.data.readers.content import check_size


@contextmanager
def open_hdf5(path: Path) -> Iterator[Any]:
    """Open an HDF5 file for reading; raise DataError if it is missing or no HDF5 file."""
    require("h5py")
    import h5py

    existing_file(path)
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise DataError(f"{path}: not a readable HDF5 file ({_short(error)}); it is truncated or damaged") from error
    with file:
        yield file


@contextmanager
def hdf5_errors(path: Path, kind: str) -> Iterator[None]:
    """Raise DataError for whatever h5py and NumPy raise of damaged bytes."""
    try:
        yield
    except (UserError, MemoryError):
        raise
    except Exception as error:
        raise DataError(f"{path}: not a readable {kind} file ({_short(error)}); it is truncated or damaged") from error


def numbers(node: Any, path: Path) -> np.ndarray:
    """Read a dataset; raise DataError if it is none, or too large (:func:`check_size`)."""
    if not hasattr(node, "nbytes"):
        raise DataError(f"{path}: {getattr(node, 'name', 'an entry')} is a group where an array should be")
    _check_own(node, path)
    check_size(node.shape, path, node.name, node.dtype.itemsize)
    return np.asarray(node[()])


def text(node: Any, path: Path) -> np.ndarray:
    """Read a dataset of text, or of numbers as they are."""
    import h5py

    if hasattr(node, "dtype") and h5py.check_string_dtype(node.dtype) is not None:
        _check_own(node, path)
        check_size(node.shape, path, node.name, 16)
        return np.asarray(node.asstr()[()], dtype=object)
    return numbers(node, path)


def word(node: Any, name: str) -> str:
    """Return an attribute that is a word; "" if there is none."""
    found = node.attrs.get(name, "")
    return found.decode() if isinstance(found, bytes) else str(found)


def _check_own(node: Any, path: Path) -> None:
    """Raise DataError for an array that is in another file, which HDF5 would open by the name that this one says."""
    if node.file.filename != str(path) or node.external or node.is_virtual:
        raise DataError(f"{path}: {node.name} is in another file; copy the array into this one")


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
