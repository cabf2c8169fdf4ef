"""What a kernel is computed from: columns of a view with their preprocessing and scaling, or pairwise values."""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from mklearn.checks import Array
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.kernels.completion import Mask, lacking, present_rows, refuse_lacking
from mklearn.kernels.distances import MEASURES
from mklearn.kernels.feature_scaling import FeatureScaler, FeatureScaling, SparseScaler
from mklearn.kernels.features import are_names, as_features, in_form_of, is_sparse, select_columns, squared_norms
from mklearn.kernels.imputation import FeatureImputer
from mklearn.kernels.pairwise_view import Pairwise
from mklearn.kernels.views import LearnedView, Views

FEATURE_KEYS = ("view", "columns", "preprocessing", "impute", "feature_scaling", "clip", "missing_views")
"""Keys of a spec that say what its kernel is computed from."""


class SelectedFeatures:
    """Columns of a view after preprocessing, fitted on the training samples.

    Parameters
    ----------
    spec : mapping
        A kernel's spec, of which "columns", "preprocessing", "impute" and "missing_views" are read.
    view : str, optional
        Name of the view; None if there is one table.

    Attributes
    ----------
    train_ : array or CSR array of shape (n_observed, p)
        Those of the training samples; with "missing_views" of those that have the view.
    observed_ : (n,) bool array
        Which training samples have the view.
    """

    def __init__(self, spec: Mapping[str, Any], view: str | None) -> None:
        self.view = view
        self._columns = spec.get("columns")
        self._preprocessing = spec.get("preprocessing")
        self._imputer = FeatureImputer(spec.get("impute", "none"))
        self.completes = spec.get("missing_views") == "mean"
        """Whether samples may lack the view."""

    @property
    def key(self) -> tuple[str | None, str, int, str, bool]:
        """Equal for kernels that read the same features."""
        columns = self._columns if isinstance(self._columns, slice | None) else np.asarray(self._columns).tolist()
        return self.view, repr(columns), id(self._preprocessing), self._imputer.strategy, self.completes

    @property
    def reads_tables(self) -> bool:
        """Whether they need a table as it was given, with its column names or with entries that are no numbers."""
        takes_gaps = self.completes or self._imputer.strategy != "none"
        return self._preprocessing is not None or are_names(self._columns) or takes_gaps

    def fit(self, X: Any) -> Self:
        """Fit the preprocessing on the training samples: one table or `Views`."""
        table, self.observed_ = self._chosen(X)
        if isinstance(table, LearnedView):
            self._preprocessing = table.transformer()
        if not self.observed_.any():
            raise NotApplicable(f"{self._name} is missing (NaN in every column) for all {len(self.observed_)} samples")
        if self._preprocessing is not None:
            self._preprocessing = copy.deepcopy(self._preprocessing)  # the user's own stays unfitted
            with _data_errors():
                table = self._preprocessing.fit(table).transform(table)
        with _data_errors("impute"):
            table = self._imputer.fit(table).transform(table)
        self.train_ = self._as_features(table)
        return self

    def transform(self, X: Any) -> tuple[Any, Mask]:
        """Return the features of new samples that have the view, and which have it.

        Features are dense or sparse as those of the training samples.
        """
        table, present = self._chosen(X)
        if not present.any():
            return self.train_[:0], present
        if self._preprocessing is not None:
            with _data_errors():
                table = self._preprocessing.transform(table)
        with _data_errors("impute"):
            table = self._imputer.transform(table)
        features = self._as_features(table)
        if features.shape[1] != self.train_.shape[1]:
            raise DataError(
                f"new samples have {features.shape[1]} features, but the training samples had {self.train_.shape[1]}"
            )
        return in_form_of(features, self.train_), present

    def drop_training_features(self) -> None:
        """Drop the training samples' features, which `transform` does not need; their number and form are kept."""
        self.train_ = self.train_[:0].copy()
        self.observed_ = self.observed_[:0].copy()

    @property
    def _name(self) -> str:
        return "X" if self.view is None else f"view {self.view!r}"

    def _chosen(self, X: Any) -> tuple[Any, Mask]:
        """Return the chosen columns of the samples that have the view, and which have it."""
        table = X if self.view is None else X[self.view]
        if isinstance(table, Pairwise):
            raise DataError(f"{self._name} is {table!r} and has no features")
        table = table if self._columns is None else select_columns(table, self._columns)
        present = ~lacking(table) if self.completes else np.ones(table.shape[0], dtype=bool)
        return (table if present.all() else present_rows(table, present)), present

    def _as_features(self, table: Any) -> Any:
        try:
            return as_features(table, self._name)
        except DataError as error:
            if not self.completes and len(getattr(table, "shape", ())) == 2 and 0 not in table.shape:
                refuse_lacking(np.flatnonzero(lacking(table)), self._name)
            if self._preprocessing is not None:
                raise
            raise DataError(
                f"{error}. The spec of the kernel may fill in values by `impute`, or encode columns by `preprocessing`"
            ) from None


