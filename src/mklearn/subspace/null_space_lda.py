"""Discriminant analysis in the null space of the within-class scatter."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd

from mklearn.checks import checked_components
from mklearn.errors import NotApplicable
from mklearn.graphs import class_structure, within_laplacian
from mklearn.optimize.eigen import fix_signs
from mklearn.subspace.linear_embedding import Array, LinearEmbedding

# Singular values below this, relative to the largest, are rounding errors of the centring and the projection.
_NEGLIGIBLE = 1e-9


class NullSpaceLDA(LinearEmbedding):
    """Null space linear discriminant analysis.

    Maximises tr(V'S_bV) under V'S_wV = 0 and V'V = I: each class becomes one point, and the points are as far apart as
    possible. It is the limit of the maximum margin criterion as lambda grows.

    Parameters
    ----------
    n_components : int, optional
        At most, and by default, the number of discriminating directions: classes less one if the samples are linearly
        independent.

    Attributes
    ----------
    components_ : array of shape (n_components, d)
        Projection V' with orthonormal rows, by descending between-class scatter.
    eigenvalues_ : array of shape (n_components,)
        Between-class scatter of each direction.
    mean_, classes_, embedding_, n_features_in_
        As for `mklearn.subspace.linear_embedding.LinearEmbedding`, as are the errors, and `NotApplicable` also if the
        null space has no discriminating direction, as is typical with more samples than features.

    References
    ----------
    Chen, Liao, Ko, Lin, Yu, "A new LDA-based face recognition system which can solve the small sample size problem",
    Pattern Recognition 2000; Cevikalp et al., "Discriminative common vectors", PAMI 2005, for the same subspace.
    """

    def _fit_features(self, features: Array, labels: NDArray[Any]) -> None:
        classes = class_structure(labels)
        mean = features.mean(axis=0)
        centred = features - mean
        scale = float(np.linalg.norm(centred, 2)) if centred.size else 0.0
        _, singular, within_basis = svd(within_laplacian(classes).apply(centred), full_matrices=False)
        within_basis = within_basis[singular > _NEGLIGIBLE * scale]
        centres = classes.means(centred) * np.sqrt(classes.counts)[:, None]
        # Project twice: one projection leaves rounding errors relative to the removed part.
        for _ in range(2):
            centres = centres - (centres @ within_basis.T) @ within_basis
        _, between, directions = svd(centres, full_matrices=False)
        most = int((between > _NEGLIGIBLE * scale).sum())
        if most == 0:
            raise NotApplicable(
                f"the within-class scatter of {classes.n} samples with {features.shape[1]} features leaves no "
                "discriminating direction in its null space: null-space LDA needs more features than samples"
            )
        p = checked_components(self.n_components, most, f"the null space has {most} discriminating directions")
        self.mean_ = mean
        self.components_ = fix_signs(directions[:p].T).T
        self.eigenvalues_ = between[:p] ** 2
