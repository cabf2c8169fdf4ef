"""Generalised symmetric eigenproblem ``A v = lambda B v``, B positive definite, with deterministic signs."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, cho_factor, cholesky, eigh, get_lapack_funcs

from mklearn.checks import as_square_matrix, check_choice, check_integer, same_shape, symmetrized
from mklearn.errors import SolverFailed

Floats = NDArray[np.floating]

# Relative difference up to which entries tie: rounding must not decide the sign of a vector such as (a, -a).
_SIGN_TIE = 1e-6

# Up to n / _FEW eigenvectors are computed with LAPACK's driver "evr" (a subset), more with "evd" (all).
_FEW = 8


def fix_signs(vectors: ArrayLike) -> Floats:
    """Return a copy of vectors (n, p) or (n,) with the entry of largest absolute value in each column positive.

    If several entries tie for the largest absolute value (relative difference 1e-6), the first one is made positive.
    """
    array = np.asarray(vectors)
    columns = array.reshape(array.shape[0], -1)
    if columns.size == 0:
        return array.copy()
    size = np.abs(columns)
    leading = np.argmax(size >= (1.0 - _SIGN_TIE) * size.max(axis=0), axis=0)
    pivots = columns[leading, np.arange(columns.shape[1])]
    signs = np.where(pivots < 0, -1.0, 1.0).astype(columns.dtype, copy=False)
    return (columns * signs).reshape(array.shape)


def generalized_eigh(
    A: ArrayLike,
    B: ArrayLike | None = None,
    n_components: int | None = None,
    which: Literal["smallest", "largest"] = "smallest",
) -> tuple[Floats, Floats]:
    """Solve ``A v = lambda B v`` for eigenvalues at one end of the spectrum.

    With the Cholesky factorisation ``B = R'R``, the symmetric problem ``R^-T A R^-1`` is solved for the wanted indices
    only. For few eigenvectors this is faster than LAPACK's generalised driver.

    Parameters
    ----------
    A : array of shape (n, n)
        Symmetric, possibly indefinite. Only its symmetric part is used.
    B : array of shape (n, n), optional
        Symmetric positive definite; None is the identity.
    n_components : int, optional
        Number of eigenpairs p, 1 to n; None for all of them.
    which : {"smallest", "largest"}
        The end of the (signed) spectrum. "smallest" gives ascending eigenvalues, "largest" descending ones.

    Returns
    -------
    eigenvalues : array of shape (p,)
    eigenvectors : array of shape (n, p)
        Columns with ``V'BV = I``. In each, the entry of largest absolute value is positive.

    Raises
    ------
    DataError
        A matrix is not square or not finite, or the shapes differ.
    ConfigError
        Invalid ``n_components`` or ``which``.
    SolverFailed
        ``B`` is not positive definite to working precision. A matrix whose Cholesky factorisation succeeds only by
        rounding counts as singular: its eigenvectors would be noise.

    Notes
    -----
    The basis of an eigenspace of dimension above one is LAPACK's choice and not unique.
    """
    a = symmetrized(as_square_matrix(A, "A", dtype=None))
    n = a.shape[0]
    p = n if n_components is None else check_integer(n_components, "n_components", 1, n)
    check_choice(which, "which", ("smallest", "largest"))
    first, last = (0, p - 1) if which == "smallest" else (n - p, n - 1)
    if B is None:
        values, vectors = _some_eigenpairs(a, first, last)
    else:
        b = symmetrized(as_square_matrix(B, "B", dtype=None))
        same_shape(a, b, ("A", "B"))
        factor = _cholesky(b)
        reduce, solve = get_lapack_funcs(("sygst", "trtrs"), (a, factor))
        reduced, _ = reduce(a, factor, itype=1, lower=0)
        values, vectors = _some_eigenpairs(reduced, first, last)
        vectors, _ = solve(factor, vectors, lower=0)
    if which == "largest":
        values, vectors = values[::-1], vectors[:, ::-1]
    return np.ascontiguousarray(values), fix_signs(vectors)


def lower_factor(matrix: Floats) -> Floats:
    """Return the lower Cholesky factor of a symmetric scatter matrix with its ridge; the matrix is overwritten.

    Only the upper triangle of an array in C order is read, and only the lower triangle of any other array. Raises
    `SolverFailed` if the ridge is below the rounding errors of the scatter.
    """
    try:
        # LAPACK reads columns: the transpose of an array in C order needs no copy.
        columns = matrix.T if matrix.flags.c_contiguous else matrix
        return np.asarray(cho_factor(columns, lower=True, overwrite_a=True, check_finite=False)[0])
    except LinAlgError:
        raise SolverFailed(
            "the ridge is smaller than the rounding errors of the features' scatter: raise it (`ridge`, of a ridge "
            "classifier `alpha`), or take features in double precision (dtype float64)"
        ) from None


def _some_eigenpairs(a: Floats, first: int, last: int) -> tuple[Floats, Floats]:
    """Return eigenpairs first to last (from 0, ascending) of a symmetric matrix, reading its upper triangle."""
    if (last - first + 1) * _FEW < len(a):
        return eigh(a, lower=False, driver="evr", subset_by_index=(first, last), check_finite=False)
    values, vectors = eigh(a, lower=False, driver="evd", check_finite=False)
    return values[first : last + 1], vectors[:, first : last + 1]


def _cholesky(b: Floats) -> Floats:
    """Return the upper factor R of B = R'R; raise `SolverFailed` for a singular B."""
    try:
        factor: Floats = cholesky(b, check_finite=False)
        # The ratio of the squared pivots is a lower bound of the condition number.
        pivots = np.diag(factor) ** 2
        if pivots.min() > len(b) * np.finfo(b.dtype).eps * pivots.max():
            return factor
    except LinAlgError:
        pass
    lowest, highest = (float(v) for v in eigh(b, eigvals_only=True, check_finite=False)[[0, -1]])
    raise SolverFailed(
        f"B is not positive definite to working precision: its eigenvalues range from {lowest:.3g} to {highest:.3g}. "
        "Raise the ridge added to it, or drop linearly dependent directions (or kernels)."
    )
