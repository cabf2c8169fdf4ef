"""AnnData and MuData files (.h5ad, .h5mu), by their documented layout in HDF5.

References
----------
https://anndata.readthedocs.io/en/latest/fileformat-prose.html, on-disk format 0.1.0 and later (anndata 0.8 to 0.13).
https://mudata.readthedocs.io/en/latest/io/spec.html
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.errors import DataError
from mklearn.study.data.readers.content import dense
from mklearn.study.data.readers.hdf5 import array_of, open_hdf5, word

ANNDATA, MUDATA = ".h5ad", ".h5mu"


def read_annotated(
    path: Path, array: str, id_column: str, columns: Sequence[str]
) -> tuple[dict[str, np.ndarray], list[str] | None]:
    """Read one array of observations and columns of ``obs``, and the names of the array's features.

    `array` is of AnnData ``X``, ``obsm/NAME`` or ``layers/NAME``; of MuData the name of a modality, for its ``X``, or
    ``MODALITY/obsm/NAME`` and the like. Where `id_column` is no column of ``obs``, its index has the ids. Columns are
    those of a modality, else those of the whole, as far as there are such; an entry may be None. The names of features
    are the index of ``var``; None of arrays in ``obsm`` and where a name occurs twice.
    """
    with open_hdf5(path) as file:
        part, place = file, array
        if path.suffix == MUDATA:
            modality, _, place = array.partition("/")
            if modality not in file["mod"]:
                raise DataError(f"{path}: no modality {modality!r}; it has {', '.join(file['mod']) or 'none'}")
            part, place = file["mod"][modality], place or "X"
        obs, index = part["obs"], _index(part["obs"], path)
        matrix = _matrix(part, place, path)
        arrays = {array: matrix, id_column: _column(obs[id_column], path) if id_column in obs else index}
        for column in columns:
            if column in obs:
                arrays[column] = _column(obs[column], path)
            elif column in file["obs"]:
                whole = file["obs"]
                values = dict(zip(_index(whole, path), _column(whole[column], path), strict=True))
                arrays[column] = np.array([values[name] for name in index], dtype=object)
        names = None
        if not place.startswith("obsm/") and "var" in part:
            names = list(map(str, _index(part["var"], path)))
        if matrix.shape != (len(index), matrix.shape[1] if names is None else len(names)):
            raise DataError(
                f"{path}: {array} has shape {matrix.shape} for {len(index)} observations in obs"
                + ("" if names is None else f" and {len(names)} names in var")
            )
        return arrays, names if names is not None and len(set(names)) == len(names) else None


def obs_column(path: Path, name: str) -> np.ndarray:
    """Return a column of ``obs``, of MuData of the whole or else of its first modality with it; empty if none has it.

    Missing values are None.
    """
    with open_hdf5(path) as file:
        tables = [part["obs"] for part in (file, *file.get("mod", {}).values())]
        return next((_column(obs[name], path) for obs in tables if name in obs), np.array([], dtype=str))


def arrays_of(path: Path) -> tuple[list[str], list[str]]:
    """List the columns of ``obs``, and the arrays that :func:`read_annotated` takes: of MuData the modalities."""
    with open_hdf5(path) as file:
        columns = [str(name) for name in file["obs"] if not str(name).startswith("_")]
        return columns, list(file["mod"]) if path.suffix == MUDATA else _places(file)


def _places(part: Any) -> list[str]:
    inside = [f"{place}/{name}" for place in ("obsm", "layers") for name in part.get(place, ())]
    return ["X", *inside] if "X" in part else inside


def _matrix(part: Any, place: str, path: Path) -> np.ndarray:
    if place not in _places(part):
        raise DataError(f"{path}: no array {place!r}; it has {', '.join(_places(part)) or 'none'}")
    node = part[place]
    encoding = word(node, "encoding-type")
    if encoding in ("csr_matrix", "csc_matrix"):
        from scipy.sparse import csc_array, csr_array

        build = csr_array if encoding == "csr_matrix" else csc_array
        parts = tuple(array_of(node[name]) for name in ("data", "indices", "indptr"))
        return dense(build(parts, shape=tuple(map(int, node.attrs["shape"]))), path)
    if hasattr(node, "dtype") and node.ndim == 2:
        return array_of(node)
    raise DataError(f"{path}: {place} is stored as {encoding or 'a group'}; expected a dense or a sparse matrix")


def _index(table: Any, path: Path) -> np.ndarray:
    return _column(table[str(table.attrs["_index"])], path)


def _column(node: Any, path: Path) -> np.ndarray:
    """Return a column of a table, or its index; missing values of categories and of nullable types are None."""
    encoding = word(node, "encoding-type")
    if encoding == "categorical":
        categories = _column(node["categories"], path)
        return np.array([None if code < 0 else categories[code] for code in array_of(node["codes"])], dtype=object)
    if encoding.startswith("nullable-"):
        values = array_of(node["values"]).astype(object)
        values[array_of(node["mask"]).astype(bool)] = None
        return values
    if "categories" in node.attrs:
        raise DataError(f"{path}: {node.name} was written by anndata before version 0.8; read it and write it again")
    return array_of(node)
