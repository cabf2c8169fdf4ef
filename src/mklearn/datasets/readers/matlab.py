"""MATLAB files up to version 7 (scipy), with errors that name the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mklearn.errors import DataError


def load_mat(path: Path, *alternatives: tuple[str, ...]) -> list[np.ndarray]:
    """Read variables of a MATLAB file.

    Parameters
    ----------
    path : Path
    *alternatives : tuples of str
        Names of the variables, in order of preference; the first that the file has completely are returned.

    Raises
    ------
    DataError
        Not a MATLAB file, a truncated one, of version 7.3 (which is HDF5), or without these variables.
    """
    from scipy.io import loadmat

    try:
        with path.open("rb") as stream:
            variables = loadmat(stream)
    except NotImplementedError as error:
        raise DataError(f"{path}: a MATLAB file of version 7.3 (HDF5); save it with save(..., '-v7')") from error
    except Exception as error:  # scipy lets errors of many kinds through from a damaged file
        raise DataError(f"{path}: not a readable MATLAB file ({error}); it is truncated or of another kind") from error
    for names in alternatives:
        if set(names) <= set(variables):
            return [np.asarray(variables[name]) for name in names]
    found = ", ".join(name for name in variables if not name.startswith("__")) or "none"
    expected = ", or ".join(" and ".join(names) for names in alternatives)
    raise DataError(f"{path}: has the variables {found}; expected {expected}")


def is_8_bit(values: np.ndarray) -> bool:
    """Tell whether all values are integers in 0..255, so that nothing is lost as uint8."""
    return bool(
        values.dtype.kind in "uif" and values.min() >= 0 and values.max() <= 255 and not np.mod(values, 1).any()
    )
