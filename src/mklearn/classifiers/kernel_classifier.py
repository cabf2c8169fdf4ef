"""What the classifiers on several kernels share: their input (features or precomputed kernels) and labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from mklearn.errors import DataError
from mklearn.graphs import class_structure
from mklearn.kernels.specs import StackTransform
from mklearn.kernels.stack import KernelStack
from mklearn.subspace.inputs import checked_array, checked_labels


class KernelClassifier(ClassifierMixin, BaseEstimator):
    """Base of classifiers with a parameter ``kernels``: "precomputed", or specs of kernels on features.

    A subclass's ``fit`` begins with `_training_stack` and `_encoded`, its predictions with `_new_stack`.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"kernels": [str, list, tuple, Mapping]}

    kernels: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed
        tags.input_tags.three_d_array = self._is_precomputed
        return tags

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernels, str) and self.kernels == "precomputed"

    def _training_stack(self, X: ArrayLike) -> KernelStack:
        """The training kernels; fits those that are computed from features. Sets ``kernel_ids_``."""
        array = checked_array(self, X, reset=True, allow_nd=self._is_precomputed)
        if self._is_precomputed:
            stack = KernelStack.from_last_axis(array).require_training()
        else:
            self._transform_ = StackTransform(self.kernels).fit(array)
            stack = self._transform_.stack_train_
        self.kernel_ids_ = stack.ids
        return stack

    def _new_stack(self, X: ArrayLike) -> KernelStack:
        """The kernels between new samples (rows) and the training samples (columns)."""
        check_is_fitted(self)
        array = checked_array(self, X, reset=False, allow_nd=self._is_precomputed)
        if not self._is_precomputed:
            return self._transform_.transform(array)
        stack = KernelStack.from_last_axis(array)
        n_kernels = len(self.kernel_ids_)
        if len(stack) != n_kernels:
            raise DataError(
                f"X holds {len(stack)} kernels, but {type(self).__name__} was fitted with {n_kernels}: "
                f"X must have shape (n_samples, {self.n_features_in_}, {n_kernels})"
            )
        return stack

    def _encoded(self, y: ArrayLike | None, n: int) -> NDArray[np.intp]:
        """Labels as positions in ``classes_``, which is set; raises as `mklearn.graphs.class_structure`."""
        labels = y if y is None else np.asarray(y)
        if labels is not None and labels.ndim == 2 and labels.shape[1] == 1:
            from sklearn.utils.validation import column_or_1d

            labels = column_or_1d(labels, warn=True)
        classes = class_structure(checked_labels(self, labels, n))
        self.classes_ = classes.labels
        return classes.codes

    def _decision(self, scores: NDArray[Any]) -> NDArray[Any]:
        """(m, c) scores in scikit-learn's form: of two classes only the difference, second less first."""
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
