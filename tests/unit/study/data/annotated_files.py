"""AnnData and MuData files, written by anndata and mudata."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anndata
import mudata
import pandas as pd

NULLABLE, PLAIN = pd.StringDtype("python"), object
"""Text as anndata 0.13 writes it, and as the versions before did."""


def write_h5ad(
    path: Path, X: Any, obs: pd.DataFrame, var: Iterable[str] | None = None, text: Any = NULLABLE, **more: Any
) -> Path:
    """Write a matrix with a table of observations and names of features; ``obsm`` and ``layers`` are mappings."""
    with _texts(text):
        _annotated(X, obs, text, var, **more).write_h5ad(path)
    return path


def write_h5mu(
    path: Path, modalities: Mapping[str, tuple[Any, pd.DataFrame]], obs: pd.DataFrame, text: Any = NULLABLE
) -> Path:
    """Write modalities; the columns of `obs` are those of the whole."""
    with _texts(text):
        data = mudata.MuData({name: _annotated(X, own, text) for name, (X, own) in modalities.items()})
        for column, values in obs.items():
            data.obs[column] = _stored(values.reindex(data.obs_names.to_numpy(dtype=object)), text).array
        data.write(path)
    return path


@contextmanager
def _texts(text: Any) -> Iterator[None]:
    """Let anndata store text in one way; before 0.13 it can't write what pandas 3 makes of it by default."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are no text or occur twice, and of the option
        with (
            pd.option_context("future.infer_string", False),
            anndata.settings.override(allow_write_nullable_strings=text is NULLABLE),
        ):
            yield


def _annotated(X: Any, obs: pd.DataFrame, text: Any, var: Iterable[str] | None = None, **more: Any) -> anndata.AnnData:
    table = pd.DataFrame(index=obs.index.astype(str).astype(text))
    for name, values in obs.items():
        table[name] = _stored(values, text).array
    features = None if var is None else pd.DataFrame(index=pd.Index(list(var), dtype=text))
    return anndata.AnnData(X, obs=table, var=features, **more)


def _stored(values: pd.Series, text: Any) -> pd.Series:
    """Return a column with its text, or that of its categories, in one type."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        is_text = pd.api.types.is_string_dtype(values.cat.categories)
        return values.cat.rename_categories(values.cat.categories.astype(text)) if is_text else values
    return values.astype(text) if pd.api.types.is_string_dtype(values) else values
