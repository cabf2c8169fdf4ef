"""AnnData and MuData files (.h5ad, .h5mu), by their documented layout in HDF5.

They are read with h5py: anndata itself asks for zarr, on Python 3.11 for an older pandas than the other packages, and
opens other files that a file names.

References
----------
https://anndata.readthedocs.io/en/latest/fileformat-prose.html, on-disk format 0.1.0 and later (anndata 0.8 to 0.13).
https://mudata.readthedocs.io/en/latest/io/spec.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.errors import DataError
from mklearn.study.data.readers.content import Budget
from mklearn.study.data.readers.hdf5 import hdf5_errors, numbers, open_hdf5, text, word

ANNDATA, MUDATA = ".h5ad", ".h5mu"
PLACES = ("X", "obsm", "layers")
"""Where an AnnData has arrays with a row for each observation."""


def read_annotated(path: Path, array: str, id_column: str, columns: Sequence[str]) -> dict[str, np.ndarray]:
    """Read one array of observations, their names, and columns of ``obs``.

    Parameters
    ----------
    path : Path
        ``.h5ad`` or ``.h5mu``.
    array : str
        Of AnnData ``X``, ``obsm/NAME`` or ``layers/NAME``. Of MuData the name of a modality, for its ``X``, or
        ``MODALITY/obsm/NAME`` and the like.
    id_column : str
        Column of ``obs`` with the ids; if there is none, the index of ``obs`` is taken.
    columns : sequence of str
        Columns of ``obs`` to read, as far as there are such: of a modality its own, else those of the whole.

    Returns
    -------
    dict of str to array
        `id_column`, the columns, where an entry may be None, and `array`: a dense matrix (n, d).

    Raises
    ------
    DataError
        Not such a file, damaged, no such array, or an array that is too large as a dense table.
    """
    kind = "MuData" if path.suffix == MUDATA else "AnnData"
    with open_hdf5(path) as (file, own), hdf5_errors(path, kind):
        part, place = _part(file, array, own)
        obs = _entry(part, "obs", own)
        index = _index(obs, own)
        found = {array: _matrix(part, place, own)}
        if len(found[array]) != len(index):
            raise DataError(f"{path}: {array} has {len(found[array])} rows for {len(index)} observations")
        found[id_column] = _column(obs[id_column], own) if id_column in obs else index
        for column in columns:
            if column in obs:
                found[column] = _column(obs[column], own)
            elif part is not file and column in _entry(file, "obs", own):
                found[column] = _of_the_whole(file["obs"], column, index, own)
        return found


def feature_names(path: Path, array: str) -> list[str] | None:
    """Return the names of an array's features, the index of ``var``.

    None for arrays in ``obsm``, whose columns have no names, for a file without ``var``, and where a name occurs twice.
    """
    with open_hdf5(path) as (file, own), hdf5_errors(path, "AnnData or MuData"):
        part, place = _part(file, array, own)
        if place.startswith("obsm/") or "var" not in part or "_index" not in part["var"].attrs:
            return None
        names = [str(name) for name in _index(part["var"], own)]
        return names if len(set(names)) == len(names) else None


def obs_column(path: Path, name: str) -> np.ndarray:
    """Return a column of ``obs`` as it is stored, of MuData of the whole or else of its first modality with it.

    Without such a column, it is empty.
    """
    with open_hdf5(path) as (file, own), hdf5_errors(path, "AnnData or MuData"):
        parts = [file, *(file.get("mod", {}).values())]
        holding = (part["obs"] for part in parts if name in _entry(part, "obs", own))
        obs = next(holding, None)
        return np.array([], dtype=str) if obs is None else _column(obs[name], own)


def arrays_of(path: Path) -> tuple[list[str], list[str]]:
    """List the columns of ``obs``, and the arrays that :func:`read_annotated` takes: of MuData the modalities."""
    with open_hdf5(path) as (file, own), hdf5_errors(path, "AnnData or MuData"):
        columns = [str(name) for name in _entry(file, "obs", own) if not str(name).startswith("_")]
        if path.suffix == MUDATA:
            return columns, [str(name) for name in _entry(file, "mod", own)]
        return columns, _places(file)


def _part(file: Any, array: str, own: Budget) -> tuple[Any, str]:
    """Return the AnnData that holds an array, the file itself or a modality, and the array's place in it."""
    if own.path.suffix != MUDATA:
        return file, array
    modality, _, place = array.partition("/")
    return _entry(_entry(file, "mod", own), modality, own, "modality"), place or "X"


