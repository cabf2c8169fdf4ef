"""Discriminant analysis in the null space of the within-class scatter."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import svd
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from mklearn.errors import NotApplicable
from mklearn.graphs import class_structure, within_laplacian
from mklearn.optimize.eigen import fix_signs
from mklearn.subspace.inputs import checked_array, checked_labels
from mklearn.subspace.linear_embedding import SupervisedLinearEmbedding

# Relative to the largest singular value: what is smaller is rounding of the centring and the projection.
_NEGLIGIBLE = 1e-9


class NullSpaceLDA(SupervisedLinearEmbedding):
    """Null space linear discriminant analysis.

    Maximises tr(V'S_bV) under V'S_wV = 0 and V'V = I: each class becomes one point, the points as far apart as can be.
    It is the limit of the maximum margin criterion as lambda grows.

    Parameters
    ----------
    n_components : int, optional
        At most, and by default, the number of directions there are: classes less one where the samples are independent.

    Attributes
    ----------
    components_ : array of shape (n_components, d)
        V', orthonormal rows, by falling between-class scatter.
    mean_ : array of shape (d,)
    eigenvalues_ : array of shape (n_components,)
        Between-class scatter of each direction.
    classes_ : array of shape (n_classes,)
    embedding_ : array of shape (n, n_components)
    n_features_in_ : int

    Raises
    ------
    DataError
        X not finite, y malformed.
    NotApplicable
        One class only; more components than there are; or no direction of zero within-class scatter, as where there
        are at least as many samples as features.

    References
    ----------
    Chen, Liao, Ko, Lin, Yu, "A new LDA-based face recognition system which can solve the small sample size problem",
    Pattern Recognition 2000; Cevikalp et al., "Discriminative common vectors", PAMI 2005, which is the same subspace.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(9, 20))
    >>> NullSpaceLDA().fit_transform(X, [0, 0, 0, 1, 1, 1, 2, 2, 2]).shape
    (9, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [None, Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> NullSpaceLDA:
        """Find the directions.

        Parameters
        ----------
        X : array of shape (n, d)
        y : array of shape (n,)
            Class labels.
        """
        array = checked_array(self, X, reset=True)
        labels = checked_labels(self, y, len(array))
        features = array.astype(np.float64)
        classes = class_structure(labels)
        self.mean_ = features.mean(axis=0)
        centred = features - self.mean_
        scale = float(np.linalg.norm(centred, 2)) if centred.size else 0.0
        _, singular, basis = svd(within_laplacian(classes).apply(centred), full_matrices=False)
        basis = basis[singular > _NEGLIGIBLE * scale]
        centres = classes.means(centred) * np.sqrt(classes.counts)[:, None]
        # Twice: one projection leaves rounding of the size of what was taken away.
        for _ in range(2):
            centres = centres - (centres @ basis.T) @ basis
        _, between, directions = svd(centres, full_matrices=False)
        most = int((between > _NEGLIGIBLE * scale).sum())
        if most == 0:
            raise NotApplicable(
                f"the within-class scatter of {classes.n} samples leaves no direction of its null space in which the "
                f"classes differ ({features.shape[1]} features): null-space LDA needs more features than samples"
            )
        if self.n_components is not None and self.n_components > most:
            raise NotApplicable(
                f"n_components={self.n_components}: the null space has {most} discriminating directions, ask for at "
                "most that"
            )
        p = most if self.n_components is None else self.n_components
        self.classes_ = classes.labels
        self.components_ = fix_signs(directions[:p].T).T
        self.eigenvalues_ = between[:p] ** 2
        self.embedding_ = self._embedded(array)
        return self
