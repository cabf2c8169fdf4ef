"""Trace-ratio problem: the global minimum of a ratio of traces over orthonormal columns.

    ``min tr(A'SA) / tr(A'S'A)  over A with A'A = I``

is solved by Newton's method on ``f(rho) = min_A tr(A'(S - rho S')A)``, which is concave, decreasing, and zero at the
optimal ratio. An iteration sets A to the eigenvectors of the p smallest eigenvalues of ``S - rho S'`` and rho to the
ratio of A. The start is tr S / tr S', an upper bound of the optimum. The ratio never increases and converges
quadratically to the global optimum [1]_ [2]_.

Without A'A = I the minimum is the smallest generalised eigenvalue and A has rank one: this is equation (18) of MKL-DR
[3]_ as printed. The paper solves the ratio-trace problem instead, which is a different problem.

References
----------
.. [1] Wang, Yan, Xu, Tang, Huang, "Trace ratio vs. ratio trace for dimensionality reduction", CVPR 2007.
.. [2] Ngo, Bellalij, Saad, "The trace ratio optimization problem", SIAM Review 54, 2012.
.. [3] Lin, Liu, Fuh, "Dimensionality reduction for data in multiple feature representations", NIPS 2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh

from mklearn.checks import as_square_matrix, check_integer, same_shape, symmetrized
from mklearn.errors import SolverFailed
from mklearn.optimize.eigen import fix_signs, generalized_eigh

Floats = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class TraceRatio:
    """Result of `trace_ratio`.

    Attributes
    ----------
    components : array of shape (n, p)
        Orthonormal columns A, by ascending eigenvalue of S - value S'.
    value : float
        tr(A'SA) / tr(A'S'A) at ``components``.
    history : array of shape (iterations + 1,)
        The ratio at the start and after each iteration, nonincreasing.
    residual : float
        Optimality certificate: the sum of the p smallest eigenvalues of S - value S', relative to tr(A'S'A). It is 0
        at the global optimum and negative elsewhere.
    status : {"converged", "max_iter"}
    """

    components: Floats
    value: float
    history: Floats
    residual: float
    status: Literal["converged", "max_iter"]


def trace_ratio(
    S: ArrayLike, S_prime: ArrayLike, n_components: int, *, max_iter: int = 100, tol: float = 1e-12
) -> TraceRatio:
    """Minimise tr(A'SA) / tr(A'S'A) over matrices A with orthonormal columns.

    The algorithm is by Wang et al. (CVPR 2007) and Ngo, Bellalij, Saad (SIAM Review 2012).

    Parameters
    ----------
    S : array of shape (n, n)
        Symmetric.
    S_prime : array of shape (n, n)
        Symmetric positive semidefinite, of rank above ``n - n_components``: otherwise the denominator can be 0.
        Project out the common null space of both matrices first: its directions would fill columns at no cost.
    n_components : int
        Number of columns p, from 1 to n.
    max_iter : int
        Largest number of iterations.
    tol : float
        The iteration stops when the ratio falls by less than ``tol * (|ratio| + |tr S| / tr S')``.

    Raises
    ------
    DataError
        A matrix is not square or not finite, or the shapes differ.
    ConfigError
        ``n_components`` or ``max_iter`` is out of range.
    SolverFailed
        The denominator is not positive: S_prime is zero or indefinite, or its null space is too large.
    """
    s, s_prime = (symmetrized(as_square_matrix(M, name)) for M, name in ((S, "S"), (S_prime, "S_prime")))
    same_shape(s, s_prime)
    n = s.shape[0]
    p = check_integer(n_components, "n_components", 1, n)
    check_integer(max_iter, "max_iter", 1)
    total = float(np.trace(s_prime))
    if not total > 0:
        raise SolverFailed(f"The trace of S_prime is {total:.3g}: expected a positive semidefinite, nonzero matrix.")
    smallest = 1e-14 * total * p / n

    A: Floats | None = None
    ratio = float(np.trace(s)) / total
    scale = abs(ratio)
    history: list[float] = [ratio]
    status: Literal["converged", "max_iter"] = "max_iter"
    for _ in range(max_iter):
        _, candidate = generalized_eigh(s - ratio * s_prime, None, p)
        new = _ratio(candidate, s, s_prime, smallest)
        # Rounding can raise the last digits of the ratio: keep the better point, so the history is monotone.
        if A is None or new <= ratio:
            A, drop = candidate, ratio - new
            ratio = min(new, ratio)
        else:
            drop = 0.0
        history.append(ratio)
        if drop <= tol * (abs(ratio) + scale):
            status = "converged"
            break
    assert A is not None
    ratio = _ratio(A, s, s_prime, smallest)
    lowest = eigh(s - ratio * s_prime, eigvals_only=True, subset_by_index=(0, p - 1), check_finite=False)
    residual = float(lowest.sum()) / float(np.einsum("ij,ij->", A, s_prime @ A))
    return TraceRatio(fix_signs(A), ratio, np.array(history), residual, status)


def _ratio(A: Floats, s: Floats, s_prime: Floats, smallest: float) -> float:
    denominator = float(np.einsum("ij,ij->", A, s_prime @ A))
    if not denominator > smallest:
        raise SolverFailed(
            f"tr(A'S'A) is {denominator:.3g} for {A.shape[1]} components: S_prime is indefinite or its null space is "
            "too large. Restrict the problem to the range of S_prime, or raise n_components."
        )
    return float(np.einsum("ij,ij->", A, s @ A)) / denominator
