"""Container of several views of the same samples, indexed by sample."""

from __future__ import annotations

import copy
import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self, TypeVar

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.checks import Array, regular_array
from mklearn.errors import DataError
from mklearn.kernels.features import canonical
from mklearn.kernels.stack import KernelStack


class SampleView(ABC):
    """A view that is no table but whose samples can be selected like rows, such as `mklearn.kernels.views.Pairwise`."""

    shape: tuple[int, ...]  # the first entry is the number of samples

    @abstractmethod
    def __getitem__(self, rows: Any) -> Self:
        """Return the view of some samples, chosen by position, slice or boolean mask."""


class LearnedView(SampleView):
    """A view whose features are learned from the training samples, such as `mklearn.papers.fsvm.pairs.PairView`."""

    @abstractmethod
    def transformer(self) -> Any:
        """Return an unfitted transformer whose ``fit`` and ``transform`` accept this view of any samples."""


class Views:
    """Several views of the same samples, indexed by sample; a view is a table of features or pairwise values.

    Cross-validation can split this container by rows, unlike a dict of tables. It works wherever scikit-learn only
    selects samples: `train_test_split`, `cross_val_score`, `GridSearchCV`, `Pipeline`.

    Parameters
    ----------
    tables : mapping of str to view, or sequence of views
        Views: arrays, DataFrames or sparse matrices with the same samples in their rows, or `mklearn.kernels.Pairwise`
        with distances or kernel values among these samples. Not copied. Views of a sequence are named "0", "1", ...

    Attributes
    ----------
    names : tuple of str
    shape : tuple (n_samples, n_features)
        Numbers of samples and of features of all views.
    index : Index or None
        Row labels of the first DataFrame. ``fit`` reorders a Series or DataFrame of labels, targets, weights or groups
        by these row labels, and raises an error if they do not match (`in_order_of`).

    Raises
    ------
    DataError
        No table, a table without rows or columns, different numbers of samples, or DataFrames whose row labels differ.

    Examples
    --------
    >>> views = Views({"shape": np.eye(3), "colour": np.ones((3, 2))})
    >>> views, views[[0, 2]], views["colour"].shape
    (Views(3 samples: shape (3), colour (2)), Views(2 samples: shape (3), colour (2)), (3, 2))
    """

    __iter__ = None  # otherwise Python would iterate over samples through `__getitem__`

    def __init__(self, tables: Mapping[str, Any] | Sequence[Any]) -> None:
        if isinstance(tables, Views) or hasattr(tables, "iloc"):
            raise DataError(
                f"expected a dict or a list of tables, not {type(tables).__name__}; pass it to `fit` as it is"
            )
        named = tables if isinstance(tables, Mapping) else {str(number): each for number, each in enumerate(tables)}
        if not named:
            raise DataError("there are no views; expected one table or more")
        self._tables = {str(name): _table(name, table) for name, table in named.items()}
        if len(self._tables) < len(named):
            raise DataError(f"the names of views must be different as text: {', '.join(map(repr, named))}")
        self.names = tuple(self._tables)
        sizes = {name: table.shape[0] for name, table in self._tables.items()}
        if len(set(sizes.values())) > 1:
            listed = ", ".join(f"{name} has {n}" for name, n in sizes.items())
            raise DataError(f"the views have different numbers of samples: {listed}")
        self.shape = (next(iter(sizes.values())), sum((*table.shape, 1)[1] for table in self._tables.values()))
        labelled: dict[str, Any] = {name: table.index for name, table in self._tables.items() if hasattr(table, "iloc")}
        first = next(iter(labelled), "")
        self.index = labelled.get(first)
        for name, index in labelled.items():
            if not index.equals(self.index):
                advice = "give both the same labels or, if row k is one sample in both, none: reset_index(drop=True)"
                if index.is_unique and set(index) == set(labelled[first]):
                    advice = f"bring both into the same order, {name} = {name}.loc[{first}.index]"
                raise DataError(f"the rows of views {first!r} and {name!r} have different labels (index): {advice}")

    def __len__(self) -> int:
        return self.shape[0]

    def __contains__(self, name: object) -> bool:
        return name in self._tables

    def __getitem__(self, rows: Any) -> Any:
        """Return one view by its name, or all views of the samples given by position, slice or boolean mask."""
        if isinstance(rows, str):
            if rows not in self._tables:
                raise DataError(f"there is no view {rows!r}; available: {', '.join(map(repr, self.names))}")
            return self._tables[rows]
        if isinstance(rows, tuple):  # scikit-learn asks for [rows, ...]
            if len(rows) != 2 or rows[1] is not Ellipsis:
                raise DataError("views are indexed by sample, views[rows], or by name, views['name']")
            rows = rows[0]
        if isinstance(rows, slice):
            return self._of_samples(rows)
        chosen = np.atleast_1d(np.asarray(rows))
        is_mask = chosen.dtype.kind == "b" and chosen.shape == (len(self),)
        if chosen.size and not is_mask and (chosen.dtype.kind not in "iu" or chosen.ndim != 1):
            raise DataError(
                f"rows of dtype {chosen.dtype} and shape {chosen.shape} can't select samples: expected positions "
                f"(whole numbers), a slice, or {len(self)} booleans; views['name'] is a view"
            )
        if is_mask:
            chosen = np.asarray(in_order_of(self, rows, "the mask"))
        return self._of_samples(chosen if chosen.size else slice(0))

    def _of_samples(self, rows: Any) -> Views:
        return Views({name: select_rows(table, rows) for name, table in self._tables.items()})

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise DataError(
            f"X holds the {len(self.names)} views {', '.join(map(repr, self.names))}, not one table of numbers: pass "
            "it to an estimator with kernels of features (`kernels=...`), or pass one view, X['name']. Functions "
            "that convert X to an array first can't take views: give permutation_importance a DataFrame with "
            "two column levels, pandas.concat({name: table}, axis=1); give BaggingClassifier the features side by "
            "side, and its estimator `kernels` that choose `columns` of them"
        )

    def __repr__(self) -> str:
        widths = ", ".join(f"{name} ({(*table.shape, 1)[1]})" for name, table in self._tables.items())
        return f"Views({len(self)} samples: {widths})"


