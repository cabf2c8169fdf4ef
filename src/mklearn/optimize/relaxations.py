"""Semidefinite relaxations of `kernel_weights`: MKL-DR's program as printed, and the doubly nonnegative one.

Both replace bb' by a matrix B. Each is stated in the coordinates where its solver's tolerances are most accurate.
MKL-DR's program is whitened by the generalised eigenvectors, B = V Y V' with V'S'V = I: a congruence that changes
neither feasible set, optimum nor central path. The doubly nonnegative program constrains the entries of B, and the
whitener of nearly dependent kernels (a grid of bandwidths) would scale these constraints badly. It stays in
unit-diagonal coordinates. Its objective is shifted by the smallest eigenvalue and divided by the difference between a
known ratio and this eigenvalue.
"""

from __future__ import annotations

import threading
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.checks import symmetrized
from mklearn.errors import SolverFailed
from mklearn.extras import require
from mklearn.optimize.pencil import Pencil
from mklearn.optimize.solvers import available_solvers, resolve_solver

Floats = NDArray[np.floating]

# Largest matrix variable for which CVXPY caches the compiled program. For larger ones the solution dominates the time.
# From 1000 parameters on, CVXPY 1.9 compiles in another way, which fails on these programs.
_TRANSLATED_ONCE = 20


def literal_sdp(pencil: Pencil, solver: str) -> tuple[Floats, float, str, bool]:
    """Solve the program of MKL-DR (Lin, Liu, Fuh 2008), equations (25)-(28), as printed.

    Return beta in unit-diagonal coordinates (m,), the value, the solver, and whether it reached its tolerances.

    ``min tr(SB)  s.t.  tr(S'B) = 1,  beta >= 0,  [1 beta'; beta B] positive semidefinite.``

    beta enters neither objective nor equality, and beta = 0 is feasible for every B. The value is therefore the
    smallest generalised eigenvalue, whatever the signs of its eigenvector u. If u has one sign, every t u with
    0 <= t <= 1 is an optimal beta. Otherwise only beta = 0 is optimal, and an interior-point method returns the point
    of the central path at which it stopped.
    """
    # Both forms are diagonal in the basis of generalised eigenvectors. Directions of very large eigenvalues (S' nearly
    # singular) are shortened, so that no coefficient is far above 1.
    shorten = np.minimum(1.0, np.sqrt(pencil.size / np.maximum(np.abs(pencil.eigenvalues), pencil.size)))
    W = pencil.vectors * shorten
    unit = max(abs(pencil.lowest), 1e-3 * pencil.size)
    program = _literal_program(pencil.m, threading.get_ident())
    value, used, accurate = program.solve(
        solver, costs=pencil.eigenvalues * shorten**2 / unit, lengths=shorten**2, directions=W
    )
    root = np.asarray(program.variable.value)[1:, 0]
    return W @ root, value * unit, used, accurate


def doubly_nonnegative(pencil: Pencil, solver: str, upper: float) -> tuple[Floats, str]:
    """Solve the doubly nonnegative relaxation; return the multipliers N and the solver.

    ``min tr(SB)  s.t.  tr(S'B) = 1,  B positive semidefinite,  B >= 0 entry by entry.``

    It is exact for up to four kernels: then every such B is a sum of bb' with b >= 0. N >= 0 (m, m) holds the
    multipliers of B >= 0. ``upper``, the ratio of a known b >= 0, sets the unit of the objective.
    """
    m = pencil.m
    unit = max(upper - pencil.lowest, 1e-4 * pencil.size)
    objective = (pencil.R - pencil.lowest * pencil.R_prime) / unit
    program = _doubly_nonnegative_program(m, threading.get_ident())
    _, used, _ = program.solve(solver, objective=objective, scale=pencil.R_prime)
    N = np.zeros((m, m))
    rows, columns = np.triu_indices(m, 1)
    N[rows, columns] = np.maximum(np.ravel(program.problem.constraints[1].dual_value), 0) * unit / 2
    return N + N.T, used


