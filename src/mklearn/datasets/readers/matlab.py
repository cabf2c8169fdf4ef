"""MATLAB files up to version 7 (scipy), with errors that name the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mklearn.errors import DataError


def load_mat(path: Path) -> dict[str, Any]:
    """The variables of a MATLAB file.

    Raises
    ------
    DataError
        Not a MATLAB file, a truncated one, or of version 7.3 (which is HDF5).
    """
    from scipy.io import loadmat

    try:
        with path.open("rb") as stream:
            variables = loadmat(stream)
    except NotImplementedError as error:
        raise DataError(f"{path}: a MATLAB file of version 7.3 (HDF5); save it with save(..., '-v7')") from error
    except Exception as error:  # scipy lets errors of many kinds through from a damaged file
        raise DataError(f"{path}: not a readable MATLAB file ({error}); it is truncated or of another kind") from error
    return {name: value for name, value in variables.items() if not name.startswith("__")}
