"""Mixins that predict labels from decision values or class scores, and helpers for one-vs-rest machines."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin

from mklearn.base.fit_context import aligned
from mklearn.errors import DataError


class DecisionLabels(ClassifierMixin):
    """Mixin of classifiers that predict labels from ``decision_function``."""

    classes_: NDArray[Any]
    score = aligned(ClassifierMixin.score)
    decision_function: Any

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict class labels, shape (m,); ties go to the first class in ``classes_``."""
        return self.labels_of(self.decision_function(X))

    def labels_of(self, decision: NDArray[np.floating]) -> NDArray[Any]:
        """Return the labels for decision values; raise `DataError` if some are NaN, because samples lack every view."""
        unknown = np.flatnonzero(np.isnan(decision.reshape(len(decision), -1)).any(axis=1))
        if len(unknown):
            raise DataError(
                f"{len(unknown)} sample(s) of X lack every view, the first at position {unknown[0]}: leave them out, "
                "no label can be predicted (their probabilities are NaN)"
            )
        best = decision > 0 if decision.ndim == 1 else decision.argmax(axis=1)
        return self.classes_[best.astype(np.intp)]


class ClassScores(DecisionLabels):
    """Mixin of classifiers that predict the class with the largest of ``class_scores``."""

    def class_scores(self, X: ArrayLike) -> NDArray[np.floating]:
        """Compute the score of each class, shape (m, n_classes)."""
        raise NotImplementedError

    def decision_function(self, X: ArrayLike) -> NDArray[np.floating]:
        """Compute decision values in scikit-learn's form.

        Returns
        -------
        array of shape (m, n_classes), or (m,) for two classes
            `class_scores`; for two classes the score of the second minus the score of the first.
        """
        return self.decision_of(self.class_scores(X))

    def decision_of(self, scores: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return the decision values for class scores that are already computed."""
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def one_vs_rest_signs(codes: NDArray[np.intp], n_classes: int) -> NDArray[np.floating[Any]]:
    """Return the labels -1 and 1 for each one-vs-rest machine, shape (n_machines, n), given class codes (n,).

    Two classes have one machine, whose positive class is the second; more classes have one machine each.
    """
    positive = [1] if n_classes == 2 else range(n_classes)
    return np.array([np.where(codes == code, 1.0, -1.0) for code in positive])


def decision_values(by_machine: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Return outputs (n_machines, m) in scikit-learn's form: (m,) for one machine, (m, n_machines) for several."""
    return by_machine[0] if len(by_machine) == 1 else np.ascontiguousarray(by_machine.T)
