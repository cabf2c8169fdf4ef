"""Threads of linear algebra inside fit and predict: one for few samples, and what a user has set."""

from __future__ import annotations

import contextlib
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from threadpoolctl import threadpool_limits

from mklearn.base import fit_context as module
from mklearn.base.fit_context import fit_context
from mklearn.base.kernels_mixin import KernelsMixin
from mklearn.kernels.views import Views


def now() -> list[int]:
    return [library.num_threads for library, _ in module._LIBRARIES if library.user_api == "blas"]


class Counting(KernelsMixin, BaseEstimator):
    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    @fit_context
    def fit(self, X, y=None):
        self.of_fit_ = now()
        return self

    def predict(self, X):
        return now()


@pytest.fixture
def three_threads(monkeypatch: pytest.MonkeyPatch):
    """Three threads, as of a library that nobody has limited."""
    for name in module._VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(module, "_LIBRARIES", [(library, 3) for library, _ in module._LIBRARIES])
    with threadpool_limits(3):
        yield


FEW, MANY = np.zeros((20, 2)), np.zeros((module.FEWEST_SAMPLES, 1))


@pytest.mark.parametrize("form", [np.asarray, lambda X: {"a": X}, lambda X: [X, X], lambda X: Views([X])])
@pytest.mark.parametrize(("X", "expected"), [(FEW, 1), (MANY, 3)])
def test_few_samples_have_one_thread_and_the_number_is_kept(three_threads, form, X, expected) -> None:
    model = Counting().fit(form(X))
    assert set(model.of_fit_) == set(model.predict(form(X))) == {expected}
    assert set(now()) == {3}


def test_the_number_comes_back_after_an_error(three_threads) -> None:
    class Failing(Counting):
        def predict(self, X):
            raise ValueError

    with contextlib.suppress(ValueError):
        Failing().predict(FEW)
    assert set(now()) == {3}


@pytest.mark.parametrize("limit", [1, 2])
def test_a_limit_of_the_user_stays(three_threads, limit: int) -> None:
    with threadpool_limits(limit):
        assert set(Counting().fit(X=FEW).of_fit_) == {limit}
        assert set(now()) == {limit}


def test_an_environment_variable_stays(three_threads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert set(Counting().fit(FEW).of_fit_) == {3}
