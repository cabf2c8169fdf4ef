"""Detection of kernels that are close to the identity.

A kernel close to ``a I + b 11'`` separates every training sample from every other one and carries no information on
new samples. Criteria that learn kernel weights reward it all the same, so it takes weight from informative kernels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mklearn.checks import Array, as_square_symmetric, cached_rows
from mklearn.kernels.normalise import centre_kernel

IDENTITY_LIKE_BELOW = 0.1
"""Off-diagonal mass below which a kernel counts as identity-like."""

IDENTITY_LIKE_SHIFT = 0.1
"""Share of the mean diagonal that a diagonal shift may add before the kernel counts as identity-like."""


class IdentityLikeKernelWarning(UserWarning):
    """The off-diagonal part of a kernel carries little: weight learning may prefer it without cause."""


def off_diagonal_mass(K: ArrayLike) -> float:
    """Compute the share of the centred kernel, (n, n), that no diagonal kernel explains.

    ``min_D ||HKH - HDH||_F^2 / ||HKH||_F^2`` over diagonal matrices D, with ``H = I - 11'/n``: the squared Frobenius
    norm left after the least-squares fit of a diagonal kernel. It is 0 for a diagonal matrix plus any ``u 1' + 1 u'``
    (so for ``a I + b 11'`` too), it does not change when the kernel is scaled or centred, and it is close to 1 when the
    similarities between different samples carry the kernel.

    Returns
    -------
    float
        In [0, 1]; 0 for a constant kernel and for n <= 2, where every centred kernel is a multiple of ``H``.

    Raises
    ------
    DataError
        Not a finite symmetric matrix.
    """
    kernel = as_square_symmetric(K, "the training kernel").astype(np.float64, copy=False)
    centred = centre_kernel(kernel)
    # centring a constant kernel leaves rounding errors of this relative size, squared
    if float(np.vdot(centred, centred)) <= 1e-24 * float(np.vdot(kernel, kernel)):
        return 0.0
    return centred_off_diagonal_mass(centred)


def centred_off_diagonal_mass(kernel: Array) -> float:
    """Compute the off-diagonal mass of a valid kernel that is centred; neither is checked."""
    parts = cached_rows(kernel) if kernel.dtype != np.float64 else [slice(None)]
    rows = (kernel[part].astype(np.float64, copy=False) for part in parts)
    total = sum(float(np.vdot(block, block)) for block in rows)
    n = len(kernel)
    if n <= 2 or total == 0:
        return 0.0
    diagonal = np.diagonal(kernel).astype(np.float64)
    a, c = 1 - 2 / n, 1 / n**2  # the normal equations have the matrix H o H = a I + c 11'
    fitted = diagonal / a - c * diagonal.sum() / (a * (a + c * n))
    explained = float(fitted @ diagonal)
    return float(min(1.0, max(0.0, 1 - explained / total)))
