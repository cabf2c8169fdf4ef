"""Which convex solver can run here: MOSEK where a licence really works, else CLARABEL.

That a solver is installed is not enough: without a licence MOSEK imports, is listed by CVXPY as installed, and fails
only when a problem is solved. So the licence is asked for once per process.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from functools import cache

from mklearn.errors import SolverUnavailable

#: Solvers of semidefinite problems that CVXPY can call, by CVXPY's name, with the module each needs.
SDP_SOLVERS: dict[str, str] = {"MOSEK": "mosek", "CLARABEL": "clarabel", "CVXOPT": "cvxopt", "SCS": "scs"}

#: What "auto" tries, in this order.
PREFERENCE: tuple[str, ...] = ("MOSEK", "CLARABEL")


@cache
def mosek_problem() -> str | None:
    """Why MOSEK can't run here, in one sentence; None when it can.

    A licence of the conic optimiser is checked out and handed back, without solving anything. The answer is kept for
    the life of the process; ``mosek_problem.cache_clear()`` asks anew.
    """
    if not _importable("mosek"):
        return "the Python package 'mosek' is not installed (pip install 'mklearn[mosek]')"
    try:
        mosek = importlib.import_module("mosek")
        with mosek.Env() as environment:
            environment.checkoutlicense(mosek.feature.pton)
    except Exception as error:  # mosek.Error has no common base with other failures (missing library, broken file)
        reason = " ".join(str(error).split()) or type(error).__name__
        return (
            f"MOSEK is installed but gives no licence ({reason}): put a valid mosek.lic where MOSEKLM_LICENSE_FILE "
            "points, or in the folder 'mosek' of the home folder"
        )
    return None


def solver_problem(name: str) -> str | None:
    """Why the solver called ``name`` can't run here, in one sentence; None when it can."""
    if name not in SDP_SOLVERS:
        return f"there is no solver of that name here (known: auto, {', '.join(SDP_SOLVERS)})"
    if name == "MOSEK":
        return mosek_problem()
    if not _importable(SDP_SOLVERS[name]):
        return f"the Python package {SDP_SOLVERS[name]!r} is not installed"
    return None


def available_solvers() -> list[str]:
    """The solvers that "auto" would try, best first."""
    return [name for name in PREFERENCE if solver_problem(name) is None]


def resolve_solver(solver: str = "auto") -> str:
    """The name, as CVXPY spells it, of the solver to use.

    Parameters
    ----------
    solver : str
        "auto" (MOSEK where a licence works, else CLARABEL) or a name of `SDP_SOLVERS`, in any case.

    Raises
    ------
    SolverUnavailable
        A named solver that can't run here, or "auto" where none can: says what is missing and what would be used.
    """
    usable = available_solvers()
    if isinstance(solver, str) and solver.lower() == "auto":
        if not usable:
            reasons = "; ".join(f"{name}: {solver_problem(name)}" for name in PREFERENCE)
            raise SolverUnavailable(f"solver='auto' finds no semidefinite solver: {reasons}")
        return usable[0]
    name = solver.upper() if isinstance(solver, str) else str(solver)
    problem = solver_problem(name)
    if problem is not None:
        instead = f"solver='auto' would use {usable[0]}" if usable else "no other semidefinite solver is installed"
        raise SolverUnavailable(f"solver={solver!r} can't run here: {problem}; {instead}")
    return name


def _importable(module: str) -> bool:
    if module in sys.modules:
        return sys.modules[module] is not None
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False
