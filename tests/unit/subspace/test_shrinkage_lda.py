"""scikit-learn's shrinkage LDA: the same numbers in less time, and a word where nothing is shrunk."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from mklearn.subspace.shrinkage_lda import UNSHRUNK, ShrinkageLDA


def samples(n: int, c: int = 5, d: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    y = np.repeat(np.arange(c), n)
    X = rng.normal(size=(c * n, d)) * rng.uniform(0.1, 9, d) + 3 * rng.normal(size=(c, d))[y] + 100
    X[:, 7] = 4.0  # a feature that is constant, and one that is constant within one class
    X[y == 2, 11] = 1.5
    return X, y


@pytest.mark.parametrize("n", [3, 4, 12, 80])
@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
def test_is_scikit_learns(n: int, solver: str) -> None:
    X, y = samples(n)
    X = X if solver == "lsqr" else np.delete(X, 7, axis=1)  # nothing is defined where no class varies
    reference = LinearDiscriminantAnalysis(solver=solver, shrinkage="auto").fit(X, y)
    model = ShrinkageLDA(solver=solver, shrinkage="auto").fit(X, y)
    np.testing.assert_allclose(model.covariance_, reference.covariance_, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(model.coef_, reference.coef_, rtol=1e-6, atol=1e-9 * np.abs(reference.coef_).max())
    np.testing.assert_array_equal(model.predict(X), reference.predict(X))
    assert (model.status_, model.message_) == ("ok", "")
    assert model.get_params() == reference.get_params()
    assert set(vars(model)) == {*vars(reference), "status_", "message_"}


@pytest.mark.parametrize("parameters", [{}, {"solver": "lsqr", "shrinkage": 0.3}, {"solver": "lsqr"}])
def test_otherwise_it_is_left_to_scikit_learn(parameters: dict[str, object]) -> None:
    X, y = samples(12)
    reference = LinearDiscriminantAnalysis(**parameters).fit(X, y)
    np.testing.assert_array_equal(ShrinkageLDA(**parameters).fit(X, y).coef_, reference.coef_)


def test_two_samples_in_a_class_are_not_shrunk_and_that_is_said() -> None:
    X, y = samples(2)
    model = ShrinkageLDA(solver="lsqr", shrinkage="auto").fit(X, y)
    assert (model.status_, model.message_) == ("inaccurate", UNSHRUNK)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reference = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(X, y)
    np.testing.assert_allclose(model.covariance_, reference.covariance_, rtol=1e-10, atol=1e-10)
    assert ShrinkageLDA(solver="lsqr", shrinkage="auto").fit(*samples(4)).status_ == "ok"


def test_the_solver_that_can_not_shrink_says_so() -> None:
    with pytest.raises(NotImplementedError, match="shrinkage"):
        ShrinkageLDA(solver="svd", shrinkage="auto").fit(*samples(4))
