"""A linear support vector machine on the directions of an embedding: discriminant analysis, then one-vs-rest."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import _fit_context
from sklearn.svm import LinearSVC
from sklearn.utils._param_validation import Interval

from mklearn.classifiers.kernel_classifier import KernelClassifier
from mklearn.subspace.kernel_embedding import fixed_weights
from mklearn.subspace.kfd import KernelFDA


class EmbeddedLinearSVC(KernelClassifier):
    """One-vs-rest linear SVM on the kernel Fisher embedding of a fixed mix of kernels, cosine-normalised.

    The embedding of each sample, less the mean of the training embedding, is scaled to unit length: with a ridge, new
    samples shrink towards the mean where training samples do not, and lengths tell them apart, not classes.

    Parameters
    ----------
    n_components : int, optional
        Of the embedding: at most, and by default, the number of classes less one.
    kernels : "precomputed" or list of kernel specs
        As for `mklearn.subspace.KernelFDA`.
    kernel_weights : None, "uniform", int or array of shape (n_kernels,)
        The average, one kernel by its position, or given weights (scaled to sum 1).
    ridge : float
        Of the embedding, see `mklearn.subspace.KernelFDA`.
    C : float
        Of :class:`sklearn.svm.LinearSVC` (squared hinge loss).
    random_state : int, RandomState or None
        Of its solver.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,), sum 1
    kernel_ids_ : tuple of str
    classes_ : array of shape (n_classes,)
    embedder_ : KernelFDA
    mean_ : array of shape (n_components,)
        Of the training embedding.
    svc_ : LinearSVC
    n_features_in_ : int

    Raises
    ------
    DataError, NotApplicable, ConfigError
        As `mklearn.subspace.KernelFDA`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> EmbeddedLinearSVC(kernels=["gaussian"]).fit(X, y).score(X, y) > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelClassifier._parameter_constraints,
        "n_components": [None, Interval(Integral, 1, None, closed="left")],
        "kernel_weights": "no_validation",
        "ridge": [Interval(Real, 0, None, closed="left")],
        "C": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernels: Any = "precomputed",
        kernel_weights: Any = None,
        ridge: float = 1e-3,
        C: float = 1.0,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.kernels = kernels
        self.kernel_weights = kernel_weights
        self.ridge = ridge
        self.C = C
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> EmbeddedLinearSVC:
        """Embed, normalise, and fit one linear SVM per class.

        Parameters
        ----------
        X : array of shape (n, d), or (n, n, n_kernels) with ``kernels="precomputed"``
        y : array of shape (n,)
            Class labels.
        """
        stack = self._training_stack(X)
        codes = self._encoded(y, stack.n_columns)
        self.kernel_weights_ = fixed_weights(self.kernel_weights, len(stack))
        self.embedder_ = KernelFDA(self.n_components, ridge=self.ridge)
        Z = self.embedder_.fit_transform(stack.combine(self.kernel_weights_), codes)
        self.mean_ = Z.mean(axis=0)
        self.svc_ = LinearSVC(C=self.C, random_state=self.random_state, max_iter=10_000).fit(self._normalised(Z), codes)
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.floating]:
        """Signed distances, shape (m, n_classes); of two classes shape (m,), positive for the second.

        Parameters
        ----------
        X : array of shape (m, d), or (m, n_train, n_kernels) with ``kernels="precomputed"``
        """
        Z = self._embedded(X)
        return self.svc_.decision_function(Z)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Class labels, shape (m,)."""
        Z = self._embedded(X)
        return self.classes_[self.svc_.predict(Z)]

    def _embedded(self, X: ArrayLike) -> NDArray[np.floating]:
        stack = self._new_stack(X)
        return self._normalised(self.embedder_.transform(stack.combine(self.kernel_weights_)))

    def _normalised(self, Z: NDArray[np.floating]) -> NDArray[np.floating]:
        from sklearn.preprocessing import normalize

        return normalize(Z - self.mean_)
