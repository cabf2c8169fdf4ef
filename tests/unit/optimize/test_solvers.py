"""Choice of the solver: MOSEK only with a working licence, never a silent substitute for a named solver."""

import sys
import types

import pytest

from mklearn.errors import SolverUnavailable
from mklearn.optimize import solvers
from mklearn.optimize.solvers import available_solvers, mosek_problem, resolve_solver


class FakeMosekError(Exception):
    """mosek.Error is not a subclass of any CVXPY error."""


def fake_mosek(calls: list[str], error: Exception | None) -> types.ModuleType:
    class Env:
        def __enter__(self):
            calls.append("open")
            return self

        def __exit__(self, *_):
            calls.append("close")

        def checkoutlicense(self, feature):
            calls.append(feature)
            if error is not None:
                raise error

    module = types.ModuleType("mosek")
    module.Env = Env
    module.feature = types.SimpleNamespace(pton="pton")
    return module


@pytest.fixture(autouse=True)
def fresh_probe():
    mosek_problem.cache_clear()
    yield
    mosek_problem.cache_clear()


@pytest.fixture
def installed(monkeypatch):

    def install(*modules: str) -> None:
        monkeypatch.setattr(solvers, "importable", lambda name: name in modules)

    return install


def test_mosek_is_used_with_a_working_licence(monkeypatch):
    calls: list[str] = []
    monkeypatch.setitem(sys.modules, "mosek", fake_mosek(calls, None))
    assert mosek_problem() is None
    assert resolve_solver() == "MOSEK"
    assert resolve_solver("mosek") == "MOSEK"
    assert available_solvers()[0] == "MOSEK"
    assert calls == ["open", "pton", "close"]  # probed once, and returned


def test_mosek_without_a_licence(monkeypatch):
    calls: list[str] = []
    error = FakeMosekError("rescode.err_missing_license_file(1008):\n License cannot be located.")
    monkeypatch.setitem(sys.modules, "mosek", fake_mosek(calls, error))
    assert resolve_solver("auto") == "CLARABEL"
    with pytest.raises(SolverUnavailable, match=r"License cannot be located.*auto' would use CLARABEL"):
        resolve_solver("MOSEK")
    assert calls == ["open", "pton", "close"]


def test_not_installed(installed):
    installed("clarabel")
    assert resolve_solver("AUTO") == "CLARABEL"
    with pytest.raises(SolverUnavailable, match="'mosek' is not installed"):
        resolve_solver("MOSEK")
    with pytest.raises(SolverUnavailable, match="'cvxopt' is not installed"):
        resolve_solver("cvxopt")


def test_no_solver_at_all(installed):
    installed()
    with pytest.raises(SolverUnavailable, match="no semidefinite solver"):
        resolve_solver()
    with pytest.raises(SolverUnavailable, match="no other semidefinite solver"):
        resolve_solver("clarabel")


def test_unknown_name(installed):
    installed("clarabel")
    with pytest.raises(SolverUnavailable, match=r"known: auto, MOSEK, CLARABEL"):
        resolve_solver("GUROBIX")
    with pytest.raises(SolverUnavailable, match="None"):
        resolve_solver(None)
