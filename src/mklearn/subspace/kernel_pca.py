"""Kernel principal component analysis, with the same input, rank and sign conventions as the other estimators."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.base.kernels_mixin import fixed_weights
from mklearn.base.landmark_input import LandmarkEmbedding, LandmarkMoments
from mklearn.base.parameters import parameters
from mklearn.checks import checked_components
from mklearn.errors import NotApplicable
from mklearn.graphs import total_laplacian
from mklearn.kernels.stack import KernelStack
from mklearn.optimize.eigen import generalized_eigh
from mklearn.subspace.kernel_embedding import KernelEmbedding

# Eigenvalues of the centred kernel below this, relative to the largest, count as 0.
_NEGLIGIBLE = 1e-12


@parameters
class KernelPCA(LandmarkEmbedding, KernelEmbedding):
    """Kernel principal component analysis.

    Parameters
    ----------
    n_components : int, optional
        At most, and by default, the rank of the centred kernel.
    kernels, kernel_weights, landmarks
        As for `mklearn.subspace.kfd.KernelFDA`.

    Attributes
    ----------
    coefficients_ : array of shape (n_train, n_components)
        Coefficients of directions of unit length in the feature space; columns sum to 0.
    eigenvalues_ : array of shape (n_components,)
        Eigenvalues of the centred kernel, descending.
    offset_ : array of shape (n_components,)
        Centring offset, subtracted from every embedded sample.
    kernel_weights_, kernel_ids_, embedding_, n_features_in_
        As for `mklearn.subspace.kfd.KernelFDA`, as are the errors.

    References
    ----------
    Schoelkopf, Smola, Mueller, "Nonlinear component analysis as a kernel eigenvalue problem", 1998; the baseline KPCA
    of Gu, Zhou, "Multiple kernel maximum margin criterion".

    Notes
    -----
    Equal to `sklearn.decomposition.KernelPCA` except for the signs. If the kernel is not positive semidefinite,
    directions with a negative eigenvalue are dropped (scikit-learn raises for large ones). ``y`` is ignored, except
    that landmarks are drawn per class.
    """

    kernel_weights: Any = None

    _needs_labels = False

    def _fit_kernels(self, stack: KernelStack, labels: None) -> None:
        weights = fixed_weights(self.kernel_weights, len(stack))
        kernel = np.asarray(stack.combine(weights), dtype=np.float64)
        centring = total_laplacian(len(kernel))
        values, vectors = generalized_eigh(centring.apply(centring.apply(kernel).T), which="largest")
        cutoff = _cutoff(stack.dtype)
        rank = int((values > cutoff * max(values[0], np.abs(kernel).max())).sum())
        if rank == 0:
            raise NotApplicable(
                "the combined kernel is constant over the samples, or is no kernel (distances?): check the bandwidth"
            )
        p = checked_components(self.n_components, rank, f"the centred kernel has rank {rank}")
        self.kernel_weights_ = weights
        self.eigenvalues_ = values[:p]
        self.coefficients_ = vectors[:, :p] / np.sqrt(values[:p])
        # (k - mean over training rows)'A: the other centring terms vanish because the columns of A sum to 0. The
        # constant part of the kernel would amplify the rounding errors of these sums, so they are removed.
        self.coefficients_ -= self.coefficients_.mean(axis=0)
        self.offset_ = kernel.mean(axis=0) @ self.coefficients_
        self.embedding_ = np.asarray(kernel @ self.coefficients_ - self.offset_, dtype=self._dtype_)

    def _fit_moments(self, data: LandmarkMoments) -> None:
        weights = fixed_weights(self.kernel_weights, data.n_kernels)
        problem = data.problem(supervised=False)
        problem.ridge_amount(weights, 0.0)  # raises for constant kernels
        theta = problem.spread(weights)
        wanted = None if self.n_components is None else self._wanted_of_features(data, self.n_components)
        # With K = Phi Theta Phi' and D = Theta^(1/2), H K H and D S_T D have the same nonzero eigenvalues. If u are the
        # eigenvectors of D S_T D, the features of a sample times D u are its principal components.
        root = np.sqrt(theta)
        values, vectors = generalized_eigh(root[:, None] * problem.total * root, None, wanted, "largest")
        # The mean of the kernel's diagonal replaces its largest entry as the scale.
        size = float(theta @ np.diagonal(problem.gram)) / problem.n
        rank = int((values > _cutoff(np.dtype(data.features.dtype)) * max(values[0], size)).sum())
        p = checked_components(self.n_components, rank, f"the centred kernel has rank {rank}")
        self.kernel_weights_ = weights
        self.eigenvalues_ = values[:p]
        self._set_coefficients(data, root[:, None] * vectors[:, :p])
        self.offset_ = data.moments.mean @ self.coefficients_

    def _project(self, X: Any) -> NDArray[np.floating]:
        projected = super()._project(X)
        if self.landmark_features_ is not None:
            return projected
        return projected - self.offset_.astype(projected.dtype)

    def leading(self, n_components: int) -> KernelPCA:
        """Return a copy with the first ``n_components`` components, or all if there are fewer."""
        other = copy(self)
        for name in ("coefficients_", "embedding_"):
            setattr(other, name, getattr(self, name)[:, :n_components].copy())
        for name in ("eigenvalues_", "offset_"):
            setattr(other, name, getattr(self, name)[:n_components].copy())
        return other


def _cutoff(dtype: np.dtype[Any]) -> float:
    """Return the cutoff, relative to the largest, below which eigenvalues of a centred kernel count as 0."""
    return max(_NEGLIGIBLE, 10 * float(np.finfo(dtype).eps))