def as_views(X: Any) -> Views | None:
    """Return X as views if it is several tables, else None.

    Several tables are `Views`, a mapping, a list or tuple of tables (each with a two-dimensional ``shape``), or a
    DataFrame whose columns have several levels, the first of which names the view.
    """
    if isinstance(X, Views):
        return X
    if hasattr(X, "toarray"):  # some SciPy sparse matrices are mappings
        return None
    if isinstance(X, Mapping):
        return Views(X)
    if isinstance(X, list | tuple) and len(X) and all(len(getattr(each, "shape", ())) == 2 for each in X):
        return Views(X)
    if getattr(getattr(X, "columns", None), "nlevels", 1) > 1:
        return Views({name: X[name] for name in dict.fromkeys(label[0] for label in X.columns)})
    return None


def only_table(X: Any) -> Any:
    """Return the only table of views, for an estimator of one table; return input that is not views unchanged.

    Raises `DataError` for several views.
    """
    if not isinstance(X, Views):
        return X
    if len(X.names) > 1:
        raise DataError(f"X holds the views {', '.join(map(repr, X.names))}; expected one: pass X['{X.names[0]}'], say")
    return X[X.names[0]]


def in_order_of(X: Any, values: Any, name: str) -> Any:
    """Return values of samples in the order of X's row labels if both are pandas objects; else unchanged.

    `values` have one row for each sample; `name` is for messages. Raises `DataError` if the row labels (index) differ
    by more than their order, or if their order differs and some are duplicated.
    """
    if isinstance(values, Mapping):
        return {key: in_order_of(X, each, name) for key, each in values.items()}
    if not hasattr(values, "iloc"):
        return values
    labels = X.index if hasattr(X, "iloc") else getattr(as_views(X), "index", None)
    index = values.index
    if labels is None or index.equals(labels) or len(index) != len(labels):  # callers report a wrong number
        return values
    advice = f"give {name} the row labels (index) of X, in any order, or {name}.to_numpy() in the order of X"
    if not (index.is_unique and labels.is_unique):
        raise DataError(f"the row labels of {name} are in another order than in X, and some are duplicated: {advice}")
    places = index.get_indexer(labels)
    if (places < 0).any():
        raise DataError(f"{name} has no row with the label {labels[places.argmin()]}, which X has: {advice}")
    return values.iloc[places]