class Source(ABC):
    """What a kernel reads of the training samples and of new ones.

    Attributes
    ----------
    observed_ : (n,) bool array
        Which training samples have the view.
    completes : bool
        Whether samples may lack the view.
    dtype : dtype
        Of what is read.
    """

    measured: ClassVar[bool]
    """Whether `mklearn.kernels.distances.MEASURES` computes the values."""
    observed_: Mask
    completes: bool
    dtype: np.dtype[Any]

    @property
    @abstractmethod
    def key(self) -> tuple[Any, ...]:
        """Equal for kernels that read the same."""

    @abstractmethod
    def among_training(self, measure: str) -> Array:
        """Return a measure among the observed training samples, a new array (n_observed, n_observed)."""

    @abstractmethod
    def new_samples(self, X: Any) -> NewSamples:
        """Return what the kernel reads of new samples."""


class NewSamples(ABC):
    """What a kernel reads of new samples.

    Attributes
    ----------
    present : (m,) bool array
        Which of them have the view; only these have rows.
    dtype : dtype
        Of what is read.
    """

    present: Mask
    dtype: np.dtype[Any]

    @abstractmethod
    def against_training(self, measure: str) -> Array:
        """Return a measure between new samples and the observed training samples, (m_present, n_observed)."""

    @abstractmethod
    def own(self) -> Array | None:
        """Return the value of each new sample with itself, (m_present,); None where it is not known."""


