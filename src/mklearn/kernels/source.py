"""Inputs of a kernel from a view: columns with their preprocessing and scaling, or pairwise values."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import NDArray

from mklearn.checks import Array, check_choice, invalid
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.kernels.completion import Mask, MissingViews, lacking, refuse_lacking
from mklearn.kernels.distances import MEASURES
from mklearn.kernels.feature_scaling import FeatureScaler, SparseScaler
from mklearn.kernels.features import are_names, as_features, in_form_of, is_sparse, select_columns, squared_norms
from mklearn.kernels.imputation import FeatureImputer
from mklearn.kernels.views import LearnedView, Pairwise, select_rows

FEATURE_KEYS = ("view", "columns", "preprocessing", "impute", "feature_scaling", "clip", "missing_views")
"""Keys of a spec that define the input of its kernel."""


class Source:
    """Inputs of kernels from one view, fitted to the training samples.

    The inputs are columns of a table, preprocessed, imputed and scaled, or the values of `mklearn.kernels.Pairwise`.
    With ``missing_views="mean"``, samples that lack the view have no rows.

    ``spec`` is the spec of a kernel or a factor, of which only `FEATURE_KEYS` are used; ``view`` is None if the samples
    are one table. Raises `ConfigError` for invalid `missing_views`, `impute` or `preprocessing`; `feature_scaling` is
    checked in ``fit``.

    Attributes
    ----------
    key, selection : tuple
        `key` is equal for sources with the same inputs, `selection` for sources with the same inputs before scaling.
    completes : bool
        Whether samples may lack the view.
    reads_tables : bool
        Whether the source needs the original table: column names, or entries that are not numbers.
    clips : bool
        Whether scaled features of new samples are clipped.
    observed_ : (n,) bool array
        Mask of the training samples that have the view.
    train_ : array or CSR array of shape (n_observed, p), or Pairwise
        Values of these samples before scaling, so that sources with different scalings share one array.
    """

    def __init__(self, spec: Mapping[str, Any], view: str | None = None) -> None:
        self.view = view
        self._columns, self._preprocessing = spec.get("columns"), spec.get("preprocessing")
        check_choice(spec.get("missing_views", "error"), "missing_views", get_args(MissingViews))
        self.completes = spec.get("missing_views") == "mean"
        self._imputer = FeatureImputer(spec.get("impute", "none"))
        transforms = all(hasattr(self._preprocessing, name) for name in ("fit", "transform"))
        if self._preprocessing is not None and (isinstance(self._preprocessing, type) or not transforms):
            expected = "an object with `fit` and `transform`, such as StandardScaler()"
            raise invalid(self._preprocessing, "preprocessing", expected)
        self._scaling, self.clips = spec.get("feature_scaling", "none"), bool(spec.get("clip"))
        columns = self._columns if isinstance(self._columns, slice | None) else np.asarray(self._columns).tolist()
        made_by = None if self._preprocessing is None else id(self._preprocessing)
        self.selection = (view, repr(columns), made_by, self._imputer.strategy, self.completes)
        self.key = (*self.selection, self._scaling, self.clips)
        takes_gaps = self.completes or self._imputer.strategy != "none"
        self.reads_tables = self._preprocessing is not None or are_names(self._columns) or takes_gaps
        self._name = "X" if view is None else f"view {view!r}"

    def fit(self, X: Any, like: Source | None = None, *, may_be_absent: bool = False) -> Self:
        """Fit to the training samples, one table or `Views`.

        `like` is a fitted source of the same `selection`; everything except the scaling is shared with it. With
        `may_be_absent`, features that no training sample has are no error: no new sample has them either.

        Raises `ConfigError` if a key needs features but the view holds pairwise values, or `feature_scaling` is
        invalid; `DataError` for features that can't be read or scaled; `NotApplicable` if no training sample has the
        view, without `may_be_absent`, or all values of its features are missing.
        """
        self._form = table_form(X if self.view is None else X[self.view])
        if like is None:
            table, self.observed_ = self._chosen(X)
            if isinstance(table, LearnedView):
                self._preprocessing = table.transformer()
            self._is_absent = may_be_absent and not self.observed_.any() and not isinstance(table, Pairwise)
            self._preprocessing = copy.deepcopy(self._preprocessing)  # the user's object stays unfitted
            self.train_: Any = table
            if self._is_absent:
                self.train_ = np.empty((0, 1), dtype=np.float32)
            elif not isinstance(table, Pairwise):
                if not self.observed_.any():
                    n = len(self.observed_)
                    raise NotApplicable(f"{self._name} is missing (NaN in every column) for all {n} samples")
                features = self._features(table, fit=True)
                # Copied where they share memory with the caller's table, which may change after the fit.
                is_shared = is_sparse(features) or features is table or features.base is not None
                self.train_ = features.copy() if is_shared else features
        else:
            self.observed_, self.train_, self._is_absent = like.observed_, like.train_, like._is_absent
            self._preprocessing, self._imputer = like._preprocessing, like._imputer
        self.dtype = self.train_.dtype
        self._scaler: FeatureScaler | SparseScaler | None = None
        if self._is_absent or isinstance(self.train_, Pairwise):
            return self
        sparse = is_sparse(self.train_)
        if sparse and self._scaling != "none" and not self.clips:
            raise DataError(
                f"`feature_scaling` {self._scaling!r} does not take sparse features; use `preprocessing` "
                "(MaxAbsScaler, Normalizer), or pass a dense table"
            )
        scaler = SparseScaler(self._scaling) if sparse else FeatureScaler(self._scaling, self.clips)
        if self.clips or self._scaling != "none":
            self._scaler = scaler.fit(self.train_)
        return self

    def training_values(self, rows: Any = None) -> Any:
        """Return scaled features, (n_observed, p), or Pairwise, of the observed training samples, or of `rows`."""
        values = self.train_ if rows is None else self.train_[rows]
        return values if self._scaler is None else self._scaler.transform(values)

    def observed_rows(self, samples: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the rows of `training_values` for `samples`, without samples that lack the view."""
        row_of = np.cumsum(self.observed_) - 1
        rows: NDArray[np.intp] = row_of[samples[self.observed_[samples]]]
        return rows

    def transform(self, X: Any) -> tuple[Any, Mask]:
        """Return the features, or Pairwise, of the new samples that have the view, and the mask of these samples, (m,).

        Features are dense or sparse as in training. Raises `DataError` for a view of another kind or with other
        columns.
        """
        check_form(X if self.view is None else X[self.view], self._form, self._name)
        table, present = self._chosen(X)
        if isinstance(table, Pairwise):
            return table.as_new(self.train_), present
        if self._is_absent or not present.any():
            return self.train_[:0], np.zeros_like(present)
        features = in_form_of(self._features(table), self.train_)
        if features.shape[1] != self.train_.shape[1]:
            raise DataError(
                f"new samples have {features.shape[1]} features, but the training samples had {self.train_.shape[1]}"
            )
        return (self._scaler.transform(features) if self._scaler else features), present

    def drop_training_values(self) -> None:
        """Drop the features of the training samples, which `transform` does not need; keep their number and form."""
        self.train_ = self.train_[:0].copy()
        self.observed_ = self.observed_[:0].copy()

    def _chosen(self, X: Any) -> tuple[Any, Mask]:
        """Return the chosen columns of the samples that have the view, and the mask of these samples."""
        table = X if self.view is None else X[self.view]
        if isinstance(table, Pairwise):
            keys = ("columns", "preprocessing", "impute", "feature_scaling")
            values = (self._columns, self._preprocessing, self._imputer.strategy, self._scaling)
            for key, value in zip(keys, values, strict=True):
                if value is not None and value != "none":
                    raise ConfigError(f"`{key}` needs a view of features, and {self._name} holds pairwise values")
        elif self._columns is not None:
            table = select_columns(table, self._columns)
        present = ~lacking(table) if self.completes else np.ones(table.shape[0], dtype=bool)
        return (table if present.all() else select_rows(table, np.flatnonzero(present))), present

    def _features(self, table: Any, *, fit: bool = False) -> Any:
        """Return features after preprocessing and imputation, which `fit` fits to them first."""
        with _data_errors("preprocessing"):
            if fit and self._preprocessing is not None:
                self._preprocessing.fit(table)
            n = table.shape[0]
            if self._preprocessing is not None:
                table = self._preprocessing.transform(table)
            if (rows := getattr(table, "shape", (n,))[0]) != n:
                raise DataError(
                    f"the transformer returns {rows} rows for the {n} samples of {self._name}. A vectorizer of text "
                    "takes one column: make_column_transformer((TfidfVectorizer(), 'text'))"
                )
        with _data_errors("impute"):
            table = (self._imputer.fit(table) if fit else self._imputer).transform(table)
        try:
            return as_features(table, self._name)
        except DataError as error:
            if not self.completes and len(getattr(table, "shape", ())) == 2 and 0 not in table.shape:
                refuse_lacking(np.flatnonzero(lacking(table)), self._name)
            if self._preprocessing is not None:
                raise
            raise DataError(
                f"{error}. Set `impute` in the kernel's spec (with the dictionary: in the estimator) to fill in NaN; "
                "`preprocessing` encodes text"
            ) from None


