"""Input of estimators on several kernels, computed from features or views, or precomputed."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils.validation import check_is_fitted, validate_data

from mklearn.base.fit_context import few_threads
from mklearn.base.parameters import parameters
from mklearn.checks import regular_array
from mklearn.errors import ConfigError, DataError
from mklearn.estimator_input import checked_array
from mklearn.kernels.specs import kernel_parameters, with_kernel_parameters
from mklearn.kernels.stack import KernelStack
from mklearn.kernels.transform import StackTransform
from mklearn.kernels.views import Views, as_views

KernelWeighting = Literal["learned", "uniform"]
"""Kernel weights of a learner: learned by it, or equal with its other steps unchanged."""

Kernels = Annotated[Any, str, list, tuple, Mapping]
"""The parameter ``kernels``: "precomputed", or specs of kernels."""

_NESTED = "kernels__"
_PREDICTIONS = ("transform", "_project", "class_scores", "decision_function", "predict", "predict_proba",
                "predict_interval", "contributions")  # fmt: skip


@parameters
class KernelsMixin:
    """Mixin of estimators with a parameter ``kernels``: "precomputed", or specs of kernels on features.

    ``fit`` begins with `_training_stack`, every prediction with `_new_stack`. Place the mixin before scikit-learn's
    classes in the list of bases.

    Kernel parameters are also parameters of the estimator, for ``set_params`` and grid searches:
    ``kernels__gist__bandwidth`` is the bandwidth of the kernel "gist", ``kernels__bandwidth`` the one of a single spec.
    """

    kernels: Kernels = "precomputed"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = {name for name, each in vars(cls).items() if callable(each)}
        for name in set(_PREDICTIONS) & own:  # `fit` has its own: `mklearn.base.fit_context.fit_context`
            setattr(cls, name, few_threads(vars(cls)[name]))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, and with ``deep=True`` also the parameters of the kernels."""
        parameters: dict[str, Any] = super().get_params(deep=deep)  # type: ignore[misc]
        if deep and self._has_specs:
            nested = kernel_parameters(self.kernels)
            parameters.update({f"{_NESTED}{name}": value for name, value in nested.items()})
        return parameters

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters of the estimator and its kernels; ``kernels`` is replaced, not modified in place."""
        nested = {name: parameters.pop(name) for name in list(parameters) if name.startswith(_NESTED)}
        super().set_params(**parameters)  # type: ignore[misc]
        if nested and not self._has_specs:
            raise ConfigError(
                f"{next(iter(nested))}: {self.kernels} kernels have no parameters; set `kernels` to specs"
            )
        if nested:
            named = {name.removeprefix(_NESTED): value for name, value in nested.items()}
            self.kernels = with_kernel_parameters(self.kernels, named)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = self._is_precomputed
        tags.input_tags.three_d_array = self._is_precomputed
        return tags

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernels, str) and self.kernels == "precomputed"

    @property
    def _has_specs(self) -> bool:
        """Whether ``kernels`` holds specs, whose parameters are also parameters of the estimator."""
        return not self._is_precomputed

    def _training_stack(self, X: Any) -> KernelStack:
        """Return the training kernels, fitted if computed from features; set ``kernel_ids_`` and ``_dtype_``."""
        if self._is_precomputed:
            array = self._checked_kernels(X, reset=True)
            stack = KernelStack.from_last_axis(array).require_training()
            self._dtype_ = array.dtype
        else:
            transform = StackTransform(self.kernels)
            table = self._checked_features(X, transform, reset=True)
            stack = transform.fit_transform(table)
            self._transform_, self._dtype_ = transform, _dtype_of(table, stack)
        self.kernel_ids_ = stack.ids
        return stack

    def _new_stack(self, X: Any) -> tuple[KernelStack, np.dtype[Any]]:
        """Return the kernels between new samples (rows) and training samples (columns), and the dtype of X.

        Raises `DataError` if X is not finite, or differs from ``fit`` in features, training samples or kernels.
        """
        check_is_fitted(self)
        if not self._is_precomputed:
            table = self._checked_features(X, self._transform_, reset=False)
            stack = self._transform_.transform(table)
            return stack, _dtype_of(table, stack)
        array = self._checked_kernels(X, reset=False)
        stack = KernelStack.from_last_axis(array)
        n_kernels = len(self.kernel_ids_)
        if len(stack) != n_kernels:
            raise DataError(
                f"X holds {len(stack)} kernels, but {type(self).__name__} was fitted with {n_kernels}: "
                f"X must have shape (n_samples, {self.n_features_in_}, {n_kernels})"
            )
        return stack, array.dtype

    def _with_row_labels(self, values: NDArray[np.floating], X: Any) -> Any:
        """Return features of samples; pandas output gets the row labels of the views, so that it can be joined.

        scikit-learn keeps row labels only if X is a single DataFrame.
        """
        output = getattr(self, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
        reads_views = not self._is_precomputed or getattr(self, "landmark_features_", None) is not None
        views = as_views(X) if output == "pandas" and reads_views else None
        if views is None or views.index is None:
            return values
        import pandas as pd

        return pd.DataFrame(values, index=views.index)

    def _checked_kernels(self, X: Any, *, reset: bool) -> NDArray[Any]:
        """Return checked precomputed kernels, shape (n, n_train) or (n, n_train, n_kernels)."""
        name = type(self).__name__
        if isinstance(X, Views | Mapping) and as_views(X) is not None:
            raise DataError(
                f"X holds several views, but {name} has kernels='precomputed': say which kernels to compute from them, "
                f"e.g. {name}(kernels='gaussian') for one of each view"
            )
        array = checked_array(self, X, reset=reset, allow_nd=True)
        if reset and array.ndim in (2, 3) and array.shape[0] != array.shape[1]:
            raise DataError(
                f"X has shape {array.shape}, but {name} has kernels='precomputed': expected a square kernel matrix "
                f"(n_samples, n_samples), or (n_samples, n_samples, n_kernels) for several. If X holds features, name "
                f"the kernels to compute from them, e.g. {name}(kernels=['gaussian', 'linear'])"
            )
        return array

    def _checked_features(self, X: Any, transform: StackTransform, *, reset: bool) -> Any:
        """Return X as views or as a checked array; return it unchanged if kernels need the original table."""
        views = as_views(X)
        if not reset and transform.reads_views != (views is not None):
            return transform.read(X, new=True)  # raises DataError
        if views is None and not transform.reads_as_given(X):
            return checked_array(self, X, reset=reset)
        if views is None:
            table = X if hasattr(X, "shape") else regular_array(X, "X")
            if len(table.shape) != 2:
                raise DataError(f"X has shape {table.shape}; expected (n_samples, n_features)")
            try:
                validate_data(self, table, reset=reset, skip_check_array=True)
            except ValueError as error:
                raise DataError(str(error)) from error
        else:
            table = views
            if reset:  # not for new samples, which may lack views that no kernel reads: `StackTransform` checks them
                self.n_features_in_ = views.shape[1]
                vars(self).pop("feature_names_in_", None)
        if reset and table.shape[0] < 2:
            raise DataError(f"X has {table.shape[0]} sample(s): a minimum of 2 is required by {type(self).__name__}")
        return table


def _dtype_of(table: Any, stack: KernelStack) -> np.dtype[Any]:
    """Return the dtype of X if it is a float array, else the dtype of the kernels."""
    return table.dtype if isinstance(table, np.ndarray) and table.dtype.kind == "f" else stack.dtype


def fixed_weights(choice: Any, n_kernels: int) -> NDArray[np.floating[Any]]:
    """Return fixed kernel weights, (n_kernels,), scaled to sum 1.

    `choice` is None or "uniform" for the average, the position of one kernel, or nonnegative weights. Raises
    `ConfigError` otherwise.
    """
    if choice is None or (isinstance(choice, str) and choice == "uniform"):
        return np.full(n_kernels, 1.0 / n_kernels)
    if isinstance(choice, Integral) and not isinstance(choice, bool):
        if not 0 <= int(choice) < n_kernels:
            raise ConfigError(f"kernel_weights={choice}: kernels are numbered from 0 to {n_kernels - 1}")
        return np.eye(n_kernels)[int(choice)]
    try:
        if np.asarray(choice).dtype.kind == "c":
            raise TypeError
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
