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
    assert resolve_solver("auto") == resolve_solver("AUTO") == "CLARABEL"
    with pytest.raises(SolverUnavailable, match=r"License cannot be located.*auto' would use CLARABEL"):
        resolve_solver("MOSEK")
    assert calls == ["open", "pton", "close"]


@pytest.mark.parametrize(
    ("modules", "name", "words"),
    [
        (["clarabel"], "MOSEK", "'mosek' is not installed"),
        (["clarabel"], "cvxopt", "'cvxopt' is not installed"),
        ([], "auto", "no semidefinite solver"),
        ([], "clarabel", "no other semidefinite solver"),
        (["clarabel"], "GUROBIX", "known: auto, MOSEK, CLARABEL"),
        (["clarabel"], None, "None"),
    ],
)
def test_solvers_that_can_not_be_used(monkeypatch, modules, name, words):
    monkeypatch.setattr(solvers, "importable", lambda module: module in modules)
    with pytest.raises(SolverUnavailable, match=words):
        resolve_solver(name)
