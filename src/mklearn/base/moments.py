"""Moments of features: sums over samples from which linear methods learn without the samples."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import blas

from mklearn.base.fit_context import aligned
from mklearn.checks import as_float_array
from mklearn.errors import DataError
from mklearn.estimator_input import checked_labels

Array = NDArray[np.floating[Any]]

ARRAYS = ("classes", "counts", "sums", "scatter", "labelled")
"""Names of the arrays in which moments are stored."""
_BLOCK_BYTES = 2**25
"""Size in bytes of the blocks in which rows are centred: a copy of a large batch would double its memory."""
_SINGLE_ROWS = 4096
"""Number of rows of one float32 product: its rounding errors grow with the number of rows."""
_COLUMNS = 256
"""Number of columns of the scatter that are added at a time."""


class Moments:
    """Class counts, class sums and the scatter of features about their mean, gathered batch by batch.

    Moments are sums over samples. Batches may come in any order and size, moments of disjoint sets of samples add up
    (`merge`), and moments of a subset can be subtracted (`without`), so that leaving out a fold needs no second pass
    over the data. Products of float32 features are computed in float32 and summed in float64.

    Attributes
    ----------
    classes_ : array of shape (c,)
        Sorted class labels; the single class 0 for samples without labels.
    class_counts_ : int array of shape (c,)
    class_sums_ : array of shape (c, d)
    n_samples_, n_features_ : int
    labelled : bool
        Whether the samples have labels.

    Notes
    -----
    The scatter about the mean is kept instead of the raw second moment Phi'Phi, whose difference from the mean term
    loses precision if the mean is much larger than the spread. Merging moves both scatters to the common mean.

    Examples
    --------
    >>> import numpy as np
    >>> first = Moments().partial_fit([[0.0, 1.0], [2.0, 1.0]], ["a", "b"])
    >>> both = first.merge(Moments().partial_fit([[1.0, 4.0]], ["a"]))
    >>> both.n_samples_, both.class_counts_.tolist(), both.mean.tolist()
    (3, [2, 1], [1.0, 2.0])
    """

    classes_: NDArray[Any]
    class_counts_: NDArray[np.int64]
    class_sums_: Array
    labelled: bool
    _upper: Array  # (d, d), Fortran order, lower triangle 0; a single block keeps its precision

    @aligned
    def partial_fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Add a batch of samples.

        Parameters
        ----------
        X : array of shape (b, d)
            Features, float32 or float64; b may be 0.
        y : array of shape (b,), optional
            Class labels, in all batches or in none.

        Raises
        ------
        DataError
            X is not finite or its number of features differs from earlier batches, or labels do not match in number or
            are given for some batches only. The moments are then unchanged.
        """
        features = as_float_array(X, "the batch of features", ndim=2, may_be_empty=True)
        labels = None if y is None else checked_labels(self, y, len(features))
        if hasattr(self, "classes_"):
            self._check_same(features.shape[1], None if labels is None else np.unique(labels))
        if labels is None:
            labels = np.zeros(len(features), dtype=np.int64)
        most = max(1, _BLOCK_BYTES // max(features.itemsize * features.shape[1], 1))
        if features.dtype == np.float32:
            most = min(most, _SINGLE_ROWS)
        for start in range(0, len(features), most):
            rows = slice(start, start + most)
            self._add(_moments_of(features[rows], labels[rows]))
        if not hasattr(self, "classes_"):
            d = features.shape[1]
            upper = np.zeros((d, d), order="F")
            self._set(np.empty(0, dtype=labels.dtype), np.empty(0, np.int64), np.empty((0, d)), upper)
        self.labelled = y is not None
        return self

    def merge(self, other: Moments) -> Moments:
        """Return the moments of the union with a disjoint set of samples, as a new object.

        Raises `DataError` for different numbers of features, or if only one of the sets has labels.
        """
        self._check_like(other)
        made = deepcopy(self)
        made._add(other)
        return made

    def without(self, other: Moments) -> Moments:
        """Return the moments of the samples without the subset ``other``, as a new object.

        Raises `DataError` if ``other`` can't be a subset: more samples of a class, or another number of features.
        """
        self._check_like(other)
        made = deepcopy(self)
        codes = np.searchsorted(made.classes_, other.classes_)
        if not np.isin(other.classes_, made.classes_).all() or (made.class_counts_[codes] < other.class_counts_).any():
            raise DataError("can't subtract moments that have more samples of a class: expected those of a subset")
        made.class_counts_[codes] -= other.class_counts_
        made.class_sums_[codes] -= other.class_sums_
        kept = made.class_counts_ > 0
        made.classes_, made.class_counts_ = made.classes_[kept], made.class_counts_[kept]
        made.class_sums_ = made.class_sums_[kept]
        made._upper = made._upper - other._upper
        made._shift(other, -1.0)
        return made

    def as_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the moments as arrays of numbers and text, for `from_arrays`.

        The arrays (`ARRAYS`) are ``classes`` (c,), ``counts`` (c,), ``sums`` (c, d), ``scatter`` (d (d + 1) / 2,), the
        upper triangle column by column, and ``labelled``.
        """
        classes = np.array(self.classes_.tolist()) if self.classes_.dtype.kind == "O" else self.classes_
        return {
            "classes": classes,
            "counts": self.class_counts_,
            "sums": self.class_sums_,
            "scatter": self._upper.T[np.tril_indices(len(self._upper))],
            "labelled": np.array(self.labelled),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Moments:
        """Construct moments from the arrays of `as_arrays`."""
        d = arrays["sums"].shape[1]
        lower = np.zeros((d, d))
        lower[np.tril_indices(d)] = arrays["scatter"]
        made = cls()
        made._set(arrays["classes"], arrays["counts"], arrays["sums"], lower.T)
        made.labelled = bool(arrays["labelled"])
        return made

    @property
    def n_samples_(self) -> int:
        """Number of samples."""
        return int(self.class_counts_.sum())

    @property
    def n_features_(self) -> int:
        """Number of features."""
        return len(self._upper)

    @property
    def mean(self) -> Array:
        """Mean of all samples, (d,)."""
        return np.asarray(self.class_sums_.sum(axis=0) / max(self.n_samples_, 1))

    @property
    def class_means(self) -> Array:
        """Class means, (c, d)."""
        return np.asarray(self.class_sums_ / self.class_counts_[:, None])

    @property
    def scatter(self) -> Array:
        """Total scatter S_T = sum_i (x_i - mean)(x_i - mean)', (d, d), exactly symmetric, as a new array."""
        scatter = self._upper + self._upper.T
        scatter[np.diag_indices_from(scatter)] = np.diagonal(self._upper)
        return np.asarray(scatter)

    @property
    def squares(self) -> Array:
        """Diagonal of the scatter, (d,)."""
        return np.diagonal(self._upper)

    @property
    def between(self) -> Array:
        """B = [sqrt(n_c) (mean_c - mean)], (d, c): BB' is the between-class, S_T - BB' the within-class scatter."""
        return np.asarray((np.sqrt(self.class_counts_)[:, None] * (self.class_means - self.mean)).T)

    def _check_like(self, other: Moments) -> None:
        if not (hasattr(self, "classes_") and hasattr(other, "classes_")):
            raise DataError("these moments hold no batch: call partial_fit first")
        self._check_same(other.n_features_, other.classes_ if other.labelled else None)

    def _check_same(self, n_features: int, classes: NDArray[Any] | None) -> None:
        """Raise `DataError` if other samples differ in the number of features or the type of labels."""
        if self.n_features_ != n_features:
            raise DataError(f"the samples before have {self.n_features_} features, these have {n_features}")
        if self.labelled != (classes is not None):
            raise DataError("some samples have labels and some have none: give labels with all of them or with none")
        if classes is not None and len(classes) and len(self.classes_) and _is_text(classes) != _is_text(self.classes_):
            raise DataError("these labels and the earlier ones have different types: text and numbers")

    def _set(self, classes: NDArray[Any], counts: NDArray[np.int64], sums: Array, upper: Array) -> None:
        self.classes_, self.class_counts_, self.class_sums_ = classes, counts, sums
        self._upper = upper

    def _add(self, other: Moments) -> None:
        """Add the moments of other samples in place."""
        if not hasattr(self, "classes_"):
            upper = other._upper.astype(np.float64, order="F", copy=False)
            self._set(other.classes_, other.class_counts_, other.class_sums_, upper)
            return
        for start in range(0, len(self._upper), _COLUMNS):  # a block of columns has few entries of the lower triangle
            stop = start + _COLUMNS
            self._upper[:stop, start:stop] += other._upper[:stop, start:stop]
        self._shift(other, 1.0)
        classes = np.union1d(self.classes_, other.classes_)
        counts = np.zeros(len(classes), dtype=np.int64)
        sums = np.zeros((len(classes), self.class_sums_.shape[1]))
        for part in (self, other):
            codes = np.searchsorted(classes, part.classes_)
            counts[codes] += part.class_counts_
            sums[codes] += part.class_sums_
        self.classes_, self.class_counts_, self.class_sums_ = classes, counts, sums

    def _shift(self, other: Moments, sign: float) -> None:
        """Add (`sign` 1) or subtract (`sign` -1) the scatter due to the distance between two means."""
        n, m = self.n_samples_, other.n_samples_
        if n and m:
            factor = sign * n * m / (n + m)
            self._upper = blas.dsyr(factor, other.mean - self.mean, a=self._upper, overwrite_a=1)


def _moments_of(features: Array, labels: NDArray[Any]) -> Moments:
    """Compute the moments of one block of samples."""
    classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    indicator = np.zeros((len(classes), len(features)), dtype=features.dtype)
    indicator[codes, np.arange(len(features))] = 1
    # Any origin near the mean serves, since the scatter is moved to the exact mean below.
    origin = features.mean(axis=0)
    centred = features - origin
    syrk, syr = (blas.dsyrk, blas.dsyr) if features.dtype == np.float64 else (blas.ssyrk, blas.ssyr)
    upper = syrk(1.0, centred.T)
    sums = (indicator @ centred).astype(np.float64)
    rest = (sums.sum(axis=0) / len(features)).astype(features.dtype)
    upper = syr(-float(len(features)), rest, a=upper, overwrite_a=1)
    sums += counts[:, None] * origin.astype(np.float64)
    made = Moments()
    made._set(classes, counts.astype(np.int64), sums, upper)
    return made


def _is_text(labels: NDArray[Any]) -> bool:
    return labels.dtype.kind in "UO" and bool(len(labels)) and isinstance(labels.ravel()[0], str)
