"""AnnData and MuData files by their documented layout, as anndata 0.12 writes them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import scipy.sparse as sp


def write_anndata(group: Any, X: Any, obs: pd.DataFrame, **more: Any) -> None:
    """Write a matrix, or a sparse one, with a table of observations; ``obsm`` and ``layers`` are mappings."""
    write_array(group, "X", X)
    write_table(group, "obs", obs)
    for place, arrays in more.items():
        group.create_group(place)
        for name, array in arrays.items():
            write_array(group[place], name, array)


def write_array(group: Any, name: str, X: Any) -> None:
    if not sp.issparse(X):
        group[name] = X
        group[name].attrs["encoding-type"] = "array"
        return
    node = group.create_group(name)
    node.attrs.update({"encoding-type": f"{X.format}_matrix", "shape": X.shape})
    for part in ("data", "indices", "indptr"):
        node[part] = getattr(X, part)


def write_table(group: Any, name: str, table: pd.DataFrame) -> None:
    node = group.create_group(name)
    node.attrs.update({"encoding-type": "dataframe", "_index": "_index"})
    for column, values in {"_index": table.index, **dict(table.items())}.items():
        values = pd.Series(values)
        if isinstance(values.dtype, pd.CategoricalDtype):
            part = node.create_group(column)
            part.attrs["encoding-type"] = "categorical"
            part["codes"] = values.cat.codes.to_numpy()
            part["categories"] = values.cat.categories.to_numpy(dtype=object)
        elif values.dtype == "Int64":
            part = node.create_group(column)
            part.attrs["encoding-type"] = "nullable-integer"
            part["values"] = values.fillna(0).to_numpy(dtype=np.int64)
            part["mask"] = values.isna().to_numpy()
        else:
            node[column] = values.to_numpy(dtype=object if values.dtype.kind in "OUT" else None)


def write_h5ad(path: Path, X: Any, obs: pd.DataFrame, **more: Any) -> Path:
    with h5py.File(path, "w") as file:
        write_anndata(file, X, obs, **more)
    return path


def write_h5mu(path: Path, modalities: Mapping[str, tuple[Any, pd.DataFrame]], obs: pd.DataFrame) -> Path:
    with h5py.File(path, "w") as file:
        write_table(file, "obs", obs)
        for name, (X, own) in modalities.items():
            write_anndata(file.create_group(f"mod/{name}"), X, own)
    return path