def repeated_rows(X: Any) -> dict[int, int]:
    """Map each repeated sample to the first sample with the same row in every view, by position.

    The result is empty if a view is not a table.
    """
    tables = [X[name] for name in X.names] if isinstance(X, Views) else [X]
    if any(isinstance(table, SampleView) for table in tables):
        return {}
    first: dict[tuple[int, ...], int] = {}
    keys = enumerate(zip(*map(_row_hashes, tables), strict=True))
    return {row: first[key] for row, key in keys if first.setdefault(key, row) != row}


def _row_hashes(table: Any) -> Iterator[int]:
    if hasattr(table, "toarray"):
        rows = table.tocsr().sorted_indices()
        for start, end in itertools.pairwise(rows.indptr):
            yield hash((rows.indices[start:end].tobytes(), rows.data[start:end].tobytes()))
        return
    values = table.to_numpy() if hasattr(table, "iloc") else np.asarray(table)
    for row in values:
        yield hash(tuple(np.ravel(row)) if values.dtype == object else row.tobytes())


def _table(name: object, table: Any) -> Any:
    """Return a view as a table whose rows can be selected."""
    if isinstance(table, SampleView):
        return table
    if hasattr(table, "toarray"):
        table = canonical(table.tocsr())
    elif not hasattr(table, "iloc"):
        table = regular_array(table, f"view {name!r}")
    if len(table.shape) < 1 or 0 in table.shape:
        raise DataError(f"view {name!r} has shape {table.shape}; expected samples in rows and features in columns")
    return table


def select_rows(table: Any, rows: Any) -> Any:
    """Return rows of a table, chosen by position, slice or boolean mask."""
    return table.iloc[rows] if hasattr(table, "iloc") else table[rows]


class Pairwise(SampleView):
    """View of distances or kernel values among samples, which kernels look up instead of computing.

    Selecting samples selects rows of the matrix; the training samples of a kernel determine the columns that it reads.
    So cross-validation can split this view, also in `mklearn.kernels.Views` with tables of features.

    Parameters
    ----------
    values : array of shape (N, N), or (m, N)
        Values of the kernel's ``measure``, such as squared distances: among N samples, or between m new samples and N
        samples that include the training samples. Not copied, so that it may be memory-mapped.
    positions : array of shape (m,), optional
        Column of each row's sample. Default: 0, 1, ... for a square matrix, else none.

    Raises
    ------
    DataError
        Not a matrix, or a position is not one of its columns.

    Examples
    --------
    >>> distances = Pairwise(np.array([[0.0, 1.0, 4.0], [1.0, 0.0, 1.0], [4.0, 1.0, 0.0]]))
    >>> distances[[0, 2]].among(), distances[[1]].against(distances[[0, 2]])
    (array([[0., 4.],
           [4., 0.]]), array([[1., 1.]]))
    """

    def __init__(self, values: ArrayLike, positions: ArrayLike | None = None) -> None:
        if hasattr(values, "toarray"):
            raise DataError("pairwise values are a sparse matrix; pass a dense array, e.g. values.toarray()")
        self._values = np.asanyarray(values)
        self.shape = self._values.shape
        if self._values.ndim != 2 or 0 in self.shape:
            raise DataError(f"pairwise values have shape {self.shape}; expected samples in rows and in columns")
        n, self.n_columns = self.shape
        self._rows = np.arange(n)
        self._positions = self._rows if n == self.n_columns else None
        self._has_positions = positions is not None
        if positions is not None:
            self._positions = np.asarray(positions)
            if self._positions.shape != (n,):
                raise DataError(f"positions have shape {self._positions.shape} for {n} rows of pairwise values")
            if self._positions.dtype.kind not in "iu" or not np.isin(self._positions, np.arange(self.n_columns)).all():
                raise DataError(f"positions of pairwise values must be integers from 0 to {self.n_columns - 1}")
        self.dtype = np.dtype(np.float32 if self._values.dtype == np.float32 else np.float64)
        """Precision of kernels computed from these values."""

    def __getitem__(self, rows: Any) -> Self:
        chosen = copy.copy(self)
        chosen._rows = self._rows[rows]
        chosen._positions = None if self._positions is None else self._positions[rows]
        chosen.shape = (len(chosen._rows), self.n_columns)
        return chosen

    def __repr__(self) -> str:
        return f"Pairwise({self.shape[0]} samples, {self.n_columns} columns)"

    def among(self) -> Array:
        """Return the values among the samples, (n, n), as a new array."""
        return self.against(self)

    def against(self, training: Pairwise) -> Array:
        """Return the values between the samples (rows) and training samples (columns), (m, n), as a new array."""
        if training._positions is None:
            raise DataError("the rows of these pairwise values are not among their columns: can't fit kernels to them")
        return np.asarray(self._values[np.ix_(self._rows, training._positions)])

    def own(self) -> Array | None:
        """Return the value of each sample with itself, (m,); None for new samples, which have no column."""
        return None if self._positions is None else np.asarray(self._values[self._rows, self._positions])

    def as_new(self, training: Pairwise) -> Self:
        """Return the samples as new ones, which have values of their own only if their columns are known.

        n new by n training samples are a square matrix too. Without positions, a square matrix counts as one among
        samples only if its diagonal holds the training samples' own values.
        """
        if self._has_positions or self._positions is None:
            return self
        if np.array_equal(np.diagonal(self._values)[training._positions], training.own()):  # type: ignore[arg-type]
            return self
        made = copy.copy(self)
        made._positions = None
        return made

    def lacking(self) -> NDArray[np.bool_]:
        """Return a mask, (m,), of the samples that have no value, only NaN in their row."""
        absent = np.zeros(len(self._rows), dtype=bool)
        if self._values.dtype.kind == "f":
            with_gaps = np.flatnonzero(np.isnan(self._values[self._rows, 0]))
            absent[with_gaps] = np.isnan(self._values[self._rows[with_gaps]]).all(axis=1)
        return absent


