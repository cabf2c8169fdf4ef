"""Imputation of missing feature values from the training samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from mklearn.checks import check_choice
from mklearn.errors import DataError, NotApplicable
from mklearn.kernels.features import is_sparse

Impute = Literal["none", "mean", "median"]


@dataclass(eq=False)
class FeatureImputer:
    """Imputation of missing values by the mean or median of each feature over the training samples.

    Features without any training value are left out, as in scikit-learn's ``SimpleImputer``. The strategy "none"
    changes nothing.
    """

    strategy: Impute = "none"

    def __post_init__(self) -> None:
        check_choice(self.strategy, "impute", get_args(Impute))

    def fit(self, X: Any) -> Self:
        """Fit on features of shape (n, d), with NaN where a value is missing.

        Raises `DataError` for sparse features, text and times, and `NotApplicable` if all values are missing.
        """
        if self.strategy == "none":
            return self
        if is_sparse(X):
            raise DataError("`impute` does not take sparse features; pass a dense table")
        from sklearn.impute import SimpleImputer

        values = _floats(X)
        self._held = ~np.isnan(values).all(axis=0)
        if not self._held.any():
            raise NotApplicable(f"all values of the {len(values)} training samples are missing")
        self._imputer = SimpleImputer(strategy=self.strategy).fit(values[:, self._held])
        return self

    def transform(self, X: Any) -> Any:
        """Fill in missing values; return a new array of shape (m, p), or X itself if nothing changes."""
        if self.strategy == "none":
            return X
        values = _floats(X)
        held = values if self._held.all() else values[:, self._held]
        return self._imputer.transform(held) if np.isnan(held).any() else held

    def held(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Return the entries of `columns`, (d,), for the features that are not left out."""
        return columns if self.strategy == "none" else columns[self._held]


def _floats(X: Any) -> NDArray[Any]:
    if not hasattr(X, "iloc"):
        values = np.asarray(X)
        if not _holds_numbers(values):
            raise DataError("`impute` fills in numbers, and these features hold text or times")
        return values if values.dtype.kind == "f" else values.astype(np.float64)
    frame = X.to_frame() if X.ndim == 1 else X
    wrong = [str(name) for name, column in frame.items() if not _holds_numbers(column)]
    if wrong:
        raise DataError(f"`impute` fills in numbers, and these columns hold text or times: {', '.join(wrong)}")
    return np.asarray(frame.to_numpy(dtype=np.float64, na_value=np.nan))


def _holds_numbers(values: Any) -> bool:
    kind = values.dtype.kind
    return kind in "fiub" or (kind == "O" and not any(isinstance(each, str) for each in np.asarray(values).flat))
