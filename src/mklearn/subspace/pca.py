"""Principal component analysis with the same rank and sign conventions as the other estimators."""

from __future__ import annotations

from mklearn.checks import checked_components
from mklearn.optimize.eigen import fix_signs
from mklearn.optimize.whitening import centred_span
from mklearn.subspace.linear_embedding import Array, LinearEmbedding


class PCA(LinearEmbedding):
    """Principal component analysis by a full, deterministic singular value decomposition.

    Parameters
    ----------
    n_components : int, optional
        At most, and by default, the rank of the centred features. That is n - 1 if there are more features than
        samples; the embedding then keeps all distances among training samples.

    Attributes
    ----------
    components_ : array of shape (n_components, d)
        Orthonormal rows by descending variance; in each row the entry of largest absolute value is positive.
    explained_variance_ : array of shape (n_components,)
        Variance of each component, with divisor n - 1.
    mean_, embedding_, n_features_in_
        As for `mklearn.subspace.linear_embedding.LinearEmbedding`, as are the errors.

    References
    ----------
    Gu, Zhou, "Multiple kernel maximum margin criterion" (the baseline PCA).

    Notes
    -----
    Equal to `sklearn.decomposition.PCA(svd_solver="full")` except for the signs; components without variance are
    dropped. ``y`` is ignored.
    """

    _needs_labels = False

    def _fit_features(self, features: Array, labels: None) -> None:
        span = centred_span(features).require_variance()
        p = checked_components(self.n_components, span.rank, f"the centred features have rank {span.rank}")
        self.mean_ = span.mean
        self.components_ = fix_signs(span.axes[:p].T).T
        self.explained_variance_ = span.singular[:p] ** 2 / (len(features) - 1)
