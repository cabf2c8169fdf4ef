"""The standard quadratic program: against random points, projected gradient, theory, optimality conditions."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mklearn.errors import DataError
from mklearn.optimize.simplex_qp import simplex_qp

SIZES = range(6, 12)


def random_symmetric(m: int, seed: int, kind: str = "normal") -> np.ndarray:
    rng = np.random.default_rng([m, seed])
    B = rng.normal(size=(m, m))
    if kind == "copositive-like":  # large off the diagonal: interior solutions
        return np.abs(B + B.T) * (1 - np.eye(m))
    if kind == "nearly definite":
        return B @ B.T - 0.3 * np.abs(B).max() * np.eye(m)
    return B + B.T


def brute_force(Q: np.ndarray) -> float:
    """Every support's bordered linear system, with no pruning."""
    m, best = len(Q), Q.diagonal().max()
    for size in range(2, m + 1):
        for support in combinations(range(m), size):
            border = np.ones((size + 1, size + 1))
            border[:size, :size] = Q[np.ix_(support, support)]
            border[-1, -1] = 0
            solution = np.linalg.solve(border, np.eye(size + 1)[-1])[:size]
            if (solution >= 0).all():
                best = max(best, solution @ Q[np.ix_(support, support)] @ solution)
    return best


@pytest.mark.parametrize("kind", ["normal", "copositive-like", "nearly definite"])
@pytest.mark.parametrize("m", SIZES)
def test_exact_is_never_beaten(m: int, kind: str) -> None:
    for seed in range(3):
        Q = random_symmetric(m, seed, kind)
        found = simplex_qp(Q)
        assert found.status == "optimal"
        assert found.value == pytest.approx(brute_force(Q), abs=1e-11)


@pytest.mark.parametrize("status", ["optimal", "local"])
@pytest.mark.parametrize("m", SIZES)
def test_optimality_conditions(m: int, status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if status == "local":
        monkeypatch.setitem(simplex_qp.__globals__, "MAX_SUPPORTS", 0)
    for seed in range(5):
        Q = random_symmetric(m, seed, "copositive-like") * 1e5 + 1e6
        found = simplex_qp(Q)
        assert found.status == status
        gradient = Q @ found.theta
        np.testing.assert_allclose(gradient[found.theta > 0], found.value, rtol=1e-12)
        assert (gradient <= found.value + 1e-7).all()
        assert found.theta.sum() == pytest.approx(1, abs=1e-14)
        assert (found.theta >= 0).all()


@settings(max_examples=40)
@given(st.integers(2, 9), st.integers(0, 10**6), st.floats(1e-3, 1e3), st.floats(-10, 10))
def test_equivariance(m: int, seed: int, factor: float, shift: float) -> None:
    Q = random_symmetric(m, seed)
    order = np.random.default_rng(seed).permutation(m)
    found = simplex_qp(Q)
    np.testing.assert_allclose(simplex_qp(Q[np.ix_(order, order)]).theta, found.theta[order], atol=1e-9)
    moved = simplex_qp(factor * Q + shift)
    np.testing.assert_allclose(moved.theta, found.theta, atol=1e-8)
    assert moved.value == pytest.approx(factor * found.value + shift, rel=1e-9, abs=1e-9)


def test_many_entries() -> None:
    Q = random_symmetric(30, 0, "copositive-like")
    found = simplex_qp(Q)
    assert found.status == "local"
    order = np.random.default_rng(0).permutation(30)
    assert simplex_qp(Q[np.ix_(order, order)]).value == pytest.approx(found.value, abs=1e-10)
    # No concave pair: exact whatever the number.
    B = np.random.default_rng(0).normal(size=(40, 4))
    found = simplex_qp(B @ B.T)
    assert (found.status, np.flatnonzero(found.theta)) == ("optimal", [np.argmax((B**2).sum(axis=1))])


def test_constant_and_single() -> None:
    np.testing.assert_allclose(simplex_qp(np.full((5, 5), 3.0)).theta, 0.2)
    assert simplex_qp(np.full((5, 5), 3.0)).value == pytest.approx(3)
    np.testing.assert_array_equal(simplex_qp([[-2.0]]).theta, [1.0])


@pytest.mark.parametrize(
    ("Q", "message"),
    [
        (np.ones((2, 3)), "square"),
        ([[0.0, 1.0], [2.0, 0.0]], "symmetric"),
    ],
)
def test_errors(Q: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        simplex_qp(Q)
