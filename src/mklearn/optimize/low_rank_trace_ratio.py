"""The trace-ratio problem of a positive definite S and ``S' = S + FF'``, F of few columns, in Krylov subspaces."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky, qr

from mklearn.checks import as_float_matrix, as_square_matrix, check_integer, check_symmetric, symmetrized
from mklearn.errors import DataError
from mklearn.optimize.eigen import fix_signs, generalized_eigh
from mklearn.optimize.trace_ratio import TraceRatio, trace_ratio

Floats = NDArray[np.floating]

# With fewer rows than this for each column of F, eigenvectors of all rows are faster.
_ROWS_PER_COLUMN = 60
# Blocks that the subspace grows by before the ratio is minimised in it again.
_BLOCKS = 4
# The subspace has at most this share of the rows as columns.
_WIDEST = 0.4
# Residuals of the eigenvectors below this, relative to the norm of S, are rounding errors.
_ROUNDING = 1e-15
_NEWTON = 100


def low_rank_trace_ratio(S: ArrayLike, F: ArrayLike, n_components: int, *, tol: float = 1e-12) -> TraceRatio:
    """Minimise ``tr(A'SA) / tr(A'(S + FF')A)`` over orthonormal columns.

    The columns are eigenvectors of ``(1 - r) S - r FF'``, r being the smallest ratio, so each of them is
    ``(S - s I)^-1 F w`` for a number s below the eigenvalues of S and a vector w. The span of ``S^-1 F, S^-2 F, ...``
    comes near to them fast, and depends on no ratio: one Cholesky factorisation of S serves Newton's method of
    `mklearn.optimize.trace_ratio.trace_ratio` on the projected matrices, until the residuals of the eigenvectors in all
    rows are rounding errors. A factorisation at the end proves that no smaller eigenvalue was missed.

    Parameters
    ----------
    S : array of shape (n, n)
        Symmetric positive definite.
    F : array of shape (n, q)
    n_components : int
        p, from 1 to n.
    tol : float
        As for `mklearn.optimize.trace_ratio.trace_ratio`.

    Returns
    -------
    TraceRatio
        Its ``residual`` is a lower bound. It is the result of `mklearn.optimize.trace_ratio.trace_ratio` where that is
        faster (n < 60 q, or p > q), and where the subspaces converge slowly or S is not positive definite.

    Raises
    ------
    DataError, ConfigError, SolverFailed
        As for `mklearn.optimize.trace_ratio.trace_ratio`; `DataError` also if S is not symmetric.
    """
    s = as_square_matrix(S, "S")
    check_symmetric(s, "S")
    factor = as_float_matrix(F, "F").astype(np.float64, copy=False)
    n, q = len(s), factor.shape[1]
    if len(factor) != n:
        raise DataError(f"F has shape {factor.shape}: expected {n} rows, as S has.")
    p = check_integer(n_components, "n_components", 1, n)
    found = _in_subspaces(s, factor, p, tol) if p <= q and n >= _ROWS_PER_COLUMN * q else None
    return found or trace_ratio(s, s + factor @ factor.T, p, tol=tol)


def _in_subspaces(s: Floats, F: Floats, p: int, tol: float) -> TraceRatio | None:
    """Solve the problem; None if S is not positive definite, for slow convergence, or without a proof."""
    try:
        cholesky_factor = cho_factor(s, lower=True, check_finite=False)
    except LinAlgError:
        return None
    n, q = F.shape
    size = float(np.linalg.norm(s))
    block, Q, SQ = F, np.empty((n, 0)), np.empty((n, 0))
    history = [float(np.trace(s) / (np.trace(s) + np.vdot(F, F)))]
    while Q.shape[1] + _BLOCKS * q <= _WIDEST * n:
        known = Q.shape[1]
        for _ in range(_BLOCKS):
            block = _new_directions(Q, cho_solve(cholesky_factor, block, check_finite=False))
            Q = np.hstack([Q, block])
        SQ = np.hstack([SQ, s @ Q[:, known:]])
        C, ratio = _minimise(symmetrized(Q.T @ SQ), Q.T @ F, p, history, tol)
        A, SA = Q @ C, SQ @ C
        residuals = (1.0 - ratio) * SA - ratio * F @ (F.T @ A)
        eigenvalues = np.einsum("ij,ij->j", A, residuals)
        residuals -= A * eigenvalues
        lengths = np.linalg.norm(residuals, axis=0)
        if lengths.max() > _ROUNDING * size:
            continue
        margin = 10.0 * n * float(np.finfo(np.float64).eps) * size
        if not _are_lowest(A, eigenvalues, s, F, ratio, margin):
            return None
        denominator = float(np.vdot(A, SA) + np.linalg.norm(F.T @ A) ** 2)
        certificate = -float(np.maximum(lengths, margin).sum()) / denominator
        return TraceRatio(fix_signs(A), ratio, np.array(history), certificate, "converged")
    return None


def _new_directions(Q: Floats, block: Floats) -> Floats:
    """Return an orthonormal basis of the part of a block outside the range of Q."""
    for _ in range(2):  # the second time for the rounding errors of the first
        block = qr(block - Q @ (Q.T @ block), mode="economic", check_finite=False)[0]
    return block


def _minimise(s: Floats, F: Floats, p: int, history: list[float], tol: float) -> tuple[Floats, float]:
    """Minimise the ratio of projected matrices from the last ratio; append what it reaches to the history."""
    ratio, start = history[-1], history[0]
    for _ in range(_NEWTON):
        _, C = generalized_eigh((1.0 - ratio) * s - ratio * (F @ F.T), None, p)
        above = float(np.vdot(C, s @ C))
        drop = ratio - above / (above + float(np.linalg.norm(F.T @ C)) ** 2)
        ratio -= max(drop, 0.0)
        if drop <= tol * (ratio + start):
            break
    history.append(ratio)
    return C, ratio


def _are_lowest(A: Floats, eigenvalues: Floats, s: Floats, F: Floats, ratio: float, margin: float) -> bool:
    """Return whether (1 - r) S - r FF' has no eigenvalues but those of its eigenvectors A below the largest of these.

    Those are raised above it: the matrix, less the largest, then has a Cholesky factor.
    """
    largest = float(eigenvalues.max())
    raised = np.hstack([A * (largest - eigenvalues + margin), -ratio * F]) @ np.hstack([A, F]).T
    raised += (1.0 - ratio) * s
    raised[np.diag_indices_from(raised)] -= largest - margin
    try:
        cholesky(raised.T, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return False
    return True