def measured(measure: str, rows: Any, training: Any = None) -> Array:
    """Compute or look up a measure between samples and training samples, or among samples, given as `Source` values."""
    if isinstance(rows, Pairwise):
        return rows.against(rows if training is None else training)
    if not rows.shape[0]:
        return np.empty((0, 0 if training is None else training.shape[0]), dtype=rows.dtype)
    if training is None:
        return MEASURES[measure](rows)
    return MEASURES[measure](rows, training)


def own_values(rows: Any) -> Array | None:
    """Return the self inner product or kernel value of each sample, (m,); None if `Pairwise` has none."""
    return rows.own() if isinstance(rows, Pairwise) else squared_norms(rows)


def table_form(table: Any) -> tuple[bool, int, tuple[str, ...] | None]:
    """Return whether a view holds pairwise values, its number of columns, and its column names."""
    columns = tuple(map(str, table.columns)) if hasattr(table, "columns") else None
    return isinstance(table, Pairwise), int((*table.shape, 1)[1]), columns


def check_form(table: Any, form: tuple[bool, int, tuple[str, ...] | None], name: str) -> None:
    """Raise `DataError` if a view of new samples differs from training in kind, width or column names."""
    (is_pairwise, width, columns), (also_pairwise, new_width, new_columns) = form, table_form(table)
    if also_pairwise != is_pairwise:
        kind = "mklearn.kernels.Pairwise" if is_pairwise else "a table of features"
        raise DataError(f"{name} must be {kind}, as in fit")
    if new_width != width:
        unit = "columns" if is_pairwise else "features"
        raise DataError(f"{name} has {new_width} {unit}, but the training samples had {width}")
    if columns is not None and new_columns not in (None, columns):
        shown = ", ".join(columns[:5]) + (", ..." if len(columns) > 5 else "")
        raise DataError(f"{name} has other column names than in fit, or in another order: expected {shown}")


@contextmanager
def _data_errors(key: str) -> Iterator[None]:
    """Convert errors of a transformer to `DataError`."""
    try:
        yield
    except NotApplicable:
        raise
    except ValueError as error:
        raise DataError(f"`{key}` failed: {error}") from error
