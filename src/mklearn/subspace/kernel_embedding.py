"""What the kernel subspace estimators share: input (features or precomputed kernels), labels, scale and output."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.graphs import GraphPair, kernel_squared_distances
from mklearn.kernels.specs import StackTransform
from mklearn.kernels.stack import KernelStack
from mklearn.optimize.graph_embedding import Array, Projection, Scaling, max_components, rescale_columns
from mklearn.subspace.inputs import checked_array


class KernelEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of the estimators that embed samples by z = A' sum_m beta_m k_m(., x).

    A subclass's ``fit`` reads the input with `_training_stack` and `checked_labels`, finds kernel weights and a
    `Projection`, and ends with `_finish`. It has at least the parameters ``n_components``, ``kernels``, ``ridge`` and
    ``scaling``.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [None, Interval(Integral, 1, None, closed="left")],
        "kernels": [str, list, tuple, Mapping],
        "ridge": [Interval(Real, 0, None, closed="left")],
        "scaling": [StrOptions(set(get_args(Scaling)))],
    }

    n_components: int | None
    kernels: Any
    ridge: float
    scaling: Scaling

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> KernelEmbedding:
        """Fit; subclasses say what is learned."""
        raise NotImplementedError

    def transform(self, X: ArrayLike) -> NDArray[np.floating]:
        """Embed samples.

        Parameters
        ----------
        X : array of shape (m, d), or (m, n_train, n_kernels) with ``kernels="precomputed"``
            Precomputed kernels have new samples as rows and training samples as columns, kernels in the training order.

        Returns
        -------
        array of shape (m, n_components)
            In the dtype of X (float32 or float64); the columns in order of discriminative power.

        Raises
        ------
        DataError
            X has another number of features, training samples or kernels than in ``fit``, or is not finite.
        """
        check_is_fitted(self)
        array = self._checked(X, reset=False)
        stack = self._precomputed(array) if self._is_precomputed else self._transform_.transform(array)
        if len(stack) != len(self.kernel_weights_):
            raise DataError(
                f"X holds {len(stack)} kernels, but {type(self).__name__} was fitted with {len(self.kernel_weights_)}: "
                f"X must have shape (n_samples, {self.n_features_in_}, {len(self.kernel_weights_)})"
            )
        return np.asarray(stack.combine(self.kernel_weights_) @ self.coefficients_, dtype=array.dtype)

    def fit_transform(self, X: ArrayLike, y: ArrayLike | None = None, **fit_params: Any) -> NDArray[np.floating]:
        """Fit, and embed the training samples: `embedding_`."""
        return self.fit(X, y, **fit_params).embedding_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed
        tags.input_tags.three_d_array = self._is_precomputed
        tags.target_tags.required = self._needs_labels
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernels, str) and self.kernels == "precomputed"

    @property
    def _needs_labels(self) -> bool:
        return True

    @property
    def _n_features_out(self) -> int:
        return self.coefficients_.shape[1]

    # ------------------------------------------------------------------------------------------------ for subclasses

    def _training_stack(self, X: ArrayLike) -> KernelStack:
        """The training kernels; fits those that are computed from features."""
        array = self._checked(X, reset=True)
        if self._is_precomputed:
            stack = self._precomputed(array).require_training()
        else:
            self._transform_ = StackTransform(self.kernels).fit(array)
            stack = self._transform_.stack_train_
        self._dtype_ = array.dtype
        self.kernel_ids_ = stack.ids
        return stack

    def _wanted_components(self, graph: GraphPair, labels: NDArray[Any] | None) -> int:
        """``n_components``, or its default: classes - 1 where there are classes, else 2."""
        most = max_components(graph)
        if self.n_components is None:
            return min(most, 2 if labels is None else len(np.unique(labels)) - 1)
        if self.n_components > most:
            why = "classes - 1" if graph.lda_classes is not None else "the number of samples"
            raise NotApplicable(f"n_components={self.n_components}: there are at most {most} dimensions here ({why})")
        return self.n_components

    def _check_found(self, projection: Projection) -> None:
        """Refuse fewer columns than were asked for by number; with None, what there is will do."""
        found = projection.coefficients.shape[1]
        if found == 0 or (self.n_components is not None and found < self.n_components):
            raise NotApplicable(
                f"the combined kernel has {found} discriminating directions, fewer than "
                f"n_components={self.n_components}: ask for fewer, or use richer kernels"
            )

    def _finish(self, kernel: Array, weights: Array, projection: Projection) -> None:
        """Set the attributes that every estimator has."""
        self.kernel_weights_ = weights
        self.eigenvalues_ = projection.eigenvalues
        self.coefficients_ = rescale_columns(projection.coefficients, projection.eigenvalues, self.scaling)
        self.ridge_amount_ = projection.ridge_amount
        self.embedding_ = np.asarray(kernel @ self.coefficients_, dtype=self._dtype_)

    # ------------------------------------------------------------------------------------------------------- checks

    def _checked(self, X: ArrayLike, *, reset: bool) -> NDArray[Any]:
        return checked_array(self, X, reset=reset, allow_nd=self._is_precomputed)

    @staticmethod
    def _precomputed(array: NDArray[Any]) -> KernelStack:
        return KernelStack.from_last_axis(array)


def fixed_weights(choice: Any, n_kernels: int) -> Array:
    """Kernel weights that are given, not learned, with sum 1.

    Parameters
    ----------
    choice : None, "uniform", int, or array of shape (n_kernels,)
        The average (None and "uniform"), one kernel by its position, or nonnegative weights.

    Raises
    ------
    ConfigError
        Not one of these.
    """
    if choice is None or (isinstance(choice, str) and choice == "uniform"):
        return np.full(n_kernels, 1.0 / n_kernels)
    if isinstance(choice, Integral) and not isinstance(choice, bool):
        if not 0 <= int(choice) < n_kernels:
            raise ConfigError(f"kernel_weights={choice}: kernels are numbered from 0 to {n_kernels - 1}")
        return np.eye(n_kernels)[int(choice)]
    try:
        weights = np.asarray(choice, dtype=np.float64)
    except (TypeError, ValueError):
        raise ConfigError(
            f"kernel_weights={choice!r}: must be None, 'uniform', the position of a kernel, or one number per kernel"
        ) from None
    if weights.shape != (n_kernels,):
        raise ConfigError(f"kernel_weights have shape {weights.shape}: there are {n_kernels} kernels, one weight each")
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.sum() > 0:
        raise ConfigError(f"kernel_weights={weights.tolist()}: must be finite, nonnegative and not all zero")
    return weights / weights.sum()


def neighbour_distances(stack: KernelStack, given: Any, used: Any = None) -> list[Array]:
    """The list of distances that a neighbour graph is built from: the given ones, or one per (used) kernel.

    Raises
    ------
    DataError
        Given distances that are not over the training samples.
    """
    if given is None:
        chosen = range(len(stack)) if used is None else np.flatnonzero(used)
        return [kernel_squared_distances(np.asarray(stack[int(m)], dtype=np.float64)) for m in chosen]
    matrices = [np.asarray(given)] if np.ndim(given) == 2 else [np.asarray(d) for d in given]
    n = stack.n_columns
    for matrix in matrices:
        if matrix.shape != (n, n):
            raise DataError(
                f"graph_distances have shape {matrix.shape}: they must be ({n}, {n}), among training samples"
            )
    return matrices
