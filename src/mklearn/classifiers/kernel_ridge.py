"""Kernel ridge classification on a fixed combination of kernels."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from sklearn.utils.validation import check_is_fitted

from mklearn.base.fit_context import fit_context
from mklearn.base.kernels_mixin import fixed_weights
from mklearn.base.landmark_input import LandmarkInput, LandmarkMoments
from mklearn.base.parameters import Positive, parameters
from mklearn.classifiers.class_scores import ClassScores
from mklearn.classifiers.kernel_classifier import WeightedKernelClassifier, variance_of
from mklearn.errors import ConfigError, DataError
from mklearn.kernels.stack import KernelStack


@parameters
class KernelRidgeClassifier(ClassScores, LandmarkInput, WeightedKernelClassifier):
    """Kernel ridge regression on class indicators; predicts the class of the largest output.

    With K = sum_m beta_m K_m, Y the one-hot labels and H = I - 11'/n,

        f(x) = k(x)'A + b,   A = (H K H + lambda I)^-1 H Y,   b = mean over samples of (Y - K A),

    the least-squares solution with penalty lambda tr(A'K A) and an unpenalised intercept. Adding a constant to a kernel
    does not change f. With sample weights w the squared errors, all means and the centred trace below are weighted:
    with K and Y centred by the weighted means and D = diag(w), A = D^(1/2) (D^(1/2) K D^(1/2) + lambda I)^-1 D^(1/2) Y.

    Parameters
    ----------
    kernels, kernel_weights, landmarks
        As for `mklearn.subspace.KernelFDA`. Landmarks exclude sample and class weights.
    alpha : float
        The ridge lambda relative to the centred trace of K, tr(K)/n - 1'K1/n^2, so that f does not depend on the scale
        of K.
    class_weight : None, "balanced" or dict
        Weights of the classes, by label, which multiply the sample weights; "balanced" gives all classes the same total
        weight.

    Attributes
    ----------
    coefficients_ : array of shape (n_train, n_classes)
        A. Its rows and columns sum to 0; rows of samples with weight 0 are 0.
    intercept_ : array of shape (n_classes,)
    ridge_amount_ : float
        lambda.
    kernel_weights_, kernel_ids_, classes_, n_features_in_
        As for `mklearn.subspace.KernelFDA`, as are the errors, and `DataError` also if K + lambda I is not positive
        definite.

    References
    ----------
    Saunders, Gammerman, Vovk, "Ridge regression learning algorithm in dual variables", ICML 1998.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> KernelRidgeClassifier(kernels=["gaussian"]).fit(X, y).score(X, y) > 0.9
    True
    """

    _needs_labels = True
    kernel_weights: Any = None
    alpha: Positive = 1e-3

    @fit_context
    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier; see `WeightedKernelClassifier.fit`. Landmarks exclude sample weights."""
        self._clear_landmarks()
        if self.landmarks is None:
            return super().fit(X, y, sample_weight)
        if sample_weight is not None:
            raise ConfigError(
                "moments of landmark features do not include sample weights: omit sample_weight, or set landmarks=None"
            )
        self._fit_landmarks(X, y)
        return self

    def _learn(self, data: LandmarkMoments) -> None:
        if self.class_weight is not None:
            raise ConfigError("moments of landmark features do not include class weights: set class_weight=None")
        super()._learn(data)

    def _fit_kernels(
        self, stack: KernelStack, codes: NDArray[np.intp], sample_weight: NDArray[np.float64] | None = None
    ) -> None:
        weights = fixed_weights(self.kernel_weights, len(stack))
        kernel = np.asarray(stack.combine(weights), dtype=np.float64)
        amount = self.alpha * variance_of(kernel, sample_weight)
        rows = np.average(kernel, axis=0, weights=sample_weight)
        system = kernel - rows - rows[:, None] + np.average(rows, weights=sample_weight)
        targets = np.eye(len(self.classes_))[codes]
        mean = np.average(targets, axis=0, weights=sample_weight)
        root = np.ones(len(codes)) if sample_weight is None else np.sqrt(sample_weight)
        system *= root[:, None] * root
        system[np.diag_indices_from(system)] += amount
        try:
            factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            raise DataError(
                f"the combined kernel has an eigenvalue below {-amount:.3g}: repair the kernels (psd_repair), or raise "
                f"alpha={self.alpha:g}"
            ) from None
        right = root[:, None] * (targets - mean)
        coefficients = root[:, None] * cho_solve(factor, right, check_finite=False)
        # Make the columns sum to 0 exactly: the constant part of an uncentred kernel would amplify rounding errors.
        shares = root**2 / (root**2).sum()
        self.coefficients_ = coefficients - shares[:, None] * coefficients.sum(axis=0)
        self.intercept_ = mean - rows @ self.coefficients_
        self.ridge_amount_ = amount
        self.kernel_weights_ = weights

    def _fit_moments(self, data: LandmarkMoments) -> None:
        problem, weights = data.problem(), fixed_weights(self.kernel_weights, data.n_kernels)
        problem.ridge_amount(weights, 0.0)  # raises for constant kernels
        variance = float(problem.spread(weights) @ np.diagonal(problem.total)) / problem.n
        counts = data.moments.class_counts_
        assert problem.between is not None
        cross = problem.between * np.sqrt(counts)  # the class sums of the centred features
        self.ridge_amount_ = self.alpha * variance
        coefficients = problem.ridge_regression(cross, weights, self.ridge_amount_)
        self._set_coefficients(data, coefficients)
        self.intercept_ = counts / problem.n - data.moments.mean @ self.coefficients_ + self.offset_
        self.kernel_weights_ = weights

    def _shifted(self, products: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
        return super()._shifted(products).astype(np.float64) + self.intercept_

    def class_scores(self, X: Any) -> NDArray[np.float64]:
        """Compute the outputs f, shape (m, n_classes), with rows that sum to 1.

        X is as for ``fit``; precomputed kernels have shape (m, n_train, n_kernels).
        """
        check_is_fitted(self)
        if self.landmark_features_ is not None:
            return np.asarray(self._outputs(self.landmark_features_, X), dtype=np.float64)
        stack, _ = self._new_stack(X)
        outputs: NDArray[np.float64] = stack.combine(self.kernel_weights_) @ self.coefficients_ + self.intercept_
        return outputs
