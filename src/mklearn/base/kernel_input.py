"""The input of estimators that take several kernels: computed from features, or precomputed."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from mklearn.base.validation import checked_array
from mklearn.errors import ConfigError, DataError
from mklearn.kernels.specs import StackTransform
from mklearn.kernels.stack import KernelStack

KernelWeighting = Literal["learned", "uniform"]
"""Kernel weights of a learner: its own, or equal ones in everything else that it does."""


class KernelInput:
    """Mixin of estimators with a parameter ``kernels``: "precomputed", or specs of kernels on features.

    ``fit`` begins with `_training_stack`, every prediction with `_new_stack`. Place the mixin before scikit-learn's
    classes in the list of bases.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"kernels": [str, list, tuple, Mapping]}

    kernels: Any
    kernel_ids_: tuple[str, ...]
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = self._is_precomputed
        tags.input_tags.three_d_array = self._is_precomputed
        return tags

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernels, str) and self.kernels == "precomputed"

    def _training_stack(self, X: ArrayLike) -> KernelStack:
        """Return the training kernels, fitting those computed from features; set ``kernel_ids_`` and ``_dtype_``."""
        array = checked_array(self, X, reset=True, allow_nd=self._is_precomputed)
        if self._is_precomputed:
            stack = KernelStack.from_last_axis(array).require_training()
        else:
            self._transform_ = StackTransform(self.kernels).fit(array)
            stack = self._transform_.stack_train_
        self._dtype_ = array.dtype
        self.kernel_ids_ = stack.ids
        return stack

    def _new_stack(self, X: ArrayLike) -> tuple[KernelStack, np.dtype[Any]]:
        """Return the kernels between new samples (rows) and training samples (columns), and the dtype of X.

        Raises
        ------
        DataError
            X has another number of features, training samples or kernels than in ``fit``, or is not finite.
        """
        check_is_fitted(self)
        array = checked_array(self, X, reset=False, allow_nd=self._is_precomputed)
        if not self._is_precomputed:
            return self._transform_.transform(array), array.dtype
        stack = KernelStack.from_last_axis(array)
        n_kernels = len(self.kernel_ids_)
        if len(stack) != n_kernels:
            raise DataError(
                f"X holds {len(stack)} kernels, but {type(self).__name__} was fitted with {n_kernels}: "
                f"X must have shape (n_samples, {self.n_features_in_}, {n_kernels})"
            )
        return stack, array.dtype


def fixed_weights(choice: Any, n_kernels: int) -> NDArray[np.floating[Any]]:
    """Return kernel weights that are given, not learned, scaled to sum 1.

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
        raise ConfigError(f"kernel_weights have shape {weights.shape}: give one weight for each of {n_kernels} kernels")
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.sum() > 0:
        raise ConfigError(f"kernel_weights={weights.tolist()}: must be finite, nonnegative and not all zero")
    return weights / weights.sum()
