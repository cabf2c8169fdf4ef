"""Base of the bilinear estimators: an image X is embedded as Y = L'XR, and L and R are solved for in turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from numbers import Integral
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from mklearn.base.embedding import Embedding
from mklearn.base.fit_context import fit_context
from mklearn.base.parameters import Nonnegative, PositiveInt, at_least, parameters
from mklearn.checks import check_integer, check_kept, invalid, regular_array
from mklearn.errors import DataError, NotApplicable
from mklearn.estimator_input import checked_array
from mklearn.graphs import class_structure
from mklearn.kernels.views import only_table
from mklearn.optimize.eigen import generalized_eigh

Array = NDArray[np.floating]
Side = Literal["left", "right"]

_DEFAULT_SIZE = 10


class Scatter:
    """Weighted sum of the one-sided scatters of stacks of matrices D_i, (N_k, rows, cols); weights of any sign."""

    def __init__(self, *terms: tuple[float, Array]) -> None:
        # stored for both sides, so that all products run over contiguous rows
        axes = {"left": (1, 0, 2), "right": (2, 0, 1)}
        self._terms = [
            (weight, {side: np.ascontiguousarray(D.transpose(order)) for side, order in axes.items()})
            for weight, D in terms
        ]

    def one_sided(self, side: Side, projection: Array) -> Array:
        """Compute sum_i w_i D_i R R'D_i' for R (cols, l), or on the right sum_i w_i D_i'L L'D_i for L (rows, l)."""
        total: Any = 0.0
        for weight, stacks in self._terms:
            stack = stacks[side]
            projected = (stack.reshape(-1, stack.shape[2]) @ projection).reshape(len(stack), -1)
            total = total + weight * (projected @ projected.T)
        return np.asarray(total)


Step = Callable[[Side, Array, int], tuple[Array, float]]
"""Half step: maps side, projection of the other side and number of columns to a new projection and its objective."""


def trace_step(scatter: Scatter, side: Side, projection: Array, size: int) -> tuple[Array, float]:
    """Maximise sum_i w_i ||L'D_i R||_F^2 over L with L'L = I or R with R'R = I, given the scatter of the D_i.

    The leading eigenvectors of a one-sided scatter are the exact maximum: the objective never decreases.
    """
    values, vectors = generalized_eigh(scatter.one_sided(side, projection), n_components=size, which="largest")
    return vectors, float(values.sum())


@parameters
class BilinearEmbedding(Embedding):
    """Base of the estimators that embed an image X (rows, cols) as Y = L'XR (l1, l2), row by row.

    ``predict`` gives the label of the nearest training image, see `mklearn.base.embedding.Embedding`.

    A subclass defines the problem (`_problem`), whether it needs labels, and the side whose projection is fixed first.
    """

    n_components: Annotated[Any, None, at_least(1), tuple, list] = field(default=None, kw_only=False)
    max_iter: PositiveInt = 20
    tol: Nonnegative = 1e-8
    _fixed_side: ClassVar[Side] = "right"

    @fit_context
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Find both projections.

        Parameters
        ----------
        X : array of shape (n, rows, cols)
            A sample of a table (n, d) is an image of one column. `Views` with a single view are taken as that view.
        y : array of shape (n,), optional
            Class labels; ignored by unsupervised methods.
        """
        array = self._check_images(X, reset=True)
        images = array.reshape(-1, *self.shape_).astype(np.float64, copy=False)
        labels = self._checked_labels(y, len(images))
        codes = None if labels is None else class_structure(labels).codes
        sizes = self._sizes()
        self._alternate(*self._problem(images, codes), {self._fixed_side: self._start(sizes, images)}, sizes)
        self.embedding_ = self._embed(images, array.dtype)
        return self

    def _alternate(self, step: Step, scale: float, projections: dict[Side, Array], sizes: tuple[int, int]) -> None:
        """Iterate until the objective of an iteration changes by at most ``tol * max(scale, |objective|)``.

        ``projections`` has the start of the fixed side; the other side is solved for first.
        """
        fixed, size = self._fixed_side, {"left": sizes[0], "right": sizes[1]}
        other: Side = "left" if fixed == "right" else "right"
        history: list[float] = []
        self.status_: Literal["converged", "max_iter"] = "max_iter"
        for _ in range(self.max_iter):
            projections[other], first = step(other, projections[fixed], size[other])
            projections[fixed], value = step(fixed, projections[other], size[fixed])
            history += [first, value]
            if len(history) > 2 and abs(value - history[-3]) <= self.tol * max(scale, abs(value)):
                self.status_ = "converged"
                break
        self.left_components_, self.right_components_ = projections["left"], projections["right"]
        self.objective_history_, self.n_iter_ = np.array(history), len(history) // 2

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.left_components_.shape[1] * self.right_components_.shape[1]

    def _problem(self, images: Array, codes: NDArray[np.intp] | None) -> tuple[Step, float]:
        """Return the half step, and the scale against which changes of the objective are compared."""
        raise NotImplementedError

    def _project(self, X: ArrayLike) -> NDArray[np.floating]:
        check_is_fitted(self)
        array = self._check_images(X, reset=False)
        return self._embed(array.reshape(-1, *self.shape_), array.dtype)

    def _embed(self, images: Array, dtype: np.dtype[Any]) -> NDArray[np.floating]:
        n, rows, cols = images.shape
        half = (images.reshape(n * rows, cols) @ self.right_components_).reshape(n, rows, -1)
        return np.asarray(np.matmul(self.left_components_.T, half).reshape(n, -1), dtype=dtype)

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
            try:
                left, right = (check_integer(number, "n_components") for number in wanted)
            except (TypeError, ValueError):
                raise invalid(wanted, "n_components", "two integers >= 1, (rows, columns)") from None
            sizes = left, right
        if sizes[0] > rows or sizes[1] > cols:
            raise NotApplicable(
                f"n_components={wanted}: images of {rows} x {cols} pixels have at most {rows} components on the left "
                f"and {cols} on the right"
            )
        return sizes

    def _start(self, sizes: tuple[int, int], images: Array) -> Array:
        """Return the initial projection of the fixed side: (I, 0)', or I if that sees no part of any image."""
        axis = 0 if self._fixed_side == "left" else 1
        side, size = self.shape_[axis], sizes[axis]
        # (I, 0)' uses only the first rows or columns: if they are a blank margin, all objectives stay 0
        blank = not np.ptp(np.take(images, range(size), axis=1 + axis), axis=0).any()
        return np.eye(side, side if blank else size)

    def _check_images(self, X: ArrayLike, *, reset: bool) -> NDArray[Any]:
        """Return X as a checked matrix with one flat image per row; set `shape_` if ``reset``."""
        images: Any = only_table(X)
        images = images if hasattr(images, "ndim") else regular_array(images, "X")
        check_kept(images, "X")
        shape = tuple(images.shape[1:]) if images.ndim == 3 else None
        if shape is not None:
            images = np.asarray(images).reshape(len(images), shape[0] * shape[1])
        if not reset and shape not in (None, self.shape_):
            raise DataError(f"X has images of shape {shape}, but {type(self).__name__} was fitted with {self.shape_}")
        array = checked_array(self, images, reset=reset)
        if reset:
            self.shape_: tuple[int, int] = shape or (array.shape[1], 1)
        return array


def class_differences(images: Array, codes: NDArray[np.intp]) -> tuple[Array, Array]:
    """Compute the matrices whose second moments are the between- and the within-class scatter.

    They are sqrt(n_k) (M_k - M), shape (c, rows, cols), and X_i - M_k for the class k of X_i, shape (n, rows, cols).
    ``codes`` are class codes 0..c-1, each of which must occur.
    """
    n = len(images)
    # Centred first: the differences are then as exact as the pixels, however bright the images.
    centred = images.reshape(n, -1) - images.reshape(n, -1).mean(axis=0)
    counts = np.bincount(codes)
    indicator = np.zeros((len(counts), n))
    indicator[codes, np.arange(n)] = 1.0
    means = (indicator @ centred) / counts[:, None]
    between = np.sqrt(counts)[:, None] * means
    return between.reshape(-1, *images.shape[1:]), (centred - means[codes]).reshape(images.shape)


def energy(stack: Array) -> float:
    """Compute the sum of squares: the trace of the stack's scatter."""
    return float(np.vdot(stack, stack))
