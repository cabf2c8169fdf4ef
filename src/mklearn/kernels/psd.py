"""Repair of kernels that are not positive semidefinite, consistent between training rows and rows of new samples.

Kernels of distances that are not Euclidean (point sets, or a user's own matrix) may have negative eigenvalues.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.errors import ConfigError, DataError
from mklearn.kernels.checks import Array, as_float_matrix, as_square_symmetric, check_choice, check_columns
from mklearn.kernels.identity_like import IDENTITY_LIKE_SHIFT, IdentityLikeKernelWarning

PSDPolicy = Literal["clip", "shift", "flip", "none"]

SPECTRUM_POINTS = 48
"""Largest number of ranks that `spectrum_curve` keeps."""


@dataclass(frozen=True)
class PSDRepair:
    """A repaired training kernel, and the same repair of rows of new samples.

    Attributes
    ----------
    kernel : ndarray, shape (n, n)
        The training kernel after repair.
    min_eigenvalue : float
        Smallest eigenvalue before repair.
    relative_min_eigenvalue : float
        `min_eigenvalue` divided by the largest absolute eigenvalue.
    n_negative : int
        Number of eigenvalues below ``-tolerance`` times the largest absolute one.
    negative_mass : float
        Sum of the absolute values of these, divided by the sum of all absolute values.
    eigenvalues : ndarray, shape (n,)
        All of them before repair, largest first.
    shift : float
        Amount that policy "shift" added to the diagonal; 0 otherwise.
    vectors, multipliers : ndarray, shapes (n, r) and (r,), or None
        Kept eigenvectors Q and the multipliers f(lambda)/lambda; None if rows are not changed.
    """

    kernel: Array
    min_eigenvalue: float
    relative_min_eigenvalue: float
    n_negative: int
    negative_mass: float
    eigenvalues: NDArray[np.float64]
    shift: float = 0.0
    vectors: NDArray[np.float64] | None = None
    multipliers: NDArray[np.float64] | None = None

    def transform(self, K_rows: ArrayLike) -> Array:
        """Apply the repair to rows of new samples against the training samples, shape (m, n); return a new array.

        For "clip" and "flip" the training rows before repair give the rows of `kernel`. "shift" and "none" do not
        change the rows: a shift is added between a training sample and itself only.

        Raises
        ------
        DataError
            Not finite, or a number of columns that differs from the number of training samples.
        """
        rows = as_float_matrix(K_rows, "the kernel rows")
        check_columns(rows, len(self.kernel), "the kernel rows")
        if self.vectors is None or self.multipliers is None:
            return rows.copy()
        repaired = ((rows.astype(np.float64, copy=False) @ self.vectors) * self.multipliers) @ self.vectors.T
        return repaired.astype(rows.dtype, copy=False)


def psd_repair(
    K: ArrayLike, policy: PSDPolicy = "clip", *, tolerance: float | None = None, warn: bool = True
) -> PSDRepair:
    """Make a symmetric training kernel positive semidefinite.

    ``K = Q diag(lambda) Q'`` becomes ``Q diag(f(lambda)) Q'``, with ``f = max(lambda, 0)`` for "clip", ``|lambda|`` for
    "flip", ``lambda + |lambda_min|`` for "shift". A kernel without eigenvalues below ``-tolerance * max|lambda|`` is
    not changed.

    Parameters
    ----------
    K : array_like, shape (n, n)
        Kernel among the training samples.
    policy : {"clip", "shift", "flip", "none"}
        "none" only computes the eigenvalues. "shift" is the repair of MKL-DR (section 6) and of Zhang et al.; it may
        make a kernel identity-like (see `mklearn.kernels.identity_like`).
    tolerance : float, optional
        Relative size of an eigenvalue that counts as zero. Default: 1e-10, or n times the precision of the dtype if
        larger.
    warn : bool
        Whether to warn about an identity-like result of "shift".

    Returns
    -------
    PSDRepair

    Raises
    ------
    ConfigError
        Unknown policy or invalid tolerance.
    DataError
        Not a finite symmetric matrix, or no positive eigenvalue at all.

    Warns
    -----
    IdentityLikeKernelWarning
        "shift" adds more than a tenth of the mean diagonal.

    Notes
    -----
    The repair of rows of new samples keeps eigenvectors with eigenvalues beyond the tolerance only: f(lambda)/lambda
    is undefined for the others, and rows of a positive semidefinite extension have no component along them.

    Eigenvectors are computed only if eigenvalues are negative. Every kernel is tested, whatever its kind: a user's
    "squared Euclidean" matrix need not be one.
    """
    check_choice(policy, "psd", get_args(PSDPolicy))
    symmetric = as_square_symmetric(K, "the kernel")
    dtype = symmetric.dtype
    kernel = symmetric.astype(np.float64, copy=False)
    n = kernel.shape[0]
    if tolerance is None:
        tolerance = max(1e-10, n * float(np.finfo(dtype).eps))
    if not 0 <= tolerance < 1:
        raise ConfigError(f"invalid value {tolerance!r} for `tolerance`: expected a number in [0, 1)")

    import scipy.linalg

    values = scipy.linalg.eigvalsh(kernel)
    size = float(np.abs(values).max())
    smallest = float(values[0])
    negative = values < -tolerance * size
    mass = float(np.abs(values[negative]).sum() / np.abs(values).sum()) if size else 0.0
    measured = (smallest, smallest / size if size else 0.0, int(negative.sum()), mass, values[::-1])
    if not negative.any() or policy == "none":
        return PSDRepair(symmetric, *measured)
    if policy == "shift":
        shifted = kernel.copy()
        shifted[np.diag_indices(n)] -= smallest
        mean_diagonal = float(np.trace(kernel)) / n
        if warn and -smallest > IDENTITY_LIKE_SHIFT * mean_diagonal:
            warnings.warn(
                f"the diagonal shift adds {-smallest:.3g} to a mean diagonal of {mean_diagonal:.3g}: the kernel "
                "becomes identity-like, and weight learning may prefer it for that; consider psd='clip'",
                IdentityLikeKernelWarning,
                stacklevel=2,
            )
        return PSDRepair(shifted.astype(dtype, copy=False), *measured, shift=-smallest)

    values, vectors = scipy.linalg.eigh(kernel)
    kept = values > tolerance * size if policy == "clip" else np.abs(values) > tolerance * size
    if not kept.any():
        raise DataError(
            "the kernel has no positive eigenvalue, so clipping leaves nothing; is it a distance matrix? "
            "Use kind 'gaussian' for distances"
        )
    values, vectors = values[kept], np.ascontiguousarray(vectors[:, kept])
    multipliers = np.sign(values)
    repaired = (vectors * np.abs(values)) @ vectors.T
    repaired = ((repaired + repaired.T) / 2).astype(dtype, copy=False)
    return PSDRepair(repaired, *measured, vectors=vectors, multipliers=multipliers)


def spectrum_curve(eigenvalues: ArrayLike) -> list[tuple[int, float]]:
    """Select points of a spectrum for a log-log plot: ranks about evenly spaced on a logarithmic scale.

    Parameters
    ----------
    eigenvalues : array-like of shape (n,)
        Largest first. Negative ones keep their sign.

    Returns
    -------
    list of (rank, share)
        Ranks from 1 to n, all of them if n is at most `SPECTRUM_POINTS`; eigenvalues as shares of the sum of their
        absolute values. Empty for a kernel that is zero.
    """
    values = np.asarray(eigenvalues, dtype=np.float64)
    total = float(np.abs(values).sum())
    if not total > 0:
        return []
    spaced = np.geomspace(1, values.size, SPECTRUM_POINTS).round().astype(int)
    ranks = np.arange(1, values.size + 1) if values.size <= SPECTRUM_POINTS else np.unique(spaced)
    return [(int(rank), float(values[rank - 1] / total)) for rank in ranks]
