"""Semidefinite relaxations of the beta-step: the one MKL-DR prints, and the doubly nonnegative one.

Both replace bb' by a matrix B, and each is written in the coordinates in which its solver's tolerances mean most. (In
the data's own, a value of 1e-4 of their scale comes back with three digits.)

The printed program sees no signs: it is whitened by the generalised eigenvectors, B = V Y V' with V'S'V = I, a
congruence that leaves feasible set, optimum and central path as they are. The doubly nonnegative one is about the
entries of B: it stays in unit-diagonal coordinates, as the whitener of nearly dependent kernels (a grid of bandwidths)
would blow its constraints up, and its objective is shifted by the smallest eigenvalue and divided by the distance from
there to a ratio already reached.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.errors import SolverFailed
from mklearn.optimize.pencil import Pencil
from mklearn.optimize.solvers import available_solvers, resolve_solver

Floats = NDArray[np.floating]


@dataclass(frozen=True)
class Relaxation:
    """What a relaxation gave, in unit-diagonal coordinates.

    Attributes
    ----------
    B : array of shape (m, m)
    b : array of shape (m,)
        The vector beta of the literal form; zeros for the doubly nonnegative one.
    norm : float
        sqrt(b'S'b): the length of b in units of the eigenvector u, u'S'u = 1.
    bound : float
        A lower bound of the ratio.
    multipliers : array of shape (m, m)
        The nonnegative multipliers N of B >= 0; zeros for the literal form.
    solver : str
    accurate : bool
        False when the solver stopped short of its tolerances.
    """

    B: Floats
    b: Floats
    norm: float
    bound: float
    multipliers: Floats
    solver: str
    accurate: bool


def literal_sdp(pencil: Pencil, solver: str) -> Relaxation:
    """MKL-DR (Lin, Liu, Fuh 2008), equations (25)-(28), as printed.

    ``min tr(SB)  s.t.  tr(S'B) = 1,  beta >= 0,  [1 beta'; beta B] positive semidefinite.``

    beta enters neither objective nor equality, and beta = 0 is feasible for every B: the value is the smallest
    generalised eigenvalue, whatever the signs of its eigenvector u. An optimal beta is t u with 0 <= t <= 1 when u has
    one sign, and 0 when it has not; what an interior-point method returns then is where its barrier left it.

    Raises
    ------
    SolverUnavailable, SolverFailed
    """
    import cvxpy as cp

    m = pencil.m
    # In the basis of generalised eigenvectors both forms are diagonal. Directions of very large eigenvalues (S' nearly
    # singular) are shortened, so that no coefficient is far above 1.
    shorten = np.minimum(1.0, np.sqrt(pencil.size / np.maximum(np.abs(pencil.eigenvalues), pencil.size)))
    W = pencil.vectors * shorten
    unit = max(abs(pencil.lowest), 1e-3 * pencil.size)
    X = cp.Variable((m + 1, m + 1), PSD=True)
    Y, y = X[1:, 1:], X[1:, 0]
    problem = cp.Problem(
        cp.Minimize(cp.diag(Y) @ (pencil.eigenvalues * shorten**2 / unit)),
        [X[0, 0] == 1, cp.diag(Y) @ shorten**2 == 1, W @ y >= 0],
    )
    used, accurate = _solve(problem, solver)
    solution = np.asarray(X.value)
    root = solution[1:, 0]
    return Relaxation(
        B=W @ solution[1:, 1:] @ W.T,
        b=W @ root,
        norm=float(np.linalg.norm(shorten * root)),
        bound=float(problem.value) * unit,
        multipliers=np.zeros((m, m)),
        solver=used,
        accurate=accurate,
    )


def doubly_nonnegative(pencil: Pencil, solver: str, upper: float) -> Relaxation:
    """``min tr(SB)  s.t.  tr(S'B) = 1,  B positive semidefinite,  B >= 0 entry by entry.``

    Exact for up to four kernels, where every such B is a sum of bb' with b >= 0. The bound returned does not rest on
    the solver's accuracy: with any N >= 0 entry by entry, ``lambda_min(S - N, S')`` is below b'Sb / b'S'b for every
    b >= 0; the multipliers of the program's B >= 0 are the N that makes it tight.

    Parameters
    ----------
    pencil : Pencil
    solver : str
    upper : float
        A ratio that is reached; it sets the unit of the objective.

    Raises
    ------
    SolverUnavailable, SolverFailed
    """
    import cvxpy as cp

    m = pencil.m
    unit = max(upper - pencil.lowest, 1e-4 * pencil.size)
    objective = (pencil.R - pencil.lowest * pencil.R_prime) / unit
    B = cp.Variable((m, m), PSD=True)
    positive = cp.upper_tri(B) >= 0
    problem = cp.Problem(
        cp.Minimize(cp.sum(cp.multiply(objective, B))), [cp.sum(cp.multiply(pencil.R_prime, B)) == 1, positive]
    )
    used, accurate = _solve(problem, solver)
    N = np.zeros((m, m))
    rows, columns = np.triu_indices(m, 1)
    N[rows, columns] = np.maximum(np.ravel(positive.dual_value), 0) * unit / 2
    N += N.T
    return Relaxation(
        B=np.asarray(B.value),
        b=np.zeros(m),
        norm=float("nan"),
        bound=max(_copositive_bound(pencil, N), pencil.lowest),
        multipliers=N,
        solver=used,
        accurate=accurate,
    )


def sharpened_bound(pencil: Pencil, relaxation: Relaxation, b: Floats) -> float:
    """The bound of `doubly_nonnegative` with the solver's rounding taken out of its multipliers.

    Were b (of support J) optimal and the relaxation tight, ``(S - value S' - N) b = 0`` would hold, so N_JJ = 0 and
    ``N_iJ b_J = ((S - value S') b)_i >= 0`` for i outside J. Rows of N are rescaled to make it so, and the bound, valid
    for every N >= 0, computed anew; the better of the two bounds is returned.
    """
    support = b > 0
    slack = np.maximum((pencil.R - pencil.ratio(b) * pencil.R_prime) @ b, 0)
    N = relaxation.multipliers.copy()
    N[np.ix_(support, support)] = 0
    reached = N[:, support] @ b[support]
    rescale = np.where(reached > 0, slack / np.where(reached > 0, reached, 1), 1)
    outside = np.flatnonzero(~support)
    for i in outside:
        N[i, support] *= rescale[i]
        N[support, i] = N[i, support]
    return max(relaxation.bound, _copositive_bound(pencil, N))


def _copositive_bound(pencil: Pencil, N: Floats) -> float:
    reduced = pencil.whitener.T @ (pencil.R - N) @ pencil.whitener
    return float(np.linalg.eigvalsh((reduced + reduced.T) / 2)[0])


def _solve(problem: Any, solver: str) -> tuple[str, bool]:
    """Solve; with "auto" the next solver is tried when one breaks down. The solver used and whether it is accurate."""
    resolved = resolve_solver(solver)
    names = available_solvers() if solver.lower() == "auto" else [resolved]
    failures = []
    for name in names:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # "Solution may be inaccurate": reported as a status instead
                problem.solve(solver=name)
        except Exception as error:  # solvers raise classes of their own (mosek.Error is no cvxpy.SolverError)
            failures.append(f"{name}: {' '.join(str(error).split()) or type(error).__name__}")
            continue
        values = [v.value for v in problem.variables()]
        if problem.status in ("optimal", "optimal_inaccurate") and all(
            v is not None and np.isfinite(v).all() for v in values
        ):
            return name, problem.status == "optimal"
        failures.append(f"{name}: status {problem.status}")
    raise SolverFailed(f"the semidefinite problem of the beta-step was not solved ({'; '.join(failures)})")