def certified_bound(pencil: Pencil, multipliers: Floats, b: Floats) -> float:
    """Compute a lower bound of the ratio from multipliers N, valid for any accuracy of the solver.

    For every N >= 0 (entry by entry), ``lambda_min(S - N, S')`` is a lower bound of b'Sb / b'S'b for all b >= 0. It is
    tight for the exact multipliers of `doubly_nonnegative`. The function returns the best of three bounds: for N, for
    N = 0, and for N corrected for the solver's rounding. For an optimal b with support J and a tight relaxation,
    ``(S - value S' - N) b = 0``, so N_JJ = 0 and ``N_iJ b_J = ((S - value S') b)_i >= 0`` for i outside J; the
    correction rescales the rows of N accordingly.
    """
    support = b > 0
    slack = np.maximum((pencil.R - pencil.ratio(b) * pencil.R_prime) @ b, 0)
    N = multipliers.copy()
    N[np.ix_(support, support)] = 0
    reached = N[:, support] @ b[support]
    rescale = np.where(reached > 0, slack / np.where(reached > 0, reached, 1), 1)
    for i in np.flatnonzero(~support):
        N[i, support] *= rescale[i]
        N[support, i] = N[i, support]
    return max(pencil.lowest, _copositive_bound(pencil, multipliers), _copositive_bound(pencil, N))


def _copositive_bound(pencil: Pencil, N: Floats) -> float:
    return float(np.linalg.eigvalsh(symmetrized(pencil.whitener.T @ (pencil.R - N) @ pencil.whitener))[0])


@dataclass(frozen=True, eq=False)
class _Program:
    """Semidefinite program whose data are parameters, so that CVXPY compiles it only once."""

    problem: Any
    variable: Any

    def solve(self, solver: str, **data: Floats) -> tuple[float, str, bool]:
        """Solve for these data without a warm start; return value, solver name and whether the solution is accurate."""
        for name, parameter in self.problem.param_dict.items():
            parameter.value = data[name]
        used, accurate = _solve(self.problem, solver)
        return float(self.problem.value), used, accurate


# Programs are cached per thread, because a CVXPY problem holds the data and the solution of the current call.
@lru_cache(maxsize=16)
def _literal_program(m: int, thread: int) -> _Program:
    """Build the program of `literal_sdp` for m kernels."""
    require("cvxpy")
    import cvxpy as cp

    costs, lengths = cp.Parameter(m, name="costs"), cp.Parameter(m, name="lengths")
    directions = cp.Parameter((m, m), name="directions")
    X = cp.Variable((m + 1, m + 1), PSD=True)
    Y, y = X[1:, 1:], X[1:, 0]
    constraints = [X[0, 0] == 1, cp.diag(Y) @ lengths == 1, directions @ y >= 0]
    return _Program(cp.Problem(cp.Minimize(cp.diag(Y) @ costs), constraints), X)


@lru_cache(maxsize=16)
def _doubly_nonnegative_program(m: int, thread: int) -> _Program:
    """Build the program of `doubly_nonnegative` for m kernels; its second constraint is B >= 0."""
    require("cvxpy")
    import cvxpy as cp

    objective, scale = cp.Parameter((m, m), name="objective"), cp.Parameter((m, m), name="scale")
    B = cp.Variable((m, m), PSD=True)
    constraints = [cp.sum(cp.multiply(scale, B)) == 1, cp.upper_tri(B) >= 0]
    return _Program(cp.Problem(cp.Minimize(cp.sum(cp.multiply(objective, B))), constraints), B)


def _solve(problem: Any, solver: str) -> tuple[str, bool]:
    """Solve the problem; return the solver and whether it was accurate. "auto" tries the next solver on failure."""
    resolved = resolve_solver(solver)
    names = available_solvers() if solver.lower() == "auto" else [resolved]
    anew = problem.variables()[0].shape[0] > _TRANSLATED_ONCE
    failures = []
    for name in names:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # "Solution may be inaccurate" is reported as a status
                problem.solve(solver=name, warm_start=False, ignore_dpp=anew)
        except Exception as error:  # solvers raise their own classes (mosek.Error is not a cvxpy.SolverError)
            failures.append(f"{name}: {' '.join(str(error).split()) or type(error).__name__}")
            continue
        values = [v.value for v in problem.variables()]
        solved = all(value is not None and np.isfinite(value).all() for value in values)
        if solved and problem.status in ("optimal", "optimal_inaccurate"):
            return name, problem.status == "optimal"
        failures.append(f"{name}: status {problem.status}")
    raise SolverFailed(f"No solver solved the semidefinite problem of the kernel weights: {'; '.join(failures)}.")
