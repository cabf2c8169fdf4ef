"""Leave-one-out prediction: against explicit refits, derivatives, optimality, invariances, useless kernels."""

import numpy as np
import pytest
from tests.ridge_refits import left_out_outputs

from mklearn.classifiers.multi_view import MultiViewClassifier
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.graphs import lda_graph
from mklearn.optimize.leave_one_out_ridge import LeaveOneOutRidge, class_targets, leave_one_out_weights

N = 26
LABELS = np.arange(N) % 3


def kernels(seed: int, count: int = 4) -> list[np.ndarray]:
    """Kernels of growing quality and very different scales, not centred."""
    rng = np.random.default_rng(seed)
    found = []
    for m in range(count):
        X = rng.normal(size=(N, 3)) + 0.5 * m * rng.normal(size=(3, 3))[LABELS]
        d2 = ((X[:, None] - X[None]) ** 2).sum(axis=2)
        found.append(7.0**m * (np.exp(-d2 / d2.mean()) + 0.1 * m))
    return found


def targets(labels: np.ndarray = LABELS) -> np.ndarray:
    classes = lda_graph(labels).lda_classes
    assert classes is not None
    return class_targets(classes)


def shares(seed: int, count: int = 4) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.ones(count))


def value_of(objective: LeaveOneOutRidge, q: np.ndarray, ridge: float) -> float:
    return objective.evaluate(q, ridge).value


GROUPS = np.arange(N) // 3 % 7
"""Seven groups of three or six samples, of several classes each."""
WEIGHTS = np.random.default_rng(5).integers(1, 4, size=N).astype(float)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["samples", "groups"])
@pytest.mark.parametrize("ridge", [1e-3, 0.3, 20.0])
def test_errors_are_those_of_refits(ridge: float, weights: np.ndarray | None, groups: np.ndarray | None) -> None:
    Y, q, stack = targets(), shares(0), kernels(0)
    objective = LeaveOneOutRidge(stack, Y, ridge, weights, groups)
    weights, groups = np.ones(N) if weights is None else weights, np.arange(N) if groups is None else groups
    p, root = weights / weights.sum(), np.sqrt(weights)[:, None]
    traces = [p @ np.diag(K) - p @ K @ p for K in stack]
    np.testing.assert_allclose(objective.traces, traces)
    K = sum(share / t * kernel for share, t, kernel in zip(q, traces, stack, strict=True))
    at = objective.evaluate(q)
    outputs = left_out_outputs(K, Y, ridge, weights, groups)
    np.testing.assert_allclose(Y - at.errors / root, outputs, rtol=1e-8, atol=1e-9)
    # beyond the mean of the others, up to the best positive multiple
    others = np.array([np.average(Y[groups != each], axis=0, weights=weights[groups != each]) for each in groups])
    np.testing.assert_allclose(at.outputs / root, outputs - others, rtol=1e-8, atol=1e-9)
    F, T = root * (outputs - others), root * (Y - others)
    multiples = np.linspace(0, 3 * at.multiple, 301)
    assert at.value == pytest.approx(min(np.sum((T - a * F) ** 2) for a in multiples) / np.sum(T**2), rel=1e-6)
    assert at.value <= np.sum((root * (Y - outputs)) ** 2) / np.sum(T**2)


def test_optimum() -> None:
    objective = LeaveOneOutRidge(kernels(3), targets(), 0.1)
    found = leave_one_out_weights(objective, shrinkage=0, tol=1e-13)
    assert found.status == "converged"
    assert (np.diff(found.history) <= 0).all()
    assert found.history[0] == pytest.approx(min(value_of(objective, np.full(4, 0.25), 0.1 * 3**k) for k in range(7)))
    assert found.value <= found.history[0]
    # less than 1e-3 is given up for each kernel that a ridge does as well as
    assert found.history[-1] <= found.value * (1 + 1e-9) <= found.history[-1] * 1.004
    assert found.ridge > 0.1
    rng = np.random.default_rng(0)
    for q, ridge in zip(rng.dirichlet(np.full(4, 0.7), 300), 0.1 * np.exp(5 * rng.random(300)), strict=True):
        assert value_of(objective, q, ridge) >= found.history[-1] - 1e-9


@pytest.mark.parametrize("least", [0.01, 1.0, 5.0])
def test_the_ridge_is_learned_from_its_lower_bound_upwards(least: float) -> None:
    objective = LeaveOneOutRidge([kernels(3)[3], kernels(4)[3]], targets(), least)
    found = leave_one_out_weights(objective, shrinkage=0, tol=1e-13)
    values = {factor: value_of(objective, found.shares, found.ridge * factor) for factor in (0.98, 1.0, 1.02)}
    assert found.ridge >= least
    assert values[1.02] >= values[1.0] - 1e-12
    assert found.ridge < 1.02 * least or values[0.98] >= values[1.0] - 1e-9


def test_shrinkage_equalises_positive_shares_and_keeps_zeros() -> None:
    objective = LeaveOneOutRidge([*kernels(3), 0.6 * np.eye(N) + 0.4], targets())
    best = leave_one_out_weights(objective, shrinkage=0)
    optimum = best.shares
    half = leave_one_out_weights(objective, shrinkage=0.5)
    used = optimum >= 1e-3 * optimum.max()
    np.testing.assert_array_equal(used, [True, True, True, True, False])
    np.testing.assert_allclose(half.shares, np.sqrt(optimum * used) / np.sqrt(optimum * used).sum())
    assert best.value <= half.value <= half.history[0]
    assert half.value == pytest.approx(value_of(objective, half.shares, half.ridge))
    # here that is the average of all kernels, but for the ridge in the fifth
    level = leave_one_out_weights(objective, shrinkage=1)
    np.testing.assert_allclose(level.shares, used / 4)
    assert level.value <= level.history[0] * (1 + 1e-9)
    # and where all kernels with equal shares have a smaller error than the kept ones, they are returned
    assert leave_one_out_weights(LeaveOneOutRidge(kernels(126), targets(), 0.1), shrinkage=1).status == "uniform"