Value = TypeVar("Value")


def _columns_in(spec: Any) -> list[str]:
    """Return the `columns` of a kernel and of its factors as text, since True == 1 although they choose differently."""
    return [repr(part.get("columns")) for part in (spec, *spec.get("factors", ())) if isinstance(part, Mapping)]


class CachingViews(Views):
    """`Views` that cache the kernels computed from them, so that candidates of a grid search share kernels.

    `fits` holds transforms fitted to these samples, with their training kernels. `new` holds kernels between these
    samples and the training samples of other transforms. `values` holds other results, see `kept`.
    """

    def __init__(self, views: Views) -> None:
        super().__init__({name: views[name] for name in views.names})
        self.fits: list[tuple[Any, KernelStack]] = []
        self.new: dict[Any, KernelStack] = {}
        self.values: dict[str, Any] = {}

    def _of_samples(self, rows: Any) -> CachingViews:
        some = CachingViews(super()._of_samples(rows))
        some.new = {transform: stack.rows(rows) for transform, stack in self.new.items()}
        return some

    def fitted(self, specs: Sequence[Any], drop_constant: bool) -> tuple[Any, list[int], KernelStack] | None:
        """Return a cached transform with the kernels of `specs`, their positions and training kernels; else None.

        Without `drop_constant`, a transform that has dropped one of these kernels as constant is not returned.
        """
        for transform, stack in self.fits:
            try:
                positions = [transform.specs.index(spec) for spec in specs]
            except ValueError:  # a spec is missing, or holds arrays, which can't be compared
                continue
            kept = (transform.specs[position] for position in positions)
            if [*map(_columns_in, kept)] != [*map(_columns_in, specs)]:
                continue
            if drop_constant or not any("constant" in transform.infos[position] for position in positions):
                return transform, positions, stack.select(positions)
        return None


def kept(X: Any, compute: Callable[[], Value], *key: Any) -> Value:
    """Return `compute()`; if X is `CachingViews`, compute it once for each key."""
    if not isinstance(X, CachingViews):
        return compute()
    name = str(joblib.hash(key))
    if name not in X.values:
        X.values[name] = compute()
    value: Value = X.values[name]
    return value
