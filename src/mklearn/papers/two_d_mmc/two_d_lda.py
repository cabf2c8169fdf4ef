"""Two-dimensional linear discriminant analysis."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from mklearn.base.parameters import Nonnegative, parameters
from mklearn.errors import NotApplicable
from mklearn.optimize.eigen import generalized_eigh
from mklearn.optimize.graph_embedding import Scaling, rescale_columns
from mklearn.papers.two_d_mmc.bilinear import (
    Array,
    BilinearEmbedding,
    Scatter,
    Side,
    Step,
    class_differences,
    energy,
)


@parameters
class TwoDLDA(BilinearEmbedding):
    """Two-dimensional linear discriminant analysis.

    Alternates between the leading generalised eigenvectors, for L given R,

        S_b^R v = mu (S_w^R + rho I) v,   S_b^R = sum_k n_k (M_k - M)RR'(M_k - M)',
        S_w^R = sum_k sum_{X in k} (X - M_k)RR'(X - M_k)',   rho = ridge * tr(S_w^R) / rows,

    and, by the same problem with transposed images, for R given L.

    Parameters
    ----------
    n_components, max_iter
        As for `mklearn.papers.two_d_mmc.glram.GLRAM`.
    ridge : float
        Ridge relative to the mean eigenvalue of the one-sided within-class scatter. 0 requires a nonsingular scatter.
    scaling : {"within", "total", "unit", "orthonormal"}
        Scale of the columns of L and R, after every half step: L'(S_w^R + rho I)L = I, L'(S_w^R + S_b^R + rho I)L = I,
        unit length, or an orthonormal basis of the same leading subspaces (QR).
    tol : float
        Stop when an iteration changes the trace ratio by at most this fraction.

    Attributes
    ----------
    objective_history_ : array of shape ``(2 * n_iter_,)``
        Trace ratio tr(L'S_b^R L) / tr(L'(S_w^R + rho I)L) after every half step for L, and its counterpart after every
        half step for R. **Not** monotone: a half step maximises another ratio, on its own side only.
    classes_ : array of shape (n_classes,)
    left_components_, right_components_, n_iter_, status_, embedding_, shape_, n_features_in_
        As for `mklearn.papers.two_d_mmc.glram.GLRAM`, as are the errors. `DataError` also for y missing or malformed,
        `NotApplicable` for one class only or classes without variation, and `SolverFailed` for a singular within-class
        scatter with ``ridge=0``.

    References
    ----------
    Ye, Janardan, Li, "Two-dimensional linear discriminant analysis", NIPS 2004.

    Notes
    -----
    The first R is (I, 0)', as in the paper. The paper states neither ridge nor scale, and both decide the
    nearest-neighbour rate: report them. To omit the ridge, use ``ridge=1e-10`` with ``"orthonormal"``: so small a ridge
    only orders the directions in which no class varies, and these dominate in any other scale. Without a ridge the
    accuracy keeps changing between iterations, and ``max_iter`` is a parameter to choose like the others; with
    ``ridge=1`` it is mostly constant after ten.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> digits = load_digits()
    >>> TwoDLDA(n_components=(3, 4)).fit_transform(digits.images, digits.target).shape
    (1797, 12)
    """

    ridge: Nonnegative = 1.0
    scaling: Scaling = "within"

    def _problem(self, images: Array, codes: NDArray[np.intp] | None) -> tuple[Step, float]:
        assert codes is not None
        between, within = class_differences(images, codes)
        if energy(within) <= 1e-24 * energy(images):
            raise NotApplicable("no class varies (S_w = 0): give several different images per class")
        scatters = Scatter((1.0, between)), Scatter((1.0, within))
        return partial(fisher_step, *scatters, self.ridge, self.scaling), 0.0


def fisher_step(
    between: Scatter, within: Scatter, ridge: float, scaling: Scaling, side: Side, projection: Array, size: int
) -> tuple[Array, float]:
    """Return the leading generalised eigenvectors of the one-sided scatters, and their trace ratio."""
    above, below = (scatter.one_sided(side, projection) for scatter in (between, within))
    below[np.diag_indices_from(below)] += ridge * np.trace(below) / len(below)
    values, vectors = generalized_eigh(above, below, n_components=size, which="largest")
    # `rescale_columns` starts from V'(above + below)V = I, where V'below V = 1 / (1 + mu)
    total = 1.0 + np.maximum(values, 0.0)
    columns = rescale_columns(vectors / np.sqrt(total), 1.0 / total, scaling)
    return columns, float(np.vdot(columns, above @ columns) / np.vdot(columns, below @ columns))
