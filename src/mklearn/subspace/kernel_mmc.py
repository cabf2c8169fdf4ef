"""Kernel maximum margin criterion with one kernel or a fixed combination of kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.base.kernels_mixin import fixed_weights
from mklearn.base.parameters import Nonnegative, parameters
from mklearn.graphs import margin_laplacian
from mklearn.kernels.stack import KernelStack
from mklearn.optimize.margin import Constraint, check_columns, check_not_constant, margin_step, negligible
from mklearn.subspace.kernel_embedding import KernelEmbedding


@parameters
class KernelMMC(KernelEmbedding):
    """Kernel maximum margin criterion.

    Maximises tr(A'K (L_b - lambda L_w) K A) with K = sum_m theta_m K_m for fixed kernel weights theta, L_b = P - J and
    L_w = I - P (P the projector onto class means, J = 11'/n), over the coefficients A of the training samples.

    Parameters
    ----------
    n_components : int, optional
        At most the number of samples. By default the number of classes less one, the number of positive eigenvalues
        (fewer if the kernel has a smaller rank).
    constraint : {"rkhs", "coef", "sample"}
        "rkhs": A'KA = I, directions are orthonormal in the feature space. This is the maximum margin criterion there;
        with a linear kernel it equals `mklearn.subspace.mmc.MMC`. "coef": A'A = I, as printed in MKMMC's (13), which
        squares the spectrum of K. "sample": A'K^2A = I, components are orthonormal over the training samples. With a
        kernel of full rank each class then becomes one point, and the objective is always the number of classes less
        one.
    trade_off : float
        Weight lambda of the within-class scatter.
    kernels, kernel_weights
        As for `mklearn.subspace.kfd.KernelFDA`.

    Attributes
    ----------
    coefficients_ : array of shape (n_train, n_components)
        Coefficients A.
    eigenvalues_ : array of shape (n_components,)
        Eigenvalues of the criterion, descending.
    objective_ : float
        Sum of the eigenvalues.
    kernel_weights_, kernel_ids_, classes_, embedding_, n_features_in_
        As for `mklearn.subspace.kfd.KernelFDA`, as are the errors.

    References
    ----------
    Gu, Zhou, "Multiple kernel maximum margin criterion", section 2.2; Li, Jiang, Zhang 2003.

    Notes
    -----
    The paper calls its (13), with A'A = I, equivalent to criterion (1) in the feature space. This equivalence needs
    A'KA = I, hence the default. The factor 2 between its pair sums and the scatters is left out.

    "rkhs" and "sample" drop directions of K whose eigenvalue is negative or below 1e-10 (in single precision 1e-6) of
    the largest. Columns with an eigenvalue of zero or below are taken from the span of the training samples: other null
    directions can't be expressed by kernel rows.

    With "sample", directions of equal eigenvalue are ordered by their norm in the feature space, smallest first.
    """

    constraint: Constraint = "rkhs"
    trade_off: Nonnegative = 1.0
    kernel_weights: Any = None

    def _fit_kernels(self, stack: KernelStack, labels: NDArray[Any]) -> None:
        weights = fixed_weights(self.kernel_weights, len(stack))
        kernel = np.asarray(stack.combine(weights), dtype=np.float64)
        p = self._wanted_components(stack.n_columns, labels)
        check_not_constant(kernel)
        values, coefficients = margin_step(
            kernel, margin_laplacian(labels, self.trade_off), p, self.constraint, negligible(stack.dtype)
        )
        check_columns(coefficients, self.n_components)
        self.kernel_weights_ = weights
        self.eigenvalues_ = values
        self.objective_ = float(values.sum())
        self.coefficients_ = coefficients
        self.embedding_ = self._embed_training(kernel)
