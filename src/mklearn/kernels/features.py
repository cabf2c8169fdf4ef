"""Feature tables for kernels: dense or sparse, with columns chosen by position or name."""

from __future__ import annotations

from typing import Any

import numpy as np

from mklearn.checks import Array, as_float_matrix
from mklearn.errors import DataError


def is_sparse(values: Any) -> bool:
    """Return whether `values` are a SciPy sparse matrix or array."""
    return hasattr(values, "toarray")


def canonical(table: Any) -> Any:
    """Return a sparse matrix with one entry for each place, not modified."""
    if not getattr(table, "has_canonical_format", True):
        table = table.copy()
        table.sum_duplicates()
    return table


def as_features(values: Any, name: str) -> Any:
    """Return a table as a finite floating-point matrix; a sparse table becomes a CSR array.

    Errors are as for `mklearn.checks.as_float_matrix`.
    """
    if not is_sparse(values):
        return as_float_matrix(values, name)
    from scipy.sparse import csr_array

    table = canonical(csr_array(values))
    if table.dtype.kind not in "fiub":
        raise DataError(f"{name} has dtype {table.dtype}; expected real numbers")
    if table.dtype not in (np.float32, np.float64):
        table = table.astype(np.float64)
    if 0 in table.shape:
        raise DataError(f"{name} is empty (shape {table.shape})")
    if not np.isfinite(table.data).all():
        raise DataError(f"{name} has NaN or infinite entries")
    return table


def in_form_of(values: Any, other: Any) -> Any:
    """Return features as a CSR array if `other` is sparse, else as a dense array."""
    if is_sparse(values) == is_sparse(other):
        return values
    if is_sparse(values):
        return values.toarray()
    from scipy.sparse import csr_array

    return csr_array(values)


def squared_norms(features: Any) -> Array:
    """Compute the inner product of each row of a dense or sparse matrix with itself, shape (n,)."""
    if is_sparse(features):
        return np.asarray(features.multiply(features).sum(axis=1)).ravel()
    norms: Array = np.einsum("ij,ij->i", features, features)
    return norms


def are_names(columns: Any) -> bool:
    """Return whether columns are chosen by name: a string, or a list of strings."""
    return isinstance(columns, str) or (isinstance(columns, list | tuple) and any(isinstance(c, str) for c in columns))


def select_columns(table: Any, columns: Any) -> Any:
    """Return columns of an array, DataFrame or sparse matrix, (n, d), by name (DataFrames only) or by position.

    `columns` is a name, a list of names, of indices or of d booleans, or a slice. Raises `DataError` if a column does
    not exist or none is chosen.
    """
    if are_names(columns):
        names = [columns] if isinstance(columns, str) else list(columns)
        if not hasattr(table, "iloc"):
            raise DataError(f"`columns` {names!r} are names, but X is no DataFrame; give positions or a DataFrame")
        missing = [name for name in names if name not in table.columns]
        if missing:
            shown = ", ".join(map(str, table.columns[:10])) + (", ..." if len(table.columns) > 10 else "")
            raise DataError(f"`columns` {missing!r} are not in the DataFrame; its columns: {shown}")
        return table[names]
    chosen = columns if isinstance(columns, slice) else np.asarray(columns)
    if len(table.shape) != 2:
        raise DataError(f"shape {table.shape} has no columns to choose by `columns` {columns!r}; expected (n, d)")
    try:
        selected = table.iloc[:, chosen] if hasattr(table, "iloc") else table[:, chosen]
    except IndexError as error:
        raise DataError(f"`columns` {columns!r} do not fit {table.shape[1]} features") from error
    except ValueError as error:  # pandas: numbers in another byte order
        raise DataError(f"`columns` {columns!r} can't be chosen: {error}") from error
    if len(selected.shape) != 2 or selected.shape[1] == 0:
        raise DataError(f"`columns` {columns!r} select no features; expected a list of indices or a slice")
    return selected
