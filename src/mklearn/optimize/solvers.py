"""Choice of the convex solver: MOSEK where a licence works, else CLARABEL.

CVXPY lists MOSEK as installed even without a licence, and MOSEK then fails when it solves a problem. The licence is
therefore probed once per process.
"""

from __future__ import annotations

import importlib
from functools import cache

from mklearn.errors import SolverUnavailable
from mklearn.extras import importable

#: CVXPY's names of solvers for semidefinite problems, with the Python module that each needs.
SDP_SOLVERS: dict[str, str] = {"MOSEK": "mosek", "CLARABEL": "clarabel", "CVXOPT": "cvxopt", "SCS": "scs"}

#: The solvers that "auto" tries, in order.
PREFERENCE: tuple[str, ...] = ("MOSEK", "CLARABEL")


@cache
def mosek_problem() -> str | None:
    """Return the reason why MOSEK can't run here, as one sentence, or None if it can.

    A licence of the conic optimiser is checked out and released; nothing is solved. ``mosek_problem.cache_clear()``
    discards the cached answer.
    """
    if not importable("mosek"):
        return "the Python package 'mosek' is not installed (pip install 'mklearn[mosek]')"
    try:
        mosek = importlib.import_module("mosek")
        with mosek.Env() as environment:
            environment.checkoutlicense(mosek.feature.pton)
    except Exception as error:  # mosek.Error shares no base class with a missing library or a broken file
        reason = " ".join(str(error).split()) or type(error).__name__
        return (
            f"MOSEK is installed but has no licence ({reason}): put a valid mosek.lic where MOSEKLM_LICENSE_FILE "
            "points, or in the folder 'mosek' of the home folder"
        )
    return None


def solver_problem(name: str) -> str | None:
    """Return the reason why the solver ``name`` can't run here, as one sentence, or None if it can."""
    if name not in SDP_SOLVERS:
        return f"unknown solver (known: auto, {', '.join(SDP_SOLVERS)})"
    if name == "MOSEK":
        return mosek_problem()
    if not importable(SDP_SOLVERS[name]):
        hint = " (pip install 'mklearn[sdp]')" if name == "CLARABEL" else ""
        return f"the Python package {SDP_SOLVERS[name]!r} is not installed{hint}"
    return None


def available_solvers() -> list[str]:
    """Return the solvers that "auto" can use here, best first."""
    return [name for name in PREFERENCE if solver_problem(name) is None]


def resolve_solver(solver: str = "auto") -> str:
    """Return the CVXPY name of the solver to use.

    Parameters
    ----------
    solver : str
        "auto" (MOSEK where a licence works, else CLARABEL) or a name in `SDP_SOLVERS`, in any case.

    Raises
    ------
    SolverUnavailable
        The named solver can't run here, or with "auto" none can. The message says what is missing.
    """
    usable = available_solvers()
    name = str(solver).upper()
    if name == "AUTO":
        if not usable:
            reasons = "; ".join(f"{name}: {solver_problem(name)}" for name in PREFERENCE)
            raise SolverUnavailable(f"solver='auto' found no semidefinite solver: {reasons}")
        return usable[0]
    problem = solver_problem(name)
    if problem is not None:
        instead = f"solver='auto' would use {usable[0]}" if usable else "no other semidefinite solver is installed"
        raise SolverUnavailable(f"solver={solver!r} can't run here: {problem}; {instead}")
    return name
