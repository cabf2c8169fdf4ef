"""The trace-ratio problem: one ratio of traces over orthonormal columns, solved to its global optimum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh

from mklearn.errors import ConfigError, DataError, SolverFailed
from mklearn.optimize.eigen import fix_signs, generalized_eigh

Floats = NDArray[np.floating]


@dataclass(frozen=True)
class TraceRatio:
    """What `trace_ratio` found.

    Attributes
    ----------
    components : array of shape (n, p)
        Orthonormal columns A, by ascending eigenvalue of S - value S'.
    value : float
        tr(A'SA) / tr(A'S'A) at ``components``.
    history : array
        The ratio before the first and after each iteration; never increases.
    residual : float
        Certificate: the sum of the p smallest eigenvalues of S - value S', relative to tr(A'S'A). It is 0 at the
        global optimum and only there, negative elsewhere.
    n_iter : int
    converged : bool
    """

    components: Floats
    value: float
    history: Floats
    residual: float
    n_iter: int
    converged: bool


def trace_ratio(
    S: ArrayLike,
    S_prime: ArrayLike,
    n_components: int,
    *,
    init: ArrayLike | None = None,
    max_iter: int = 100,
    tol: float = 1e-12,
) -> TraceRatio:
    """Minimise ``tr(A'SA) / tr(A'S'A)`` over A with ``A'A = I``.

    Newton's method on ``f(rho) = min_A tr(A'(S - rho S')A)``, which is concave and decreasing in rho and zero at the
    optimal ratio: A = eigenvectors of the p smallest eigenvalues of ``S - rho S'``, then rho = the ratio of A. The
    ratio never increases and converges quadratically to the *global* optimum (Wang, Yan, Xu, Tang, Huang 2007; Ngo,
    Bellalij, Saad 2012).

    Parameters
    ----------
    S : array of shape (n, n)
        Symmetric.
    S_prime : array of shape (n, n)
        Symmetric positive semidefinite, of rank above ``n - n_components``: else a denominator of 0 is possible.
        Directions in the null space of both matrices should be projected out first, they cost nothing and fill columns.
    n_components : int
        p, from 1 to n.
    init : array of shape (n, p), optional
        Orthonormal start; the default start is the ratio of the full traces, which is never below the optimum.
    max_iter : int
    tol : float
        Stop when the ratio falls by less than ``tol * (|ratio| + |tr S| / tr S')``.

    Raises
    ------
    DataError, ConfigError
        Shapes, values that are not finite, n_components out of range.
    SolverFailed
        The denominator is not positive: S_prime is zero or indefinite, or has too large a null space.

    Notes
    -----
    Without A'A = I the minimum of the ratio is the smallest generalised eigenvalue and A has rank one: equation (18) of
    MKL-DR (Lin, Liu, Fuh 2008) as printed. The paper solves the *ratio-trace* problem instead, which is another one.
    """
    s, s_prime = _checked(S, "S"), _checked(S_prime, "S_prime")
    n = s.shape[0]
    if s_prime.shape != s.shape:
        raise DataError(f"S_prime has shape {s_prime.shape}, S has {s.shape}: they must be the same")
    if not isinstance(n_components, (int, np.integer)) or not 1 <= n_components <= n:
        raise ConfigError(f"n_components={n_components!r}: must be an integer from 1 to {n}, the size of S")
    if max_iter < 1:
        raise ConfigError(f"max_iter={max_iter!r}: must be at least 1")
    p = int(n_components)
    total = float(np.trace(s_prime))
    if not total > 0:
        raise SolverFailed(f"the trace of S_prime is {total:.3g}: it must be positive semidefinite and not zero")
    smallest = 1e-14 * total * p / n

    A: Floats | None = None
    if init is None:
        ratio = float(np.trace(s)) / total
    else:
        A = np.asarray(init, dtype=np.float64)
        if A.shape != (n, p) or not np.allclose(A.T @ A, np.eye(p), atol=1e-8):
            raise DataError(f"init has shape {A.shape}: it must be ({n}, {p}) with orthonormal columns")
        ratio = _ratio(A, s, s_prime, smallest)
    scale = abs(float(np.trace(s))) / total

    history, converged = [ratio], False
    for _ in range(max_iter):
        _, candidate = generalized_eigh(s - ratio * s_prime, None, p)
        new = _ratio(candidate, s, s_prime, smallest)
        # Rounding may lift the ratio in the last digits; the better point is kept, so the history is monotone.
        if A is None or new <= ratio:
            A, drop = candidate, ratio - new
            ratio = min(new, ratio)
        else:
            drop = 0.0
        history.append(ratio)
        if drop <= tol * (abs(ratio) + scale):
            converged = True
            break
    assert A is not None
    ratio = _ratio(A, s, s_prime, smallest)
    lowest = eigh(s - ratio * s_prime, eigvals_only=True, subset_by_index=(0, p - 1), check_finite=False)
    residual = float(lowest.sum()) / float(np.einsum("ij,ij->", A, s_prime @ A))
    return TraceRatio(fix_signs(A), ratio, np.array(history), residual, len(history) - 1, converged)


def _ratio(A: Floats, s: Floats, s_prime: Floats, smallest: float) -> float:
    denominator = float(np.einsum("ij,ij->", A, s_prime @ A))
    if not denominator > smallest:
        raise SolverFailed(
            f"tr(A'S'A) is {denominator:.3g} for {A.shape[1]} components: S_prime is indefinite or its null space is "
            "too large; restrict the problem to its range, or ask for more components"
        )
    return float(np.einsum("ij,ij->", A, s @ A)) / denominator


def _checked(matrix: ArrayLike, name: str) -> Floats:
    array = np.asarray(matrix, dtype=np.float64)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.shape[0] == 0:
        raise DataError(f"{name} has shape {array.shape}: it must be a square matrix")
    if not np.isfinite(array).all():
        raise DataError(f"{name} contains values that are not finite (NaN or infinity)")
    return (array + array.T) / 2
