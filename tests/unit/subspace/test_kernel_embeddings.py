"""Embeddings from kernels (KFDA, LDE, MMC, leave-one-out MKL): linear counterparts, constraints, optimality, errors."""

import numpy as np
import pytest
from scipy.linalg import eigh, subspace_angles
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from tests.unit.subspace.problems import LABELS, gaussian, gaussian_kernels, scatters

from mklearn.errors import NotApplicable
from mklearn.graphs import lde_graph, margin_laplacian
from mklearn.subspace.kernel_lde import KernelLDE
from mklearn.subspace.kernel_mmc import KernelMMC
from mklearn.subspace.kfd import KernelFDA
from mklearn.subspace.loo_mkl import LeaveOneOutMKL
from mklearn.subspace.mkldr import MKLDR
from mklearn.subspace.mmc import MMC


@pytest.mark.parametrize("ridge", [0.0, 1e-11])
def test_linear_kernel_is_linear_discriminant_analysis(wine, ridge):
    X, y = wine
    model = KernelFDA(ridge=ridge).fit(X @ X.T, y)
    directions = X.T @ model.coefficients_
    reference = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    assert subspace_angles(directions, reference.scalings_[:, :2]).max() < 1e-5
    # The eigenvalues too: within over total = 1 / (1 + between/within).
    share = reference.explained_variance_ratio_
    between_over_within = 1 / model.eigenvalues_ - 1
    np.testing.assert_allclose(between_over_within / between_over_within.sum(), share[:2], rtol=1e-6)
    # And the distances, in scikit-learn's scale: unit within-class covariance.
    Z = KernelFDA(ridge=max(ridge, 1e-11), scaling="within").fit(X @ X.T, y).embedding_
    ratio = pdist(reference.transform(X)) / pdist(Z)
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-5)


def test_embedding_has_the_scatters_that_the_scaling_says(wine):
    X, y = wine
    K = gaussian(X)
    model = KernelFDA(ridge=1e-9).fit(K, y)
    penalty = model.ridge_amount_ * model.coefficients_.T @ model.coefficients_
    between, within = scatters(model.embedding_, y)
    np.testing.assert_allclose(2 * (between + within) + penalty, np.eye(2), atol=1e-8)
    np.testing.assert_allclose(2 * within + penalty, np.diag(model.eigenvalues_), atol=1e-8)


def test_a_kernel_of_small_rank_gives_fewer_components_by_default_and_an_error_on_demand():
    X, y = load_iris(return_X_y=True)
    one = X[:, :1]
    assert KernelFDA().fit(one @ one.T, y).embedding_.shape == (150, 1)
    with pytest.raises(NotApplicable, match="1 discriminating directions, fewer than n_components=2"):
        KernelFDA(2).fit(one @ one.T, y)


# --- local discriminant embedding


@pytest.mark.parametrize("p", [2, 5])
def test_linear_kernel_solves_the_generalised_eigenproblem_of_the_features(wine, p):
    X, y = wine
    graph = lde_graph([cdist(X, X)], y)
    S, S_prime = (2 * X.T @ operator.toarray() @ X for operator in (graph.L, graph.L_prime))
    model = KernelLDE(p, ridge=1e-12).fit(X @ X.T, y)
    values, V = model.eigenvalues_, X.T @ model.coefficients_
    np.testing.assert_allclose(values, eigh(S, S_prime, eigvals_only=True)[:p], rtol=1e-6)
    np.testing.assert_allclose(V.T @ S_prime @ V, np.eye(p), atol=1e-5)
    np.testing.assert_allclose(S @ V, S_prime @ V * values, atol=1e-5 * np.abs(S @ V).max())
    # Its largest ratios of far to near: the form in which Chen, Chang and Liu state it.
    np.testing.assert_allclose(1 / values, eigh(S_prime, S, eigvals_only=True)[::-1][:p], rtol=1e-6)


def test_graph_is_of_the_kernels_in_use():
    X, y = load_wine(return_X_y=True)
    d2 = [((Z[:, None] - Z[None]) ** 2).sum(-1) for Z in (X[:, :5], X[:, 5:])]
    stack = np.stack([np.exp(-d / d.mean()) for d in d2], axis=-1)
    one = KernelLDE(kernel_weights=1).fit(stack, y)
    alone = KernelLDE().fit(stack[..., 1], y)
    np.testing.assert_allclose(one.embedding_, alone.embedding_, atol=1e-9)
    both = KernelLDE().fit(stack, y).graph_.L.toarray()
    mean = lde_graph(d2, y).L.toarray()
    np.testing.assert_allclose(both, mean, atol=1e-12)


# --- maximum margin criterion

CONSTRAINTS = ["rkhs", "coef", "sample"]


@pytest.fixture
def wine(wine):
    X, y = wine
    return X[::2], y[::2]


