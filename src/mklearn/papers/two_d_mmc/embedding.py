"""Base of the bilinear estimators: images in either form, sizes, the alternation and the projection Y = L'XR."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mklearn.base.nearest_neighbour_prediction import NearestNeighbourPrediction
from mklearn.base.parameters import N_COMPONENTS, NONNEGATIVE, at_least, fit_context
from mklearn.base.validation import checked_array, checked_labels
from mklearn.checks import check_kept, check_rows_and_columns
from mklearn.errors import DataError, NotApplicable
from mklearn.kernels.views import only_table
from mklearn.papers.two_d_mmc.alternation import Alternation, Problem, Side, alternate, starting_projection

Array = NDArray[np.floating]

_DEFAULT_SIZE = 10


class BilinearEmbedding(NearestNeighbourPrediction, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of the estimators that embed an image X (rows, cols) as Y = L'XR (l1, l2).

    ``predict`` gives the label of the nearest training image, see `NearestNeighbourPrediction`.

    A subclass defines the problem (`_problem`), whether it needs labels, and the side whose projection is fixed at the
    start. It has at least the parameters ``n_components``, ``shape``, ``init``, ``max_iter``, ``tol``, ``flatten`` and
    ``random_state``.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [*N_COMPONENTS, tuple, list],
        "shape": [None, tuple, list],
        "init": [str, "array-like"],
        "max_iter": [at_least(1)],
        "tol": [NONNEGATIVE],
        "flatten": ["boolean"],
        "random_state": ["random_state"],
    }
    _needs_labels: ClassVar[bool] = True
    _fixed_side: ClassVar[Side] = "right"

    n_components: int | tuple[int, int] | None
    shape: tuple[int, int] | None
    init: Any
    max_iter: int
    tol: float
    flatten: bool
    random_state: Any
    shape_: tuple[int, int]

    @fit_context
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Find both projections.

        Parameters
        ----------
        X : array of shape (n, rows, cols), or (n, rows * cols) with ``shape=(rows, cols)``
            Flat images are row by row. Without ``shape`` a flat sample is an image of one column. `Views` of a single
            view are taken as that.
        y : array of shape (n,), optional
            Class labels; ignored by unsupervised methods.
        """
        images, labels, dtype = self._training_images(X, y)
        problem, sizes = self._problem(images, labels, None), self._sizes()
        found = alternate(problem, self._start(sizes, images), self._fixed_side, sizes, self.max_iter, self.tol)
        self._set_fitted(images, dtype, found)
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.floating]:
        """Embed images: L'XR.

        Parameters
        ----------
        X : array of shape (m, rows, cols) or (m, rows * cols)

        Returns
        -------
        array of shape (m, l1 * l2), or (m, l1, l2) with ``flatten=False``
            In the dtype of X (float32 or float64). Flat features are row by row.

        Raises
        ------
        DataError
            X has another shape than in ``fit``, or is not finite.
        """
        return self._project(X)

    def _project(self, X: ArrayLike) -> NDArray[np.floating]:
        check_is_fitted(self)
        array = self._check_images(X, reset=False)
        return self._embed(array.reshape(-1, *self.shape_), array.dtype)

    def fit_transform(self, X: ArrayLike, y: ArrayLike | None = None, **fit_params: Any) -> NDArray[np.floating]:
        """Fit, and return the embedded training images, `embedding_`."""
        return self.fit(X, y, **fit_params).embedding_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.left_components_.shape[1] * self.right_components_.shape[1]

    # ------------------------------------------------------------------------------------------------ for subclasses

    def _problem(self, images: Array, labels: NDArray[np.intp] | None, sweep: Sequence[int] | None) -> Problem:
        """Return the problem; ``sweep`` holds the sizes if many fits to these images follow, else None."""
        raise NotImplementedError

    def _centred(self, images: Array) -> Array:
        """Return the images to project; a subclass may subtract its mean."""
        return images

    # --- also for `mklearn.papers.two_d_mmc.path`

    def _training_images(
        self, X: ArrayLike, y: ArrayLike | None
    ) -> tuple[Array, NDArray[np.intp] | None, np.dtype[Any]]:
        """Return the checked images (n, rows, cols), class codes 0..c-1 (None without labels) and the dtype of X."""
        array = self._check_images(X, reset=True)
        images = array.reshape(-1, *self.shape_).astype(np.float64, copy=False)
        if not self._needs_labels:
            self._keep_labels(y)
            return images, None, array.dtype
        labels = checked_labels(self, y, len(images))
        self._keep_labels(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise NotApplicable(
                f"y holds one class only ({str(self.classes_[0])!r}): {type(self).__name__} needs at least two classes"
            )
        return images, codes.astype(np.intp), array.dtype

    def _sizes(self) -> tuple[int, int]:
        """Return (l1, l2), checked against the shape of the images."""
        rows, cols = self.shape_
        wanted = self.n_components
        if wanted is None:
            return min(rows, _DEFAULT_SIZE), min(cols, _DEFAULT_SIZE)
        if isinstance(wanted, Integral):
            # an image of one column is a vector: it has components on the left only
            sizes = (int(wanted), 1 if cols == 1 else int(wanted))
        else:
            sizes = check_rows_and_columns(wanted, "n_components")
        if sizes[0] > rows or sizes[1] > cols:
            raise NotApplicable(
                f"n_components={wanted}: images of {rows} x {cols} pixels have at most {rows} components on the left "
                f"and {cols} on the right"
            )
        return sizes

    def _start(self, sizes: tuple[int, int], images: NDArray[Any]) -> Array:
        """Return the projection that the alternation begins with.

        (I, 0)' looks at the first columns, or rows, alone. Where these are blank margins all objectives are 0 for ever:
        then it is the whole identity.
        """
        side = 1 if self._fixed_side == "right" else 0
        seen = images[:, :, : sizes[1]] if side else images[:, : sizes[0]]
        blank = isinstance(self.init, str) and self.init == "identity" and not np.ptp(seen, axis=0).any()
        size = self.shape_[side] if blank else sizes[side]
        return starting_projection(self.init, self.shape_[side], size, self.random_state)

    def _set_fitted(self, images: Array, dtype: np.dtype[Any], found: Alternation) -> None:
        """Set the attributes that all these estimators have."""
        self.left_components_ = found.left
        self.right_components_ = found.right
        self.objective_history_ = found.history
        self.n_iter_ = len(found.history) // 2
        self.status_ = found.status
        self.embedding_ = self._embed(images, dtype)

    def _embed(self, images: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[np.floating]:
        n, rows, cols = images.shape
        half = (self._centred(images).reshape(n * rows, cols) @ self.right_components_).reshape(n, rows, -1)
        features = np.matmul(self.left_components_.T, half)
        return np.asarray(features.reshape(n, -1) if self.flatten else features, dtype=dtype)

    # ------------------------------------------------------------------------------------------------------- checks

    def _check_images(self, X: ArrayLike, *, reset: bool) -> NDArray[Any]:
        """Return X as a checked matrix with one flat image per row; set `shape_` if ``reset``."""
        given: Any = only_table(X)
        given = given if hasattr(given, "ndim") else _as_array(given)
        name = type(self).__name__
        check_kept(given, "X")
        if given.ndim == 3:
            shape = given.shape[1:]
            given = np.asarray(given).reshape(len(given), shape[0] * shape[1])
            if not reset and shape != self.shape_:
                raise DataError(f"X has images of shape {shape}, but {name} was fitted with {self.shape_}")
        else:
            shape = None
        if reset and self.shape is not None:
            wanted = check_rows_and_columns(self.shape, "shape")
            if shape is not None and shape != wanted:
                raise DataError(f"X has images of shape {shape}, but shape={wanted}: omit `shape` or correct it")
            shape = wanted
        array = checked_array(self, given, reset=reset)
        if reset:
            if shape is not None and shape[0] * shape[1] != array.shape[1]:
                raise DataError(
                    f"X has {array.shape[1]} pixels per row, but shape={shape} needs {shape[0] * shape[1]}: correct "
                    "`shape`, or give images as (n, rows, cols)"
                )
            self.shape_ = (array.shape[1], 1) if shape is None else (int(shape[0]), int(shape[1]))
        return array


def _as_array(X: ArrayLike) -> NDArray[Any]:
    try:
        return np.asarray(X)
    except ValueError as error:
        raise DataError(f"X must be an array of shape (n, rows, cols) or (n, rows * cols): {error}") from error