class FeatureSource(Source):
    """Selected features, which other kernels may share, and their scaling.

    Parameters
    ----------
    selected : SelectedFeatures
        Fitted.
    scaling : str
        See `mklearn.kernels.feature_scaling.FeatureScaler`. Scaled training features are computed again for new
        samples, so that those of several scalings are kept once.
    clip : bool
        Whether scaled features of new samples are clipped, and features that are constant in the training samples
        ignored.

    Raises
    ------
    DataError
        Sparse features, unless `scaling` is "none" or they are clipped.
    """

    measured = True

    def __init__(self, selected: SelectedFeatures, scaling: FeatureScaling, clip: bool = False) -> None:
        self.selected = selected
        sparse = is_sparse(selected.train_)
        if sparse and scaling != "none" and not clip:
            raise DataError(
                f"`feature_scaling` {scaling!r} does not take sparse features; use `preprocessing` (MaxAbsScaler, "
                "Normalizer), or pass a dense table"
            )
        scaler = SparseScaler(scaling) if sparse else FeatureScaler(scaling, clip)
        self._scaler = scaler.fit(selected.train_) if clip or scaling != "none" else None
        self.completes, self.dtype = selected.completes, selected.train_.dtype

    @property
    def observed_(self) -> Mask:  # type: ignore[override]
        """Which training samples have the view."""
        return self.selected.observed_

    @property
    def key(self) -> tuple[Any, FeatureScaling, bool]:
        """Equal for kernels that read the same."""
        scaler = self._scaler or FeatureScaler()
        return self.selected.key, scaler.scaling, scaler.clip

    def training_features(self, rows: Any = None) -> Any:
        """Return the features of the observed training samples as the kernel reads them, shape (n_observed, p).

        `rows`, an array of indices or a slice, chooses among these samples.
        """
        return self._scaled(self.selected.train_ if rows is None else self.selected.train_[rows])

    def observed_rows(self, samples: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the rows of `training_features` of those of some training samples that have the view."""
        observed = self.selected.observed_
        row_of = np.cumsum(observed) - 1
        rows: NDArray[np.intp] = row_of[samples[observed[samples]]]
        return rows

    def among_training(self, measure: str) -> Array:
        """Compute a measure among the observed training samples."""
        return MEASURES[measure](self.training_features())

    def transform(self, X: Any) -> tuple[Any, Mask]:
        """Return the features of new samples as the kernel reads them, (m, p), and which samples have the view.

        Only these have a row.
        """
        features, present = self.selected.transform(X)
        return (self._scaled(features) if features.shape[0] else features), present

    @property
    def clips(self) -> bool:
        """Whether scaled features of new samples are clipped."""
        return self._scaler is not None and self._scaler.clip

    def n_clipped(self, X: Any) -> tuple[int, int]:
        """Count the values of new samples that are clipped, and all of them."""
        features, _ = self.selected.transform(X)
        assert self._scaler is not None
        return (self._scaler.n_clipped(features) if features.shape[0] else 0), math.prod(features.shape)

    def new_samples(self, X: Any) -> NewSamples:
        """Return the features of new samples, beside those of the training samples."""
        return _NewFeatures(*self.transform(X), self.training_features())

    def _scaled(self, features: Any) -> Any:
        return features if self._scaler is None else self._scaler.transform(features)


class _NewFeatures(NewSamples):
    def __init__(self, features: Any, present: Mask, training: Any) -> None:
        self._features, self.present, self._training = features, present, training
        self.dtype = features.dtype

    def against_training(self, measure: str) -> Array:
        if not self._features.shape[0]:
            return np.empty((0, self._training.shape[0]), dtype=self._training.dtype)
        return MEASURES[measure](self._features, self._training)

    def own(self) -> Array | None:
        return squared_norms(self._features)


class PairwiseSource(Source):
    """Pairwise values of a view, looked up.

    Parameters
    ----------
    training : Pairwise
        Of the training samples.
    spec : mapping
        A kernel's spec: of what says how features are read it may have "view" and "missing_views" alone.
    view : str
        Name of the view.

    Raises
    ------
    ConfigError
        The spec has keys that need features.
    """

    measured = False

    def __init__(self, training: Pairwise, spec: Mapping[str, Any], view: str) -> None:
        for key in ("columns", "preprocessing", "impute", "feature_scaling"):
            if spec.get(key) not in (None, "none"):
                raise ConfigError(f"`{key}` needs a view of features, and view {view!r} holds pairwise values")
        self._view = view
        self.completes, self.dtype = spec.get("missing_views") == "mean", training.dtype
        self.observed_ = self._present(training)
        self._training = training[np.flatnonzero(self.observed_)] if self.completes else training

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for kernels that read the same."""
        return self._view, self.completes

    def among_training(self, measure: str) -> Array:
        """Return the values among the observed training samples."""
        return self._training.among()

    def new_samples(self, X: Any) -> NewSamples:
        """Return the values of new samples."""
        new = X[self._view]
        present = self._present(new)
        return _NewPairs(new[np.flatnonzero(present)] if self.completes else new, present, self._training)

    def _present(self, view: Pairwise) -> Mask:
        return ~view.lacking() if self.completes else np.ones(view.shape[0], dtype=bool)


class _NewPairs(NewSamples):
    def __init__(self, new: Pairwise, present: Mask, training: Pairwise) -> None:
        self._new, self.present, self._training = new, present, training
        self.dtype = new.dtype

    def against_training(self, measure: str) -> Array:
        return self._new.against(self._training)

    def own(self) -> Array | None:
        return self._new.own()


class TableForms:
    """Kinds, widths and column names of the training samples' views, which those of new samples must have too.

    Parameters
    ----------
    X : table or Views
    read : set of str
        The views that kernels are computed from; new samples need no other.
    """

    def __init__(self, X: Any, read: Set[str | None]) -> None:
        self.are_views = isinstance(X, Views)
        self._forms = [(name, *form) for name, form in _forms(X) if name in read]

    def check(self, X: Any) -> None:
        """Raise `DataError` if new samples lack a view, or a view has another kind, width or other column names."""
        if isinstance(X, Views) != self.are_views:
            names = ", ".join(repr(name) for name, *_ in self._forms)
            expected = f"the views {names}" if self.are_views else "one table of features"
            raise DataError(f"X must be {expected}, as in fit")
        found = dict(_forms(X))
        for name, is_pairwise, width, columns in self._forms:
            what = "X" if name is None else f"view {name!r}"
            if name not in found:
                raise DataError(f"{what} is missing; X has {', '.join(map(repr, found))}")
            also_pairwise, new_width, new_columns = found[name]
            if also_pairwise != is_pairwise:
                kind = "mklearn.kernels.Pairwise" if is_pairwise else "a table of features"
                raise DataError(f"{what} must be {kind}, as in fit")
            if new_width != width:
                unit = "columns" if is_pairwise else "features"
                raise DataError(f"{what} has {new_width} {unit}, but the training samples had {width}")
            if columns is not None and new_columns not in (None, columns):
                shown = ", ".join(columns[:5]) + (", ..." if len(columns) > 5 else "")
                raise DataError(f"{what} has other column names than in fit, or in another order: expected {shown}")


def _forms(X: Any) -> Iterator[tuple[str | None, tuple[bool, int, tuple[str, ...] | None]]]:
    tables = {name: X[name] for name in X.names} if isinstance(X, Views) else {None: X}
    for name, table in tables.items():
        columns = tuple(map(str, table.columns)) if hasattr(table, "columns") else None
        width = int(table.shape[1]) if len(table.shape) > 1 else 1
        yield name, (isinstance(table, Pairwise), width, columns)


@contextmanager
def _data_errors(key: str = "preprocessing") -> Iterator[None]:
    """Raise what a user's transformer, or another one, says of the data as `DataError`."""
    try:
        yield
    except NotApplicable:
        raise
    except ValueError as error:
        raise DataError(f"`{key}` failed: {error}") from error
