"""The beta-step of MKL-DR: kernel weights that minimise a ratio of two quadratic forms over the nonnegative orthant.

    ``min  b'Sb / b'S'b   over b >= 0, b != 0``          (Lin, Liu, Fuh 2008, equation (22))

is not convex. The paper relaxes it to a semidefinite program whose value is the smallest generalised eigenvalue and
whose beta is 0 whenever the eigenvector has mixed signs; so the problem itself is solved here by default, and the
paper's recipe is kept as ``method="sdp"``, with a status that says what it did.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.errors import ConfigError, SolverFailed, UserError
from mklearn.optimize.pencil import Pencil, duplicate_groups, make_pencil, one_signed, prepare
from mklearn.optimize.solvers import resolve_solver
from mklearn.optimize.supports import (
    ENUMERATION_LIMIT,
    default_starts,
    enumerate_supports,
    first_guess,
    local_minimiser,
)

Floats = NDArray[np.floating]
Method = Literal["exact", "dnn", "sdp", "central_path"]
Status = Literal["optimal", "local", "mixed_sign", "inaccurate"]

# A relative gap below this proves optimality (the accuracy of interior-point solvers).
_PROVEN = 1e-6
# Ratios below this, in units of those of single kernels, count as 0 in the gap's denominator.
_ZERO_RATIO = 1e-8
# The sum of a literal beta (in units of the eigenvector) below which its direction is noise.
_VANISHED = 1e-12
# As the negative entries of the eigenvector u go to zero the central path turns towards u, and its point runs off to
# infinity like their inverse: below this (relative) size u is its direction more accurately than Newton's method finds.
_NEARLY_ONE_SIGNED = 1e-6


@dataclass(frozen=True)
class KernelWeights:
    """Kernel weights, and how good they are known to be.

    Attributes
    ----------
    weights : array of shape (M,)
        Nonnegative, sum 1.
    value : float
        b'Sb / b'S'b at ``weights``, from S and S' as they were given.
    bound : float
        A lower bound of that ratio over b >= 0. For "exact" (up to 14 kernels) the value itself, for "dnn" (and "exact"
        above 14) that of the doubly nonnegative relaxation, for "sdp" the value of the paper's program, for
        "central_path" the smallest generalised eigenvalue (these two are the same number).
    gap : float
        (value - bound) / max(|value|, |bound|, 1e-8 of the largest single kernel's ratio); 0 proves the weights
        globally optimal.
    status : {"optimal", "local", "mixed_sign", "inaccurate"}
        "optimal": proven, or for "sdp" and "central_path" the method's own optimum, which then is the true one.
        "local": a local minimum that the bound does not prove global.
        "mixed_sign": the smallest generalised eigenvector has both signs, the only optimal beta of the paper's program
        is 0, and ``weights`` is the direction in which its barrier vanishes: no optimiser of anything.
        "inaccurate": the solver stopped short of its tolerances.
    solver : str
        What did the work: "enumeration", "inverse_iteration", "newton", "closed_form", a convex solver, or
        two of these joined by "+".
    seconds : float
        Wall time.
    norm : float
        "sdp" only, else NaN: the length of the beta returned by the solver, in units of the eigenvector u (u'S'u = 1).
        Near 0 when the signs are mixed.
    mixed_sign : bool
        Whether the smallest generalised eigenvector has entries of both signs.
    message : str
        One sentence for people; empty when there is nothing to say.
    """

    weights: Floats
    value: float
    bound: float
    gap: float
    status: Status
    solver: str
    seconds: float
    norm: float
    mixed_sign: bool
    message: str


@dataclass(frozen=True)
class _Solution:
    """What a method found, in unit-diagonal coordinates."""

    b: Floats
    bound: float
    solver: str
    mixed_sign: bool
    status: Status | None = None  # None: "optimal" if the gap proves it, else "local"
    norm: float = float("nan")
    message: str = ""


def kernel_weights(
    S: ArrayLike, S_prime: ArrayLike, *, method: Method = "exact", solver: str = "auto"
) -> KernelWeights:
    """Minimise ``b'Sb / b'S'b`` over nonnegative b; the weights returned sum to 1.

    Parameters
    ----------
    S : array of shape (M, M)
        Symmetric, possibly indefinite: ``S_mn = tr(A'K_m L K_n A)`` (a common factor changes nothing but ``value``).
    S_prime : array of shape (M, M)
        Symmetric positive semidefinite: the same with L'.
    method : {"exact", "dnn", "sdp", "central_path"}
        - "exact": the global minimum. Up to 14 kernels by enumerating supports; above that the best local minimum from
          M + 3 starts, with the doubly nonnegative bound as certificate.
        - "dnn": doubly nonnegative relaxation, tr(SB) over B positive semidefinite and B >= 0 with tr(S'B) = 1. Its B
          is rounded to the leading eigenvector (nonnegative) and improved by nonnegative inverse iteration, which never
          makes it worse. Proven optimal for M <= 4, and in practice nearly always.
        - "sdp": equations (25)-(28) as printed, beta divided by its sum. Read ``status``.
        - "central_path": the limit direction of the barrier in "sdp" when signs are mixed,
          ``argmin_{g > 0} g'(S - lambda S')g / 2 - sum log g_m``, found by Newton's method, without a convex solver and
          to full accuracy; the eigenvector itself when it has one sign.
    solver : str
        "auto" (MOSEK where a licence works, else CLARABEL) or the name of a solver; for "sdp" and "dnn", and for the
        bound of "exact" above 14 kernels. Not looked at otherwise.

    Returns
    -------
    KernelWeights

    Raises
    ------
    ConfigError
        An unknown method.
    DataError
        Matrices that are not square, of one shape, finite and symmetric.
    SolverUnavailable
        The solver asked for can't run here.
    SolverFailed
        S_prime is zero or indefinite; the convex solver broke down; or (SCS does this) "sdp" returned beta = 0, so that
        there is no direction to normalise.

    Notes
    -----
    Everything is done in coordinates in which S' has a unit diagonal ("sdp" in whitened ones). All methods are
    therefore equivariant: K_m -> c_m K_m gives b_m -> b_m / c_m, and tolerances are relative.

    A kernel with S'_mm = 0 (the second graph sees nothing in it, a constant kernel for example) gets weight 0, also
    where rounding has left up to 1e-12 of the largest S'_mm in its row. Where S' is singular because kernels are
    linearly dependent, a ridge of 1e-10 of the unit diagonal goes to both matrices inside the solvers; the value is
    that of the matrices given. For "exact" and "dnn" kernels that are equal up to scale are treated as one and share
    its weight equally (in the unit-diagonal coordinates), so that neither their order nor their number matters to the
    combined kernel; "sdp" and "central_path" stay as printed.

    When several b are optimal one of them is returned; when all are (S proportional to S'), the equal weights in
    unit-diagonal coordinates.

    Deviation from the paper: the default is not its relaxation, whose weights on random problems end between a fifth
    and several times above the optimum.
    """
    start = perf_counter()
    if method not in _METHODS:
        raise ConfigError(f"method={method!r}: must be one of {', '.join(map(repr, get_args(Method)))}")
    s, s_prime, scaling, indefinite = prepare(S, S_prime)
    first = np.arange(len(s))
    if method in ("exact", "dnn"):
        first = duplicate_groups(s, s_prime)
    kept = np.flatnonzero(first == np.arange(len(s)))
    whole = kept.size == first.size
    block = np.ix_(kept, kept)
    pencil = make_pencil(s if whole else s[block], s_prime if whole else s_prime[block], indefinite)

    if pencil.m == 1:
        if method in ("sdp", "dnn"):
            resolve_solver(solver)
        solution = _Solution(np.ones(1), float(pencil.S[0, 0]), "closed_form", mixed_sign=False)
    else:
        solution = _METHODS[method](pencil, solver)
    value = pencil.ratio(solution.b)
    if not np.isfinite(value):
        raise SolverFailed(f"method={method!r} ended at weights for which b'S'b is not positive")
    # A bound may exceed the value by the solver's tolerance only; it is a bound, so it gives way.
    bound = min(solution.bound, value)
    gap = (value - bound) / max(abs(value), abs(bound), _ZERO_RATIO * pencil.size)
    status: Status = solution.status or ("optimal" if gap <= _PROVEN else "local")
    message = solution.message
    if status == "local" and not message:
        message = f"a local minimum; the lower bound leaves a relative gap of {gap:.2g}"
    if scaling.zero.size:
        listed = ", ".join(map(str, scaling.zero))
        message = "; ".join(filter(None, [message, f"weight 0 for kernels the second graph sees nothing in: {listed}"]))

    b = solution.b
    if not whole:
        members = np.bincount(first, minlength=len(first))
        shares = np.zeros(len(first))
        shares[kept] = b / members[kept]
        b = shares[first]
    return KernelWeights(
        weights=scaling.weights(b),
        value=value,
        bound=bound,
        gap=gap,
        status=status,
        solver=solution.solver,
        seconds=perf_counter() - start,
        norm=solution.norm,
        mixed_sign=solution.mixed_sign,
        message=message,
    )


def _exact(pencil: Pencil, solver: str) -> _Solution:
    if pencil.m <= ENUMERATION_LIMIT:
        b = enumerate_supports(pencil)
        return _Solution(b, pencil.ratio(b), "enumeration", _has_mixed_sign(pencil, b))
    b = local_minimiser(pencil, default_starts(pencil))
    mixed = _has_mixed_sign(pencil, b)
    if pencil.ratio(b) - pencil.lowest <= 1e-12 * pencil.size:
        return _Solution(b, pencil.lowest, "inverse_iteration", mixed)
    from mklearn.optimize.relaxations import doubly_nonnegative, sharpened_bound

    try:
        relaxed = doubly_nonnegative(pencil, solver, pencil.ratio(b))
    except UserError as error:
        # The weights stand without a certificate; only a solver asked for by name is a mistake of the caller.
        if solver.lower() != "auto":
            raise
        return _Solution(b, pencil.lowest, "inverse_iteration", mixed, message=f"no certificate: {error}")
    # The relaxation knows where to look: its own rounding is one more start.
    b = local_minimiser(pencil, np.stack([b, _leading(relaxed.B)]))
    return _Solution(b, sharpened_bound(pencil, relaxed, b), f"inverse_iteration+{relaxed.solver}", mixed)


def _dnn(pencil: Pencil, solver: str) -> _Solution:
    resolve_solver(solver)
    mixed = _has_mixed_sign(pencil)
    guess, upper = first_guess(pencil)
    if upper - pencil.lowest <= 1e-12 * pencil.size:
        return _Solution(guess, pencil.lowest, "closed_form", mixed)
    from mklearn.optimize.relaxations import doubly_nonnegative, sharpened_bound

    relaxed = doubly_nonnegative(pencil, solver, upper)
    b = local_minimiser(pencil, _leading(relaxed.B)[None])
    bound = sharpened_bound(pencil, relaxed, b)
    proven = pencil.ratio(b) - bound <= _PROVEN * max(abs(pencil.ratio(b)), _ZERO_RATIO * pencil.size)
    if relaxed.accurate or proven:
        return _Solution(b, bound, relaxed.solver, mixed)
    stopped = f"{relaxed.solver} stopped short of its tolerances"
    return _Solution(b, bound, relaxed.solver, mixed, "inaccurate", message=stopped)


def _sdp(pencil: Pencil, solver: str) -> _Solution:
    from mklearn.optimize.relaxations import literal_sdp

    relaxed = literal_sdp(pencil, solver)
    mixed = _has_mixed_sign(pencil)
    why = (
        "the smallest generalised eigenvector has mixed signs, so beta = 0 is the only optimum of the paper's program"
        if mixed
        else "the paper's program leaves the length of beta open, down to 0"
    )
    b = np.maximum(relaxed.b, 0)
    if not b.sum() >= _VANISHED:
        raise SolverFailed(
            f"{relaxed.solver} returned beta = 0 ({b.sum():.2g}), which gives no kernel weights: {why}; use "
            "method='exact', or method='central_path' for what an interior-point solver would show"
        )
    status: Status = "optimal"
    message = ""
    if mixed:
        status = "mixed_sign"
        message = (
            f"{why}: the weights are what {relaxed.solver}'s barrier left, of length {relaxed.norm:.2g}, normalised"
        )
    if not relaxed.accurate:
        status = "inaccurate"
        message = "; ".join(filter(None, [f"{relaxed.solver} stopped short of its tolerances", message]))
    return _Solution(b, relaxed.bound, relaxed.solver, mixed, status, relaxed.norm, message)


def _central_path(pencil: Pencil, solver: str) -> _Solution:
    if not _has_mixed_sign(pencil):
        b = np.maximum(pencil.vector, 0) if pencil.simple else _minimiser(pencil)
        return _Solution(b, pencil.lowest, "closed_form", False, "optimal")
    u = pencil.vector
    if u.min() >= -_NEARLY_ONE_SIGNED * u.max():
        b, solver = np.maximum(u, 0), "closed_form"
    else:
        b, solver = _analytic_centre((pencil.R - pencil.lowest * pencil.R_prime) / pencil.size), "newton"
    return _Solution(
        b,
        pencil.lowest,
        solver,
        True,
        "mixed_sign",
        message="the smallest generalised eigenvector has mixed signs: the weights are the direction in which the "
        "barrier of the paper's program vanishes, not an optimum",
    )


_METHODS: dict[str, Callable[[Pencil, str], _Solution]] = {
    "exact": _exact,
    "dnn": _dnn,
    "sdp": _sdp,
    "central_path": _central_path,
}


def _minimiser(pencil: Pencil) -> Floats:
    if pencil.m <= ENUMERATION_LIMIT:
        return enumerate_supports(pencil)
    return local_minimiser(pencil, default_starts(pencil))


def _has_mixed_sign(pencil: Pencil, b: Floats | None = None) -> bool:
    """Whether no smallest eigenvector is nonnegative; b is the minimiser when it is known."""
    if one_signed(pencil.vector):
        return False
    if pencil.simple:
        return True
    # A multiple eigenvalue: one eigenvector says nothing about the others, the minimum over b >= 0 does.
    reached = pencil.ratio(_minimiser(pencil) if b is None else b)
    return reached - pencil.lowest > 1e-9 * pencil.size


def _leading(B: Floats) -> Floats:
    """The leading eigenvector of a nonnegative matrix, nonnegative by Perron and Frobenius."""
    return np.abs(np.linalg.eigh(np.maximum((B + B.T) / 2, 0))[1][:, -1])


def _analytic_centre(Z: Floats, max_iter: int = 1000) -> Floats:
    """``argmin_{g > 0} g'Zg / 2 - sum log g_m`` for a positive semidefinite Z; equivalently g_m (Zg)_m = 1.

    Newton's method in the relative change of g, damped while the decrement is large: the objective is self-concordant,
    so this converges from anywhere. The minimum exists unless some nonnegative g has Zg = 0.
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
        # Where u is all but nonnegative, g grows along it until rounding errors of Zu show: then no more can be had.
        if decrement < 1e-13 or (smallest < 0.1 and stalled > 10):
            break
        g = g * (1.0 + step / (1.0 + decrement if decrement > 0.25 else 1.0))
    if not smallest < 1e-3:
        raise SolverFailed(f"the central path was not found: Newton decrement {smallest:.2g} after {max_iter} steps")
    return best / best.sum()