@pytest.mark.parametrize("trade_off", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("wide", [False, True])
def test_linear_kernel_is_the_linear_criterion(wine, trade_off, wide):
    X, y = wine
    if wide:  # more features than samples
        X = X @ np.random.default_rng(0).normal(size=(13, 200)) + np.random.default_rng(1).normal(size=(len(X), 200))
    linear, kernel = MMC(trade_off=trade_off).fit(X, y), KernelMMC(trade_off=trade_off).fit(X @ X.T, y)
    np.testing.assert_allclose(kernel.eigenvalues_, linear.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(X.T @ kernel.coefficients_), np.abs(linear.components_.T), atol=1e-7)
    T = X[::3] + 0.1
    np.testing.assert_allclose(pdist(kernel.transform(T @ X.T)), pdist(linear.transform(T)), rtol=1e-7)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_constraint_and_optimality(wine, constraint):
    X, y = wine
    K = gaussian(X)
    L = margin_laplacian(y).toarray()
    model = KernelMMC(4, constraint=constraint).fit(K, y)
    A, M = model.coefficients_, {"rkhs": K, "coef": np.eye(len(K)), "sample": K @ K}[constraint]
    np.testing.assert_allclose(A.T @ M @ A, np.eye(4), atol=1e-8)
    np.testing.assert_allclose(A.T @ K @ L @ K @ A, np.diag(model.eigenvalues_), atol=1e-8)
    reference = eigh(K @ L @ K, M, eigvals_only=True)[::-1][:4]
    np.testing.assert_allclose(model.eigenvalues_, reference, atol=1e-7)
    assert model.objective_ == pytest.approx(reference.sum(), abs=1e-7)
    np.testing.assert_allclose(model.embedding_, K @ A)
    pivots = A[np.abs(A).argmax(axis=0), np.arange(4)]
    assert (pivots > 0).all()


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


# --- leave-one-out MKL


def test_the_projection_is_the_discriminant_of_the_learned_weights():
    K = gaussian_kernels(1)
    model = LeaveOneOutMKL(1, ridge=1e-2, scaling="within").fit(K, LABELS)
    plain = KernelFDA(1, kernel_weights=model.kernel_weights_, ridge=1e-2, scaling="within").fit(K, LABELS)
    np.testing.assert_allclose(model.embedding_, plain.embedding_)
    # neither of the discriminant's parameters touches the weights
    other = LeaveOneOutMKL(2, ridge=1.0).fit(K, LABELS)
    np.testing.assert_array_equal(other.kernel_weights_, model.kernel_weights_)


def test_equal_shares_are_the_discriminant_at_unit_centred_trace(monkeypatch):
    monkeypatch.setattr("mklearn.subspace.loo_mkl.leave_one_out_weights", None)  # a call would fail
    K = gaussian_kernels(1) * np.array([5.0, 1.0, 0.2]) + np.array([0.0, 3.0, 0.0])
    model = LeaveOneOutMKL(ridge=1e-2, scaling="within", kernel_weights="uniform").fit(K, LABELS)
    traces = np.array([np.trace(K[..., m]) / len(K) - K[..., m].mean() for m in range(3)])
    plain = KernelFDA(ridge=1e-2, scaling="within").fit(K / traces, LABELS)
    np.testing.assert_allclose(model.shares_, np.full(3, 1 / 3))
    np.testing.assert_allclose(model.kernel_weights_, (1 / traces) / (1 / traces).sum())
    ratio = pdist(model.embedding_) / pdist(plain.embedding_)  # the weights have sum 1: another scale of the kernel
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)
    assert model.objective_ == model.objective_history_[0]
    assert (model.status_, model.n_iter_) == ("uniform", 1)


def test_better_kernels_weigh_more_and_nothing_is_worse_than_equal_shares():
    model = LeaveOneOutMKL().fit(gaussian_kernels(2), LABELS)
    assert np.argmax(model.shares_) == 2
    assert model.objective_ <= model.objective_history_[0]
    assert model.regularisation_ >= 1.0
    assert (np.diff(model.objective_history_) <= 0).all()
    assert len(model.objective_history_) == model.n_iter_ > 1
    assert model.status_ == "converged"
    assert model.kernel_weights_.sum() == pytest.approx(1)


def test_the_identity_gets_nothing_where_mkl_dr_gives_it_most():
    """0.6 I + 0.4 11' says nothing of any sample; MKL-DR's objective falls as its weight grows."""
    K = np.concatenate([gaussian_kernels(2), 0.6 * np.eye(36)[..., None] + 0.4], axis=-1)
    K /= np.trace(K) / 36 - K.mean(axis=(0, 1))  # unit centred trace
    assert np.argmax(MKLDR(max_iter=10).fit(K, LABELS).kernel_weights_) == 3
    for shrinkage in (0.0, 0.5):
        assert LeaveOneOutMKL(shrinkage=shrinkage).fit(K, LABELS).kernel_weights_[3] < 1e-3
