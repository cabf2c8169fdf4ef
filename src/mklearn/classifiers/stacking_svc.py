"""Late fusion: one support vector classifier per kernel, and logistic regression on their probabilities."""

from __future__ import annotations

from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from mklearn.base.fit_context import fit_context
from mklearn.base.folds import inner_folds
from mklearn.base.parameters import NonnegativeInt, Positive, at_least, parameters
from mklearn.classifiers.class_scores import ClassScores
from mklearn.classifiers.kernel_classifier import KernelClassifier
from mklearn.classifiers.kernel_svc import KernelSVC
from mklearn.optimize.calibration import fit_inverse_temperature, score_range, softmax
from mklearn.optimize.left_out import group_codes

Array = NDArray[np.floating[Any]]
PENALTY = 10.0
"""C of the logistic regression. With scikit-learn's default, 1, the accuracy on three_sources is five points lower."""


@parameters
class StackingSVC(ClassScores, KernelClassifier):
    """Late fusion by stacking: one support vector classifier per kernel, combined by logistic regression.

    With ``kernels="gaussian"`` there is one kernel, and so one classifier, per view. Cross-validation within the
    training samples gives out-of-fold decision values of each classifier. A temperature turns them into probabilities
    of the classes, on which the multinomial logistic regression is fitted. New samples are predicted by classifiers
    that are fitted to all training samples.

    Parameters
    ----------
    kernels
        As for `mklearn.subspace.KernelFDA`.
    C : float
        Penalty of each classifier, as in `mklearn.classifiers.KernelSVC`, for a kernel of unit variance.
    cv : int
        Number of stratified, shuffled folds, at most the size of the largest class. With groups, at most the smallest
        number of groups in a class.
    random_state : int
        Seed of the folds. They are drawn by position, so they depend on the order of the samples.

    Attributes
    ----------
    estimators_ : list of n_kernels `KernelSVC`
        Classifiers fitted to all training samples.
    inverse_temperatures_ : array of shape (n_kernels,)
        Factor of the decision values of each classifier in the exponent of its probabilities.
    final_estimator_ : `sklearn.linear_model.LogisticRegression`
        Its features are the probabilities of all classes by the first kernel, then by the second one, and so on.
    kernel_weights_ : array of shape (n_kernels,), sum 1
        Shares of the kernels in the sum of the absolute coefficients of ``final_estimator_``.
    kernel_ids_, classes_, n_features_in_
        As for `mklearn.subspace.KernelFDA`, as are the errors, and `NotApplicable` also if a class has a single sample
        or group.

    References
    ----------
    Wolpert, "Stacked generalization", Neural Networks 5, 1992. Ting, Witten, "Issues in stacked generalization", JAIR
    10, 1999 (probabilities as features). Deviation: kernels of features (bandwidth, centring, scaling) are fitted to
    all training samples, without labels, and not again in each fold.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> views = {"upper": X[:, :32], "lower": X[:, 32:]}
    >>> train, test = slice(0, 300), slice(300, None)
    >>> model = StackingSVC(kernels="gaussian").fit({name: table[train] for name, table in views.items()}, y[train])
    >>> model.score({name: table[test] for name, table in views.items()}, y[test]) > 0.8
    True
    """

    C: Positive = 10.0
    cv: Annotated[int, at_least(2)] = 5
    random_state: NonnegativeInt = 0

    @fit_context
    def fit(self, X: Any, y: ArrayLike | None = None, groups: ArrayLike | None = None) -> Self:
        """Fit the classifier; X and y are as for `KernelSVC.fit`.

        ``groups``, (n,), such as patients or photographs, are never split between folds.
        """
        stack = self._training_stack(X)
        codes = self._class_codes(stack, y)
        names = None if groups is None else group_codes(groups, len(codes))
        folds, machine = inner_folds(self.classes_[codes], self.cv, self.random_state, names), KernelSVC(C=self.C)
        outputs = [_scores(cross_val_predict(machine, K, codes, cv=folds, method="decision_function")) for K in stack]
        self._score_ranges = list(map(score_range, outputs))
        self.inverse_temperatures_ = np.array([fit_inverse_temperature(each, codes) for each in outputs])
        self.estimators_ = [KernelSVC(C=self.C).fit(K, codes) for K in stack]
        self.final_estimator_ = LogisticRegression(C=PENALTY, tol=1e-6, max_iter=10_000)
        self.final_estimator_.fit(self._features(outputs), codes)
        sizes = np.abs(self.final_estimator_.coef_).sum(axis=0).reshape(len(stack), -1).sum(axis=1)
        sizes += np.finfo(np.float64).tiny  # all coefficients are 0 if no kernel discriminates any class
        self.kernel_weights_ = sizes / sizes.sum()
        return self

    def _features(self, outputs: list[Array]) -> Array:
        """Return the probabilities by all kernels side by side, (m, n_kernels * n_classes)."""
        each = zip(outputs, self.inverse_temperatures_, self._score_ranges, strict=True)
        return np.hstack([softmax(*of_kernel) for of_kernel in each])

    def class_scores(self, X: Any) -> Array:
        """Compute the probabilities of the classes, shape (m, n_classes)."""
        stack, _ = self._new_stack(X)
        outputs = [_scores(machine.decision_function(K)) for machine, K in zip(self.estimators_, stack, strict=True)]
        return np.asarray(self.final_estimator_.predict_proba(self._features(outputs)))

    def predict_proba(self, X: Any) -> Array:
        """Compute the probabilities of the classes, shape (m, n_classes)."""
        return self.class_scores(X)  # no second name of it: scikit-learn goes by `__name__`


def _scores(decision: Array) -> Array:
    """Return a score for each class, (m, n_classes), from decision values in scikit-learn's form."""
    return np.stack([-decision, decision], axis=1) if decision.ndim == 1 else decision