def _places(part: Any) -> list[str]:
    inside = [f"{place}/{name}" for place in PLACES[1:] for name in part.get(place, ())]
    return ["X", *inside] if "X" in part else inside


def _matrix(part: Any, place: str, own: Budget) -> np.ndarray:
    if place not in _places(part):
        raise DataError(f"{own.path}: no array {place!r}; it has {', '.join(_places(part)) or 'none'}")
    node = part[place]
    encoding = word(node, "encoding-type")
    if encoding in ("csr_matrix", "csc_matrix"):
        return _filled(node, encoding, own)
    if encoding in ("array", "") and hasattr(node, "dtype"):
        values = numbers(node, own)
        if values.ndim != 2:
            raise DataError(f"{own.path}: {place} has shape {values.shape}; expected observations in rows")
        return values
    raise DataError(f"{own.path}: {place} is stored as {encoding or 'a group'}; expected a dense or a sparse matrix")


def _filled(node: Any, encoding: str, own: Budget) -> np.ndarray:
    """Return a sparse matrix as a dense one, if it is not too large."""
    from scipy.sparse import csc_array, csr_array

    shape = tuple(int(size) for size in node.attrs["shape"])
    own.take(shape, node.name)
    parts = tuple(numbers(node[name], own) for name in ("data", "indices", "indptr"))
    matrix = (csr_array if encoding == "csr_matrix" else csc_array)(parts, shape=shape)
    matrix.check_format(full_check=True)
    return matrix.toarray()


def _index(table: Any, own: Budget) -> np.ndarray:
    return _column(table[str(table.attrs["_index"])], own)


def _column(node: Any, own: Budget) -> np.ndarray:
    """Return a column of a table, or its index; missing values of categories and of nullable types are None."""
    encoding = word(node, "encoding-type")
    if encoding == "categorical":
        codes, categories = numbers(node["codes"], own), _column(node["categories"], own)
        if codes.dtype.kind not in "iu" or codes.max(initial=-1) >= len(categories):
            raise DataError(f"{own.path}: {node.name} has codes without a category")
        return np.array([None if code < 0 else categories[code] for code in codes.tolist()], dtype=object)
    if encoding.startswith("nullable-"):
        values, mask = text(node["values"], own).astype(object), numbers(node["mask"], own).astype(bool)
        values[mask] = None
        return values
    if "categories" in node.attrs:
        raise DataError(
            f"{own.path}: {node.name} was written by anndata before version 0.8; read it and write it again"
        )
    return text(node, own)


def _of_the_whole(obs: Any, column: str, index: np.ndarray, own: Budget) -> np.ndarray:
    """Return a column of all observations of a MuData, for those of a modality."""
    known: Mapping[Any, Any] = dict(zip(_index(obs, own), _column(obs[column], own), strict=True))
    lacking = [name for name in index if name not in known]
    if lacking:
        raise DataError(f"{own.path}: obs has no observation {str(lacking[0])!r}, which a modality has")
    return np.array([known[name] for name in index], dtype=object)


def _entry(group: Any, name: str, own: Budget, what: str = "group") -> Any:
    if name not in group:
        raise DataError(f"{own.path}: no {what} {name!r}; it has {', '.join(map(str, group)) or 'none'}")
    return group[name]
