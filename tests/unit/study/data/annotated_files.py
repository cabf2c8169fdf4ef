"""AnnData and MuData files, written by anndata and mudata."""

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import anndata
import mudata
import pandas as pd


def write_h5ad(path: Path, X: Any, obs: pd.DataFrame, var: Iterable[str] | None = None, **more: Any) -> Path:
    """Write a matrix with a table of observations and names of features; ``obsm`` and ``layers`` are mappings."""
    _annotated(X, obs, var, **more).write_h5ad(path)
    return path


def write_h5mu(path: Path, modalities: Mapping[str, tuple[Any, pd.DataFrame]], obs: pd.DataFrame) -> Path:
    """Write modalities; the columns of `obs` are those of the whole."""
    with warnings.catch_warnings(), pd.option_context("future.infer_string", False):
        warnings.simplefilter("ignore")  # of names that are no text or occur twice
        data = mudata.MuData({name: _annotated(X, table) for name, (X, table) in modalities.items()})
        for column, values in obs.items():
            data.obs[column] = _plain(values.reindex(data.obs_names.to_numpy(dtype=object))).array
        data.write(path)
    return path


def _annotated(X: Any, obs: pd.DataFrame, var: Iterable[str] | None = None, **more: Any) -> anndata.AnnData:
    with pd.option_context("future.infer_string", False):
        table = pd.DataFrame(index=obs.index.astype(str).astype(object))
        for name, values in obs.items():
            table[name] = _plain(values).array
        features = None if var is None else pd.DataFrame(index=pd.Index(list(var), dtype=object))
        return anndata.AnnData(X, obs=table, var=features, **more)


def _plain(values: pd.Series) -> pd.Series:
    """Return a column with its text, or that of its categories, as objects: all versions of anndata write them."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        is_text = pd.api.types.is_string_dtype(values.cat.categories)
        return values.cat.rename_categories(values.cat.categories.astype(object)) if is_text else values
    return values.astype(object) if pd.api.types.is_string_dtype(values) else values
