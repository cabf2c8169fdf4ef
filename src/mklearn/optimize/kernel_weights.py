"""Kernel weights that minimise a ratio of two quadratic forms over the nonnegative orthant.

    ``min  b'Sb / b'S'b   over b >= 0, b != 0``

This is the beta-step of MKL-DR (Lin, Liu, Fuh 2008, equation (22)). It is not convex. The paper relaxes it to a
semidefinite program whose value is the smallest generalised eigenvalue and whose beta is 0 whenever the eigenvector has
mixed signs. Deviation: the default is not this relaxation, whose weights can have a ratio several times the optimum.

All methods work in coordinates where S' has a unit diagonal ("sdp" in whitened ones). They are therefore equivariant:
K_m -> c_m K_m gives b_m -> b_m / c_m, and tolerances are relative. If several b are optimal, one of them is returned;
if all are (S proportional to S'), equal weights in these coordinates.

A kernel with S'_mm = 0 (constant under the second graph) gets weight 0, even if rounding leaves up to 1e-12 of the
largest S'_mm in its row. If S' is singular because kernels are linearly dependent, the solvers add a ridge of 1e-10 of
the unit diagonal to both matrices. "exact" treats kernels that are equal up to scale as one and divides the weight
equally among them, so that the combined kernel depends neither on their order nor on their number.

Lin, Liu, Fuh, "Dimensionality reduction for data in multiple feature representations", NIPS 2008.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.checks import check_choice
from mklearn.errors import SolverFailed, UserError
from mklearn.optimize import relaxations
from mklearn.optimize.pencil import Pencil, minimiser, one_signed, prepare

Floats = NDArray[np.floating]
Method = Literal["exact", "dnn", "sdp", "central_path"]
Status = Literal["optimal", "local", "mixed_sign", "inaccurate"]

# Relative gap, the accuracy of interior-point solvers, below which weights count as proven optimal.
_PROVEN = 1e-6
# Differences from a lower bound that are below this, in units of the ratios of single kernels, are rounding.
_REACHED = 1e-12
# Ratios below this, in units of the ratios of single kernels, count as 0 in the denominator of the gap.
_ZERO_RATIO = 1e-8
# If the entries of beta from "sdp" sum to less than this (in units of the eigenvector), its direction is noise.
_VANISHED = 1e-12
# As the negative entries of the eigenvector u go to 0, the point of the central path turns towards u and diverges like
# the inverse of these entries. If they are (relatively) smaller than this, u is more accurate than Newton's method.
_NEARLY_ONE_SIGNED = 1e-6


@dataclass(frozen=True)
class KernelWeights:
    """Result of `kernel_weights`.

    Attributes
    ----------
    weights : array of shape (M,)
        Nonnegative, sum 1.
    value : float
        b'Sb / b'S'b at ``weights``, without a ridge.
    bound : float
        A lower bound of the ratio over b >= 0. "exact": the value itself if all supports are enumerated, else the bound
        of the doubly nonnegative relaxation. "sdp" and "central_path": the smallest generalised eigenvalue, which is
        the value of the paper's program.
    lambda_min : float
        The smallest generalised eigenvalue: a lower bound of the ratio over weights of any sign.
    gap : float
        (value - bound) / max(abs(value), abs(bound), 1e-8 of the largest single kernel's ratio). 0 proves that the
        weights are globally optimal.
    status : {"optimal", "local", "mixed_sign", "inaccurate"}
        - "optimal": proven; for "sdp" and "central_path", the optimum of their own program, which then is the true one.
        - "local": a local minimum that the bound does not prove global.
        - "mixed_sign": the smallest generalised eigenvector has entries of both signs, so the only optimal beta of the
          paper's program is 0. ``weights`` is the direction in which its barrier vanishes and minimises nothing.
        - "inaccurate": the solver did not reach its tolerances.
    solver : str
        "enumeration" (also if the eigenvector is the solution), "local_search", "newton", "closed_form", a convex
        solver, or two of these joined by "+".
    seconds : float
        Wall time in seconds.
    mixed_sign : bool
        Whether the smallest generalised eigenvector has entries of both signs.
    """

    weights: Floats
    value: float
    bound: float
    lambda_min: float
    gap: float
    status: Status
    solver: str
    seconds: float
    mixed_sign: bool


# Weights in unit-diagonal coordinates, lower bound, solver, whether the eigenvector has mixed signs, and status (None:
# "optimal" if the gap proves it, else "local").
_Solution = tuple[Floats, float, str, bool, Status | None]


def kernel_weights(
    S: ArrayLike, S_prime: ArrayLike, *, method: Method = "exact", solver: str = "auto"
) -> KernelWeights:
    """Minimise ``b'Sb / b'S'b`` over nonnegative kernel weights, returned with sum 1.

    This is equation (22) of Lin, Liu, Fuh (NIPS 2008). The default finds its optimum instead of the paper's relaxation.

    Parameters
    ----------
    S : array of shape (M, M)
        Symmetric, possibly indefinite: ``S_mn = tr(A'K_m L K_n A)``. A common factor changes only ``value``.
    S_prime : array of shape (M, M)
        Symmetric positive semidefinite: ``S'_mn = tr(A'K_m L' K_n A)``.
    method : {"exact", "dnn", "sdp", "central_path"}
        - "exact": the global minimum, by Dinkelbach's iteration on `mklearn.optimize.simplex_qp`. Above 14 kernels this
          may find a local minimum; the bound of "dnn" is then its certificate.
        - "dnn": the weights of "exact", always with the bound of the doubly nonnegative relaxation, min tr(SB) over
          positive semidefinite B >= 0 with tr(S'B) = 1. The bound is exact for M <= 4.
        - "sdp": MKL-DR's equations (25)-(28) as printed, beta divided by its sum. Check ``status``.
        - "central_path": for mixed signs, the limit direction of the barrier in "sdp",
          ``argmin_{g > 0} g'(S - lambda S')g / 2 - sum log g_m``, by Newton's method, without a convex solver and to
          full accuracy; otherwise the eigenvector itself.
    solver : str
        "auto" (MOSEK where a licence works, else CLARABEL) or the name of a solver. Used by "sdp", "dnn", and
        for the bound of "exact" above 14 kernels; ignored otherwise.

    Raises
    ------
    ConfigError
        Unknown method.
    DataError
        A matrix is not square, not finite or not symmetric, or the shapes differ.
    SolverUnavailable
        The named solver can't run here.
    SolverFailed
        S_prime is zero or indefinite; the convex solver failed; or "sdp" returned beta = 0 (SCS does this), which has
        no direction to normalise.
    """
    start = perf_counter()
    check_choice(method, "method", _METHODS)
    pencil = prepare(S, S_prime, merge_equal=method in ("exact", "dnn"))
    b, bound, used, mixed_sign, known_status = _METHODS[method](pencil, solver)
    value = pencil.ratio(b)
    if not np.isfinite(value):
        raise SolverFailed(f"method={method!r} ended at weights for which b'S'b is not positive.")
    # The bound can exceed the value only by the solver's tolerance.
    bound = min(bound, value)
    gap = (value - bound) / max(abs(value), abs(bound), _ZERO_RATIO * pencil.size)
    return KernelWeights(
        weights=pencil.weights(b),
        value=value,
        bound=bound,
        lambda_min=min(pencil.lowest, value),
        gap=gap,
        status=known_status or ("optimal" if gap <= _PROVEN else "local"),
        solver=used,
        seconds=perf_counter() - start,
        mixed_sign=mixed_sign,
    )


def _exact(pencil: Pencil, solver: str) -> _Solution:
    b, proven = minimiser(pencil)
    mixed = _has_mixed_sign(pencil, b)
    if proven:
        return b, pencil.ratio(b), "enumeration", mixed, None
    try:
        multipliers, used = relaxations.doubly_nonnegative(pencil, solver, pencil.ratio(b))
    except UserError:
        # "auto" returns the weights without a certificate; a solver named by the caller must work.
        if solver.lower() != "auto":
            raise
        return b, pencil.lowest, "local_search", mixed, None
    return b, relaxations.certified_bound(pencil, multipliers, b), f"local_search+{used}", mixed, None


def _dnn(pencil: Pencil, solver: str) -> _Solution:
    equal, mixed = np.ones(pencil.m), _has_mixed_sign(pencil)
    if pencil.ratio(equal) - pencil.lowest <= _REACHED * pencil.size:
        return equal, pencil.lowest, "closed_form", mixed, None
    b, _ = minimiser(pencil)
    multipliers, used = relaxations.doubly_nonnegative(pencil, solver, pencil.ratio(b))
    return b, relaxations.certified_bound(pencil, multipliers, b), used, mixed, None


def _sdp(pencil: Pencil, solver: str) -> _Solution:
    beta, bound, used, accurate = relaxations.literal_sdp(pencil, solver)
    mixed = _has_mixed_sign(pencil)
    b = np.maximum(beta, 0)
    if not b.sum() >= _VANISHED:
        why = (
            "the smallest generalised eigenvector has mixed signs, so beta = 0 is the only optimum of that program"
            if mixed
            else "that program does not determine the length of beta, which can be 0"
        )
        raise SolverFailed(
            f"{used} returned beta = 0 ({b.sum():.2g}), which gives no kernel weights: {why}. Use method='exact', or "
            "method='central_path' for the weights of an interior-point solver."
        )
    status: Status = "mixed_sign" if mixed else "optimal"
    return b, bound, used, mixed, status if accurate else "inaccurate"


def _central_path(pencil: Pencil, solver: str) -> _Solution:
    if not _has_mixed_sign(pencil):
        b = np.maximum(pencil.vector, 0) if pencil.simple else minimiser(pencil)[0]
        return b, pencil.lowest, "closed_form", False, "optimal"
    u = pencil.vector
    if u.min() >= -_NEARLY_ONE_SIGNED * u.max():
        return np.maximum(u, 0), pencil.lowest, "closed_form", True, "mixed_sign"
    b = _analytic_centre((pencil.R - pencil.lowest * pencil.R_prime) / pencil.size)
    return b, pencil.lowest, "newton", True, "mixed_sign"


_METHODS: dict[str, Callable[[Pencil, str], _Solution]] = {
    "exact": _exact,
    "dnn": _dnn,
    "sdp": _sdp,
    "central_path": _central_path,
}


def _has_mixed_sign(pencil: Pencil, b: Floats | None = None) -> bool:
    """Check that no eigenvector of the smallest eigenvalue is nonnegative; ``b`` is the minimiser, if known."""
    if one_signed(pencil.vector):
        return False
    if pencil.simple:
        return True
    # For a multiple eigenvalue, the minimum over b >= 0 decides whether a nonnegative eigenvector exists.
    reached = pencil.ratio(minimiser(pencil)[0] if b is None else b)
    return reached - pencil.lowest > 1e-9 * pencil.size


def _analytic_centre(Z: Floats, max_iter: int = 1000) -> Floats:
    """Minimise ``g'Zg / 2 - sum log g_m`` over g > 0 for a positive semidefinite Z; equivalently g_m (Zg)_m = 1.

    Uses Newton's method in the relative change of g, damped while the decrement is large. The objective is
    self-concordant, so the method converges from any start. The minimum exists unless Zg = 0 for some nonnegative g.
    """
    g = np.ones(len(Z))
    best, smallest, stalled = g, np.inf, 0
    for _ in range(max_iter):
        hessian = Z * np.outer(g, g)
        gradient = hessian.sum(axis=1) - 1.0
        step = -np.linalg.solve(hessian + np.eye(len(Z)), gradient)
        decrement = float(np.sqrt(max(-(gradient @ step), 0.0)))
        stalled += 1
        if decrement < smallest:
            best, smallest, stalled = g, decrement, 0
        # If u is nearly nonnegative, g grows along u until the rounding errors of Zu stop the progress.
        if decrement < 1e-13 or (smallest < 0.1 and stalled > 10):
            break
        g = g * (1.0 + step / (1.0 + decrement if decrement > 0.25 else 1.0))
    if not smallest < 1e-3:
        raise SolverFailed(f"The central path was not found: Newton decrement {smallest:.2g} after {max_iter} steps.")
    return best / best.sum()
