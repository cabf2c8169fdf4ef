"""Convex MKL-DR: against discriminant analysis, and its optimality as an estimator."""

import numpy as np
import pytest
from scipy.linalg import eigh, subspace_angles
from tests.unit.subspace.problems import LABELS, features, gaussian_kernels, scatters

from mklearn.subspace.convex_mkldr import ConvexMKLDR


@pytest.mark.parametrize("denominator", ["total", "within"])
def test_linear_kernel_is_ridge_discriminant_analysis(denominator):
    X = features(0)[2]
    model = ConvexMKLDR(denominator=denominator, ridge=0.2).fit(X @ X.T, LABELS)
    between, within = scatters(X, LABELS)
    ridge = 0.2 * np.trace(within + between) / len(X)
    below = (within + between if denominator == "total" else within) + ridge * np.eye(4)
    omega, V = eigh(between, below)
    assert subspace_angles(X.T @ model.coefficients_, V[:, -2:]).max() < 1e-6
    np.testing.assert_allclose(model.ratios_, omega[:-3:-1], rtol=1e-9)
    assert model.objective_ == pytest.approx(np.trace(np.linalg.solve(below, between)), rel=1e-9)
    assert model.ridge_amount_ == pytest.approx(ridge)
    np.testing.assert_array_equal(model.kernel_weights_, [1.0])
    assert model.n_iter_ == 1


@pytest.mark.parametrize("denominator", ["total", "within"])
@pytest.mark.parametrize("p", [1.0, np.inf])
def test_equal_weights_are_the_method_on_the_average_kernel(denominator, p):
    K = gaussian_kernels(1)
    model = ConvexMKLDR(p=p, denominator=denominator, kernel_weights="uniform").fit(K, LABELS)
    average = ConvexMKLDR(denominator=denominator).fit(K.mean(axis=-1), LABELS)
    learned = ConvexMKLDR(p=p, denominator=denominator).fit(K, LABELS)
    np.testing.assert_allclose(model.kernel_weights_, np.full(3, 1 / 3), rtol=1e-15)
    np.testing.assert_allclose(model.embedding_, average.embedding_, rtol=0, atol=1e-9 * np.ptp(average.embedding_))
    assert model.objective_ == pytest.approx(average.objective_, rel=1e-12)
    assert (model.status_, model.n_iter_) == ("uniform", 1)
    if np.isinf(p):
        np.testing.assert_array_equal(learned.kernel_weights_, np.full(3, 1 / 3))
        assert (learned.n_iter_, learned.status_) == (1, "optimal")
    else:
        assert model.objective_ == learned.objective_history_[0] < learned.objective_ <= model.certificate_["bound"]


@pytest.mark.parametrize("denominator", ["total", "within"])
@pytest.mark.parametrize("scaling", ["total", "within"])
def test_embedding_has_the_scatters_that_the_scaling_says(denominator, scaling):
    K = gaussian_kernels(1)
    model = ConvexMKLDR(denominator=denominator, scaling=scaling).fit(K, LABELS)
    A, Z = model.coefficients_, model.embedding_
    penalty = 2 * model.ridge_amount_ * A.T @ (K @ model.kernel_weights_) @ A
    between, within = scatters(Z, LABELS)
    total, within = 2 * (between + within) + penalty, 2 * within + penalty
    unit, other, scale = (total, within, 1.0) if scaling == "total" else (within, total, -1.0)
    np.testing.assert_allclose(unit, np.eye(2), atol=1e-8)
    np.testing.assert_allclose(other, np.diag(model.eigenvalues_**scale), rtol=1e-6, atol=1e-8 * np.abs(other).max())
    assert (np.diff(model.eigenvalues_) >= 0).all()


@pytest.mark.parametrize("denominator", ["total", "within"])
@pytest.mark.parametrize("p", [1.0, 2.0])
def test_result_is_certified(denominator, p):
    model = ConvexMKLDR(p=p, denominator=denominator, tol=1e-9).fit(gaussian_kernels(2), LABELS)
    assert model.status_ == "optimal"
    assert model.kernel_weights_.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(model.kernel_weights_, model.theta_ / model.theta_.sum())
    assert np.linalg.norm(model.theta_, p) == pytest.approx(3 ** (1 / p - 1))
    assert model.certificate_["gap"] <= 1e-9
    assert model.certificate_["value"] == model.objective_ == model.objective_history_[-1]
    assert model.certificate_["bound"] >= model.objective_
    assert len(model.objective_history_) == model.n_iter_
    assert (np.diff(model.objective_history_) >= -1e-12 * model.objective_).all()
    assert model.ratios_.sum() == pytest.approx(model.objective_, rel=1e-9)
    # The dual norm of the gradient is what the norm constraint balances.
    dual = model.gradient_.max() if p == 1 else np.linalg.norm(model.gradient_)
    assert 3 ** (1 / p - 1) * dual == pytest.approx(model.gradient_ @ model.theta_, rel=1e-8)


def test_small_ridges_reward_the_identity_and_large_ones_do_not():
    # The documented trap: K = I separates any training classes.
    K = np.concatenate([gaussian_kernels(7), np.eye(36)[..., None]], axis=-1)
    weights = [ConvexMKLDR(p=1, ridge=ridge).fit(K, LABELS).kernel_weights_[3] for ridge in (1e-3, 10.0)]
    assert weights[0] > 0.5
    assert weights[1] < 0.05
