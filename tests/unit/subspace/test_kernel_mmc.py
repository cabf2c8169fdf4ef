"""The kernel maximum margin criterion: equal to the linear one, its constraints, optimality, its pair sums."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.spatial.distance import pdist
from tests.unit.subspace.problems import gaussian

from mklearn.graphs import margin_laplacian
from mklearn.subspace.kernel_mmc import KernelMMC
from mklearn.subspace.mmc import MMC

CONSTRAINTS = ["rkhs", "coef", "sample"]


@pytest.fixture
def wine(wine):
    X, y = wine
    return X[::2], y[::2]


def metric(K, constraint):
    return {"rkhs": K, "coef": np.eye(len(K)), "sample": K @ K}[constraint]


@pytest.mark.parametrize("trade_off", [1.0, 4.0, "trace_ratio"])
@pytest.mark.parametrize("wide", [False, True])
def test_linear_kernel_is_the_linear_criterion(wine, trade_off, wide):
    X, y = wine
    if wide:  # more features than samples
        X = X @ np.random.default_rng(0).normal(size=(13, 200)) + np.random.default_rng(1).normal(size=(len(X), 200))
    linear, kernel = MMC(trade_off=trade_off).fit(X, y), KernelMMC(trade_off=trade_off).fit(X @ X.T, y)
    assert kernel.trade_off_ == pytest.approx(linear.trade_off_)
    np.testing.assert_allclose(kernel.eigenvalues_, linear.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(X.T @ kernel.coefficients_), np.abs(linear.components_.T), atol=1e-7)
    T = X[::3] + 0.1
    np.testing.assert_allclose(pdist(kernel.transform(T @ X.T)), pdist(linear.transform(T)), rtol=1e-7)


def test_printed_constraint_is_not_the_linear_criterion(wine):
    """(13) "is exactly Kernel MMC, which is equivalent to that in [2]": not with coefficients held to A'A = I."""
    X, y = wine
    linear, printed = MMC().fit(X, y), KernelMMC(constraint="coef").fit(X @ X.T, y)
    directions = np.linalg.qr(X.T @ printed.coefficients_)[0]
    assert np.linalg.svd(directions.T @ linear.components_.T, compute_uv=False).min() < 0.999


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_constraint_and_optimality(wine, constraint):
    X, y = wine
    K = gaussian(X)
    L = margin_laplacian(y).toarray()
    model = KernelMMC(4, constraint=constraint).fit(K, y)
    A, M = model.coefficients_, metric(K, constraint)
    np.testing.assert_allclose(A.T @ M @ A, np.eye(4), atol=1e-8)
    np.testing.assert_allclose(A.T @ K @ L @ K @ A, np.diag(model.eigenvalues_), atol=1e-8)
    reference = eigh(K @ L @ K, M, eigvals_only=True)[::-1][:4]
    np.testing.assert_allclose(model.eigenvalues_, reference, atol=1e-7)
    assert model.objective_ == pytest.approx(reference.sum(), abs=1e-7)
    np.testing.assert_allclose(model.embedding_, K @ A)
    pivots = A[np.abs(A).argmax(axis=0), np.arange(4)]
    assert (pivots > 0).all()


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_value_is_half_the_papers_pair_sum(wine, constraint):
    X, y = wine
    K = gaussian(X)
    n, counts = len(y), np.bincount(y)[y]
    W = np.where(y[:, None] == y, 1 / n - 2 / counts[:, None], 1 / n)
    Z = KernelMMC(2, constraint=constraint).fit(K, y).embedding_
    value = (W * ((Z[:, None] - Z) ** 2).sum(axis=-1)).sum()
    assert value == pytest.approx(2 * KernelMMC(2, constraint=constraint).fit(K, y).objective_)


def test_sample_constraint_collapses_classes_and_says_nothing_about_the_kernel(wine):
    X, y = wine
    for gamma in (4.0, 8.0, 20.0):
        model = KernelMMC(constraint="sample").fit(gaussian(X, gamma=gamma), y)
        np.testing.assert_allclose(model.eigenvalues_, 1, atol=1e-6)
        for k in range(3):
            np.testing.assert_allclose(np.ptp(model.embedding_[y == k], axis=0), 0, atol=1e-6)


def test_sample_constraint_has_smooth_directions_first(wine):
    X, y = wine
    K = gaussian(X)
    model = KernelMMC(2, constraint="sample").fit(K, y)
    norms = model.coefficients_.T @ K @ model.coefficients_
    assert norms[0, 0] < norms[1, 1]
    assert abs(norms[0, 1]) < 1e-6 * norms[0, 0]
    # The first of one is that of two, and no mixture of the two is smoother.
    alone = KernelMMC(1, constraint="sample").fit(K, y)
    np.testing.assert_allclose(alone.coefficients_[:, 0], model.coefficients_[:, 0], atol=1e-6)
