"""Linear discriminant analysis with the Ledoit-Wolf covariance of the pooled residuals: embedding and classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.base.parameters import parameters
from mklearn.checks import checked_components
from mklearn.classifiers.class_scores import ClassScores
from mklearn.errors import NotApplicable
from mklearn.graphs import class_structure
from mklearn.nearest_neighbour import Rule
from mklearn.optimize.eigen import fix_signs, generalized_eigh
from mklearn.optimize.whitening import centred_span
from mklearn.subspace.linear_embedding import Array, LinearEmbedding


@parameters
class LedoitWolfLDA(ClassScores, LinearEmbedding):
    """Discriminant analysis with a shrunk pooled covariance and the nearest class mean as classifier.

    The within-class covariance is (1 - s) R'R/n + s mu I, with R the samples less their class means, mu the mean of the
    diagonal and s Ledoit and Wolf's shrinkage intensity, estimated from all residuals together. Samples are projected
    on the directions, at most c - 1, that span the class means, scaled to V'Sigma V = I.

    Parameters
    ----------
    n_components : int, optional
        Number of directions. At most, and by default, the number of classes less one, or the rank of the features, if
        less.
    rule : {"cosine", "euclidean"}
        `predict` chooses the class mean of largest cosine about the mean of the training samples, or the nearest one
        (the discriminant rule with equal priors).

    Attributes
    ----------
    components_ : array of shape (n_components, d)
        V', rows by descending between-class variance.
    eigenvalues_ : array of shape (n_components,)
        Between-class scatter / n over within-class covariance of each direction, descending.
    class_means_ : array of shape (n_classes, n_components)
        Class means in the embedding.
    shrinkage_ : float
        s, from 0 to 1.
    mean_, classes_, embedding_, n_features_in_
        As for `mklearn.subspace.linear_embedding.LinearEmbedding`, as are the errors, and `NotApplicable` also for no
        within-class scatter (one sample per class) and no between-class scatter.

    References
    ----------
    Ledoit, Wolf, "A well-conditioned estimator for large-dimensional covariance matrices", 2004. A modern
    baseline without a parameter to choose, not a method of the reproduced papers.

    Notes
    -----
    scikit-learn's ``LinearDiscriminantAnalysis(shrinkage="auto")`` estimates s class by class; with two samples per
    class each s is 0 and the covariance is singular. Pooling the residuals avoids this. The projection changes neither
    rule: all class means lie in the subspace, and the part of a sample outside it is the same for every class.

    Everything is computed in the span of the samples, in O(n^2 d).
    """

    rule: Rule = "cosine"

    def _fit_features(self, features: Array, labels: NDArray[Any]) -> None:
        classes = class_structure(labels)
        n, d = features.shape
        averaging = classes.indicator().T / classes.counts[:, None]
        span = centred_span(features)
        coordinates = span.coordinates()
        residuals = coordinates - (averaging @ coordinates)[classes.codes]
        if not (residuals**2).sum() > 1e-24 * (coordinates**2).sum():
            raise NotApplicable(
                "there is no within-class scatter, so no covariance: give several different samples per class"
            )
        # The estimate uses norms and inner products only, which an orthonormal basis leaves unchanged.
        shrinkage, level = ledoit_wolf_shrinkage(residuals, d)
        covariance = (1.0 - shrinkage) / n * (residuals.T @ residuals)
        covariance[np.diag_indices(span.rank)] += shrinkage * level

        centres = averaging @ coordinates * np.sqrt(classes.counts / n)[:, None]
        most = min(classes.n_classes - 1, span.rank)
        values, vectors = generalized_eigh(centres.T @ centres, covariance, most, "largest")
        most = int((values > span.rank * np.finfo(np.float64).eps * max(values[0], 0.0)).sum())
        if most == 0:
            raise NotApplicable("the classes have the same mean: no class can be discriminated")
        p = checked_components(self.n_components, most, f"the class means span {most} dimensions")
        self.mean_ = span.mean
        self.shrinkage_ = shrinkage
        self.eigenvalues_ = values[:p]
        self.components_ = fix_signs(span.axes.T @ vectors[:, :p]).T
        self.class_means_ = averaging @ ((features - self.mean_) @ self.components_.T)

    def class_scores(self, X: ArrayLike) -> NDArray[np.floating]:
        """Compute the cosine with each class mean, or minus the squared distance to it, shape (m, n_classes).

        With one component the cosine is only a sign. For two classes the scores are then the component times the sign
        of each class mean, which ranks the samples; for more classes, minus the squared distances.
        """
        Z = np.asarray(self.transform(X), dtype=np.float64)
        if self.rule == "euclidean" or (Z.shape[1] == 1 and len(self.classes_) > 2):
            return -(((Z[:, None, :] - self.class_means_) ** 2).sum(axis=-1))
        if Z.shape[1] == 1:
            return Z * np.sign(self.class_means_[:, 0])
        lengths = np.linalg.norm(Z, axis=1)[:, None] * np.linalg.norm(self.class_means_, axis=1)
        return (Z @ self.class_means_.T) / np.where(lengths > 0, lengths, 1.0)


def ledoit_wolf_shrinkage(residuals: Array, n_features: int | None = None) -> tuple[float, float]:
    """Compute Ledoit and Wolf's shrinkage intensity s, from 0 to 1, of centred samples, and mu, their mean variance.

    The samples, (n, r), are in feature space or in coordinates of an orthonormal basis of their span; ``n_features`` is
    d, the dimension of the whole space, by default r.

    With S = R'R/n: s = min(b, D) / D for D = |S|^2 - d mu^2 and b = (mean of |x|^4 - |S|^2) / n, in Frobenius norms.
    Inner products among the samples suffice: |S| = |RR'|/n.
    """
    n, d = len(residuals), n_features or residuals.shape[1]
    gram = residuals @ residuals.T
    lengths = gram.diagonal()
    level = float(lengths.sum()) / (n * d)
    norm = float((gram**2).sum()) / n**2
    spread = norm - d * level**2
    noise = (float((lengths**2).sum()) / n - norm) / n
    if not spread > 1e-14 * norm:
        return 1.0, level  # S is a multiple of the identity
    return min(max(noise, 0.0), spread) / spread, level
