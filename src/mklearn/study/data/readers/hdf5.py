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
from mklearn.study.data.readers.content import Budget

_TEXT_BYTES = 64
"""What a short text takes as an object."""


@contextmanager
def open_hdf5(path: Path) -> Iterator[tuple[Any, Budget]]:
    """Open an HDF5 file for reading, with the memory that its arrays may take.

    Raises
    ------
    DataError
        It is missing, no HDF5 file, or has a link or an array of another file: HDF5 would open whatever it names.
    """
    require("h5py")
    import h5py

    existing_file(path)
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise DataError(f"{path}: not a readable HDF5 file ({_short(error)}); it is truncated or damaged") from error
    with file:
        with hdf5_errors(path, "HDF5"):
            _check_own(file, path)
        yield file, Budget(path)


@contextmanager
def hdf5_errors(path: Path, kind: str) -> Iterator[None]:
    """Raise DataError for whatever h5py and NumPy raise of damaged bytes."""
    try:
        yield
    except (UserError, MemoryError):
        raise
    except Exception as error:
        raise DataError(f"{path}: not a readable {kind} file ({_short(error)}); it is truncated or damaged") from error


def numbers(node: Any, own: Budget) -> np.ndarray:
    """Read a dataset; raise DataError if it is none, or too large."""
    if not hasattr(node, "dtype"):
        raise DataError(f"{own.path}: {getattr(node, 'name', 'an entry')} is a group where an array should be")
    own.take(node.shape, node.name, node.dtype.itemsize)
    return np.asarray(node[()])


def text(node: Any, own: Budget) -> np.ndarray:
    """Read a dataset of text, or of numbers as they are."""
    import h5py

    if not hasattr(node, "dtype") or h5py.check_string_dtype(node.dtype) is None:
        return numbers(node, own)
    own.take(node.shape, node.name, _TEXT_BYTES + node.dtype.itemsize)
    return np.asarray(node.asstr()[()], dtype=object)


def word(node: Any, name: str) -> str:
    """Return an attribute that is a word; "" if there is none."""
    found = node.attrs.get(name, "")
    return found.decode() if isinstance(found, bytes) else str(found)


def _check_own(file: Any, path: Path) -> None:
    """Raise DataError for what is in another file, before anything is opened that it names."""
    import h5py

    links: dict[bytes, int] = {}
    file.id.links.visit(lambda name, link: links.update({name: link.type}), info=True)
    for name, kind in links.items():
        where = f"{path}: {name.decode(errors='replace')}"
        if kind not in (h5py.h5l.TYPE_HARD, h5py.h5l.TYPE_SOFT):
            raise DataError(f"{where} is in another file; copy it into this one")
        node = h5py.h5o.open(file.id, name) if kind == h5py.h5l.TYPE_HARD else None
        if isinstance(node, h5py.h5d.DatasetID):
            made = node.get_create_plist()
            if made.get_layout() == h5py.h5d.VIRTUAL or made.get_external_count():
                raise DataError(f"{where} is in another file; copy it into this one")


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
