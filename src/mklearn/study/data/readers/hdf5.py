"""HDF5 files that users bring: AnnData, MuData and MATLAB 7.3."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.atomic import existing_file
from mklearn.errors import DataError, UserError
from mklearn.extras import require


@contextmanager
def open_hdf5(path: Path) -> Iterator[Any]:
    """Open an HDF5 file for reading; what h5py and NumPy raise of a damaged one, then or later, is a DataError."""
    require("h5py")
    import h5py

    try:
        with h5py.File(existing_file(path), "r") as file:
            yield file
    except (UserError, MemoryError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataError(f"{path}: not a readable HDF5 file ({reason}); it is truncated or damaged") from error


def array_of(node: Any) -> np.ndarray:
    """Read a dataset; text as objects."""
    import h5py

    is_text = h5py.check_string_dtype(node.dtype) is not None
    return np.asarray(node.asstr()[()], dtype=object) if is_text else np.asarray(node[()])


def word(node: Any, name: str) -> str:
    """Return an attribute that is a word; "" if there is none."""
    value = node.attrs.get(name, "")
    return value.decode() if isinstance(value, bytes) else str(value)
