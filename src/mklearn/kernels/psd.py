"""Repair of kernels that are not positive semidefinite, so that training rows and rows of new samples stay consistent.

Kernels built on distances that are not Euclidean (of point sets, or a user's own) may have negative eigenvalues.
Clipping is the default: on Caltech-101, adding the size of the smallest eigenvalue to the diagonal made a kernel
identity-like, and learned kernel weights went to it at the cost of ten points of accuracy.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.errors import ConfigError, DataError
from mklearn.kernels.checks import Array, as_float_matrix, as_square_symmetric
from mklearn.kernels.identity_like import IDENTITY_LIKE_SHIFT, IdentityLikeKernelWarning

PSDPolicy = Literal["clip", "shift", "flip", "none"]


@dataclass(frozen=True)
class PSDRepair:
    """A repaired training kernel, and the map that carries the repair over to rows of new samples.

    Attributes
    ----------
    kernel : ndarray, shape (n, n)
        The training kernel after repair.
    policy : {"clip", "shift", "flip", "none"}
    min_eigenvalue : float
        Smallest eigenvalue before repair.
    relative_min_eigenvalue : float
        The same, divided by the largest absolute eigenvalue.
    n_negative : int
        Number of eigenvalues below ``-tolerance`` times the largest absolute one.
    negative_mass : float
        Sum of the absolute values of those, divided by the sum of all absolute values.
    eigenvalues : ndarray, shape (n,)
        All of them before repair, largest first.
    shift : float
        What policy "shift" added to the diagonal; 0 otherwise.
    vectors, multipliers : ndarray, shapes (n, r) and (r,), or None
        Kept eigenvectors Q and the multipliers f(lambda)/lambda; None when rows are left as they are.
    """

    kernel: Array
    policy: PSDPolicy
    min_eigenvalue: float
    relative_min_eigenvalue: float
    n_negative: int
    negative_mass: float
    eigenvalues: NDArray[np.float64]
    shift: float = 0.0
    vectors: NDArray[np.float64] | None = None
    multipliers: NDArray[np.float64] | None = None

    @property
    def map(self) -> NDArray[np.float64] | None:
        """``Q diag(f(lambda)/lambda) Q'``, shape (n, n), or None when rows are left as they are."""
        if self.vectors is None or self.multipliers is None:
            return None
        dense: NDArray[np.float64] = (self.vectors * self.multipliers) @ self.vectors.T
        return dense

    def transform(self, K_rows: ArrayLike) -> Array:
        """Rows of new samples against the training samples, shape (m, n), after the same repair.

        For "clip" and "flip" the training rows before repair give the rows of `kernel`. "shift" and "none" return the
        rows unchanged: a shift is added where a training sample meets itself, which no new sample does.

        Raises
        ------
        DataError
            Not finite, or a number of columns that differs from the number of training samples.
        """
        rows = as_float_matrix(K_rows, "the kernel rows")
        n = self.kernel.shape[0]
        if rows.shape[1] != n:
            raise DataError(f"the kernel rows have {rows.shape[1]} columns, but there were {n} training samples")
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
    left as it is.

    Parameters
    ----------
    K : array_like, shape (n, n)
        Kernel among the training samples.
    policy : {"clip", "shift", "flip", "none"}
        "none" only measures. "shift" is what MKL-DR (section 6) and Zhang et al. do; see the notes.
    tolerance : float, optional
        Relative size of an eigenvalue that counts as zero. Default: 1e-10, or n times the precision of the dtype if
        that is more.
    warn : bool
        Whether "shift" warns about an identity-like result.

    Returns
    -------
    PSDRepair

    Raises
    ------
    ConfigError
        Unknown policy or illegal tolerance.
    DataError
        Not a finite symmetric matrix, or no positive eigenvalue at all.

    Warns
    -----
    IdentityLikeKernelWarning
        "shift" adds more than a tenth of the mean diagonal.

    Notes
    -----
    The map on rows of new samples keeps eigenvectors with eigenvalues beyond the tolerance only: f(lambda)/lambda has
    no meaning for the others, and rows of a positive semidefinite extension have no part along them.

    Eigenvalues always come first, and eigenvectors only where something is to be repaired: for 1,530 samples that is
    0.2 s of one core for a kernel that is fine and about 1 s for one that is not. (A Cholesky factorisation with a few
    inverse iterations took 0.13 s: too little gain for a second path.) No kernel is taken to be positive
    semidefinite because of its name: a user's "squared Euclidean" matrix need not be one.
    """
    if policy not in get_args(PSDPolicy):
        raise ConfigError(f"psd policy {policy!r} is not known; legal: {', '.join(get_args(PSDPolicy))}")
    symmetric = as_square_symmetric(K, "the kernel")
    dtype = symmetric.dtype
    kernel = symmetric.astype(np.float64, copy=False)
    n = kernel.shape[0]
    if tolerance is None:
        tolerance = max(1e-10, n * float(np.finfo(dtype).eps))
    if not 0 <= tolerance < 1:
        raise ConfigError(f"tolerance = {tolerance!r} is not legal: it must lie in [0, 1)")

    import scipy.linalg

    values = scipy.linalg.eigvalsh(kernel)
    size = float(np.abs(values).max())
    smallest = float(values[0])
    negative = values < -tolerance * size
    mass = float(np.abs(values[negative]).sum() / np.abs(values).sum()) if size else 0.0
    measured = (policy, smallest, smallest / size if size else 0.0, int(negative.sum()), mass, values[::-1])
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
            "the kernel has no positive eigenvalue, so nothing is left after clipping; is it a distance matrix? "
            "Distances are used with kind 'gaussian'"
        )
    values, vectors = values[kept], np.ascontiguousarray(vectors[:, kept])
    multipliers = np.sign(values)
    repaired = (vectors * np.abs(values)) @ vectors.T
    repaired = ((repaired + repaired.T) / 2).astype(dtype, copy=False)
    return PSDRepair(repaired, *measured, vectors=vectors, multipliers=multipliers)
