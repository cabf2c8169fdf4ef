"""Linear discriminant analysis with the Ledoit-Wolf covariance of the pooled residuals: features and a classifier."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import svd
from sklearn.base import (
    ClassifierMixin,
    _fit_context,
)
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import column_or_1d

from mklearn.errors import NotApplicable
from mklearn.graphs import class_structure, within_laplacian
from mklearn.optimize.eigen import fix_signs, generalized_eigh
from mklearn.subspace.inputs import checked_array, checked_labels
from mklearn.subspace.linear_embedding import SupervisedLinearEmbedding

Array = NDArray[np.floating[Any]]
Rule = Literal["cosine", "euclidean"]


class LedoitWolfLDA(ClassifierMixin, SupervisedLinearEmbedding):
    """Discriminant analysis with a shrunk pooled covariance, and the nearest class mean as the classifier.

    The within-class covariance is (1 - s) R'R/n + s mu I, with R the samples less their class means, mu the mean of the
    diagonal and s Ledoit and Wolf's shrinkage intensity, estimated from all residuals together. Samples are projected
    on the at most c - 1 directions that hold the class means, scaled to V'Sigma V = I.

    Parameters
    ----------
    n_components : int, optional
        At most, and by default, the number of directions: classes less one, or the rank of the features, if less.
    rule : {"cosine", "euclidean"}
        `predict` takes the class mean of largest cosine about the mean of the training samples, or the nearest one (the
        discriminant rule with equal priors).

    Attributes
    ----------
    components_ : array of shape (n_components, d)
        V', rows by falling between-class variance.
    mean_ : array of shape (d,)
    eigenvalues_ : array of shape (n_components,)
        Between-class scatter / n over within-class covariance of each direction, falling.
    class_means_ : array of shape (n_classes, n_components)
        Embedded.
    shrinkage_ : float
        s, from 0 to 1.
    classes_ : array of shape (n_classes,)
    embedding_ : array of shape (n, n_components)
    n_features_in_ : int

    Raises
    ------
    DataError
        X not finite, y malformed.
    NotApplicable
        One class only, no within-class scatter (one sample per class), no between-class scatter, more components than
        there are.

    References
    ----------
    Ledoit, Wolf, "A well-conditioned estimator for large-dimensional covariance matrices", 2004. Not a method of the
    papers that this package is about: a modern baseline, without a parameter to choose.

    Notes
    -----
    scikit-learn's ``LinearDiscriminantAnalysis(shrinkage="auto")`` estimates s class by class; with two samples per
    class each s is 0 and the covariance singular. Pooling the residuals mends that. Projecting changes neither rule:
    all class means lie in the subspace, and what is left out adds the same to every class.

    Everything is computed in the span of the samples, in O(n^2 d).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LedoitWolfLDA(rule="euclidean").fit(X, y).score(X, y) > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [None, Interval(Integral, 1, None, closed="left")],
        "rule": [StrOptions(set(get_args(Rule)))],
    }

    def __init__(self, n_components: int | None = None, *, rule: Rule = "cosine") -> None:
        self.n_components = n_components
        self.rule = rule

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> LedoitWolfLDA:
        """Estimate the covariance, the directions and the class means.

        Parameters
        ----------
        X : array of shape (n, d)
        y : array of shape (n,)
            Class labels.
        """
        array = checked_array(self, X, reset=True)
        if y is not None and np.asarray(y).shape[1:] == (1,):
            y = column_or_1d(y, warn=True)  # scikit-learn's wording, which it requires of classifiers
        labels = checked_labels(self, y, len(array))
        features = array.astype(np.float64)
        n, d = features.shape
        classes = class_structure(labels)
        mean = features.mean(axis=0)
        left, singular, span = svd(features - mean, full_matrices=False)
        rank = int((singular > max(n, d) * np.finfo(np.float64).eps * singular[0]).sum())
        coordinates, span = left[:, :rank] * singular[:rank], span[:rank]
        residuals = within_laplacian(classes).apply(coordinates)
        total, scatter = float((coordinates**2).sum()), float((residuals**2).sum())
        if not scatter > 1e-24 * total:
            raise NotApplicable(
                "there is no within-class scatter (one sample per class, or equal ones): no covariance to estimate"
            )
        # The basis is orthonormal: norms and inner products, all that the estimate uses, are those of feature space.
        shrinkage, level = ledoit_wolf_shrinkage(residuals, d)
        covariance = (1.0 - shrinkage) / n * (residuals.T @ residuals)
        covariance[np.diag_indices(rank)] += shrinkage * level

        centres = classes.means(coordinates) * np.sqrt(classes.counts / n)[:, None]
        most = min(classes.n_classes - 1, rank)
        values, vectors = generalized_eigh(centres.T @ centres, covariance, most, "largest")
        most = int((values > rank * np.finfo(np.float64).eps * max(values[0], 0.0)).sum())
        if most == 0:
            raise NotApplicable("the classes have the same mean: no direction tells them apart")
        if self.n_components is not None and self.n_components > most:
            raise NotApplicable(
                f"n_components={self.n_components}: the class means span {most} dimensions, ask for at most that"
            )
        p = most if self.n_components is None else self.n_components
        self.classes_ = classes.labels
        self.mean_ = mean
        self.shrinkage_ = shrinkage
        self.eigenvalues_ = values[:p]
        self.components_ = fix_signs(span.T @ vectors[:, :p]).T
        self.class_means_ = classes.means((features - mean) @ self.components_.T)
        self.embedding_ = self._embedded(array)
        return self

    def class_scores(self, X: ArrayLike) -> NDArray[np.floating]:
        """Similarity to each class mean, shape (m, n_classes): the cosine, or minus the squared distance."""
        Z = np.asarray(self.transform(X), dtype=np.float64)
        if self.rule == "euclidean":
            return -(((Z[:, None, :] - self.class_means_) ** 2).sum(axis=-1))
        lengths = np.linalg.norm(Z, axis=1)[:, None] * np.linalg.norm(self.class_means_, axis=1)
        return (Z @ self.class_means_.T) / np.where(lengths > 0, lengths, 1.0)

    def decision_function(self, X: ArrayLike) -> NDArray[np.floating]:
        """`class_scores`; for two classes the difference second - first, shape (m,)."""
        scores = self.class_scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of the most similar mean, shape (m,)."""
        best = self.class_scores(X).argmax(axis=1)
        return self.classes_[best]


def ledoit_wolf_shrinkage(residuals: Array, n_features: int | None = None) -> tuple[float, float]:
    """Ledoit and Wolf's shrinkage intensity of samples of mean zero, and the level that is shrunk to.

    Parameters
    ----------
    residuals : array of shape (n, r)
        Centred samples, in feature space or in coordinates of an orthonormal basis of their span.
    n_features : int, optional
        d, the dimension of the whole space; by default r.

    Returns
    -------
    shrinkage : float
        s, from 0 to 1.
    level : float
        mu, the mean variance of a feature.

    Notes
    -----
    With S = R'R/n: s = min(b, D) / D for D = |S|^2 - d mu^2 and b = (mean of |x|^4 - |S|^2) / n, in Frobenius norms.
    Inner products among the samples suffice: |S| = |RR'|/n.
    """
    n, r = residuals.shape
    d = n_features or r
    gram = residuals @ residuals.T
    lengths = gram.diagonal()
    level = float(lengths.sum()) / (n * d)
    norm = float((gram**2).sum()) / n**2
    spread = norm - d * level**2
    noise = (float((lengths**2).mean()) - norm) / n
    if not spread > 1e-14 * norm:
        return 1.0, level  # S is a multiple of the identity already
    return min(max(noise, 0.0), spread) / spread, level