def test_scales_and_constants_of_kernels_do_not_matter() -> None:
    stack, factors = kernels(5), np.array([1e-6, 1.0, 30.0, 2e4])
    base = leave_one_out_weights(LeaveOneOutRidge(stack, targets()))
    scaled = [c * K + 3 * c for c, K in zip(factors, stack, strict=True)]
    other = leave_one_out_weights(LeaveOneOutRidge(scaled, targets()))
    np.testing.assert_allclose(other.shares, base.shares, rtol=1e-4, atol=1e-6)
    expected = base.weights / factors
    np.testing.assert_allclose(other.weights, expected / expected.sum(), rtol=1e-4, atol=1e-9)
    assert other.value == pytest.approx(base.value)
    times = leave_one_out_weights(LeaveOneOutRidge(stack, 5 * targets() + 2))
    np.testing.assert_allclose(times.shares, base.shares, rtol=1e-4, atol=1e-6)


def test_identity_like_kernels_predict_nothing() -> None:
    identity = 0.6 * np.eye(N) + 0.4
    at = LeaveOneOutRidge([identity], targets()).evaluate([1.0])
    assert (at.value, at.multiple) == (1.0, 0.0)
    np.testing.assert_allclose(at.outputs, 0, atol=1e-12)
    # beside others it could serve as a ridge: it gets no share for that
    for least in (0.01, 1.0):
        found = leave_one_out_weights(LeaveOneOutRidge([*kernels(7), identity], targets(), least))
        without = leave_one_out_weights(LeaveOneOutRidge(kernels(7), targets(), least))
        assert found.shares[4] == 0
        np.testing.assert_allclose(found.shares[:4], without.shares, atol=0.02)


def test_useless_kernels_leave_equal_shares() -> None:
    """Samples that resemble other classes only: predictions are worse than chance for all weights."""
    contrary = [np.eye(N) + c * (LABELS[:, None] != LABELS) for c in (0.02, 0.05)]
    found = leave_one_out_weights(LeaveOneOutRidge(contrary, targets()))
    assert (found.status, found.value) == ("uniform", 1.0)
    np.testing.assert_array_equal(found.shares, [0.5, 0.5])


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"regularisation": 0.0}, ConfigError, "0.0 for `regularisation`"),
        ({"kernels": [np.ones((N, N))]}, NotApplicable, "constant"),
        ({"kernels": [np.abs(np.subtract.outer(np.arange(N), np.arange(N)))]}, DataError, "0 has the centred trace"),
        ({"kernels": [np.full((N, N), np.nan)]}, DataError, "the kernel has NaN or infinite entries"),
    ],
)
def test_errors(change: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        LeaveOneOutRidge(**({"kernels": kernels(0), "targets": targets()} | change))


def test_kernels_far_from_positive_semidefinite() -> None:
    K = np.eye(N) - 4 * np.outer(targets()[:, 0], targets()[:, 0])
    with pytest.raises(DataError, match="psd_repair"):
        LeaveOneOutRidge([K], targets(), 1e-3).evaluate([1.0])
    with pytest.raises(DataError, match="kernel 1 has the centred trace"):
        MultiViewClassifier(kernels="precomputed").fit(np.stack([np.eye(N), -np.eye(N)], 2), np.arange(N) % 2)


def test_an_error_of_zero_has_nothing_to_minimise() -> None:
    X, y = np.tile([[0.0], [1.0]], (4, 1)), np.tile(["a", "b"], 4)
    assert MultiViewClassifier().fit(X, y).score(X, y) == 1


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["samples", "groups"])
@pytest.mark.parametrize("Y", [targets(), np.random.default_rng(5).normal(size=(N, 3))], ids=["classes", "numbers"])
def test_gradient_with_groups_and_weights(weights: np.ndarray | None, groups: np.ndarray | None, Y: np.ndarray) -> None:
    objective, q, ridge, h = LeaveOneOutRidge(kernels(1), Y, 0.2, weights, groups), shares(1), 0.5, 1e-6
    gradient, by_ridge = objective.gradient(objective.evaluate(q, ridge))
    for m in range(4):
        # along shares of sum 1, to which they are scaled: d/dq_m minus the mean slope
        step = h * (np.eye(4)[m] - q)
        slope = (value_of(objective, q + step, ridge) - value_of(objective, q - step, ridge)) / (2 * h)
        assert slope == pytest.approx(gradient[m] - gradient @ q, rel=1e-5, abs=1e-8)
    slope = (value_of(objective, q, ridge + h) - value_of(objective, q, ridge - h)) / (2 * h)
    assert slope == pytest.approx(by_ridge, rel=1e-5, abs=1e-8)


def test_weights_are_repeated_samples_that_are_left_out_together() -> None:
    Y, stack = targets(), kernels(2)
    rows = np.repeat(np.arange(N), WEIGHTS.astype(int))
    repeated = LeaveOneOutRidge([K[np.ix_(rows, rows)] for K in stack], Y[rows], 0.3, None, rows)
    weighted = LeaveOneOutRidge(stack, Y, 0.3, WEIGHTS)
    one, two = (leave_one_out_weights(objective) for objective in (weighted, repeated))
    assert one.status == two.status == "converged"
    np.testing.assert_allclose(one.shares, two.shares, atol=1e-5)
    assert one.value == pytest.approx(two.value)
