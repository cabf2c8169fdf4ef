"""Local discriminant embedding, linear and in a kernel."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh, subspace_angles
from scipy.spatial.distance import pdist
from sklearn.datasets import load_wine

from mklearn.errors import NotApplicable
from mklearn.graphs import lde_graph
from mklearn.subspace.kernel_lde import KernelLDE
from mklearn.subspace.lde import LDE


@pytest.mark.parametrize("p", [2, 5])
def test_linear_kernel_gives_the_linear_method(wine, p):
    X, y = wine
    kernel, linear = KernelLDE(p, ridge=1e-12).fit(X @ X.T, y), LDE(p, ridge=1e-12).fit(X, y)
    assert subspace_angles(X.T @ kernel.coefficients_, linear.components_.T).max() < 1e-5
    np.testing.assert_allclose(kernel.eigenvalues_, linear.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(pdist(kernel.embedding_), pdist(linear.embedding_), rtol=1e-4)


def test_solves_the_generalised_eigenproblem_of_the_paper(wine):
    X, y = wine
    model = LDE(3, ridge=0.0).fit(X, y)
    graph = lde_graph(X, y)
    S, S_prime = (2 * X.T @ operator.toarray() @ X for operator in (graph.L, graph.L_prime))
    np.testing.assert_allclose(model.eigenvalues_, eigh(S, S_prime, eigvals_only=True)[:3], rtol=1e-9)
    V = model.components_.T
    np.testing.assert_allclose(V.T @ S_prime @ V, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(S @ V, S_prime @ V * model.eigenvalues_, atol=1e-8 * np.abs(S).max())
    # Its largest ratios of far to near: the form in which Chen, Chang and Liu state it.
    largest = eigh(S_prime, S, eigvals_only=True)[::-1][:3]
    np.testing.assert_allclose(1 / model.eigenvalues_, largest, rtol=1e-8)


def test_more_features_than_samples_live_in_the_span_of_the_samples():
    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    X = rng.normal(size=(20, 50)) + 2 * rng.normal(size=(2, 50))[y]
    model = LDE(2, ridge=1e-2).fit(X, y)
    assert model.components_.shape == (2, 50)
    centred = X - X.mean(axis=0)
    inside = np.linalg.lstsq(centred.T, model.components_.T, rcond=None)[0]
    np.testing.assert_allclose(centred.T @ inside, model.components_.T, atol=1e-10)
    # The same problem in all 50 dimensions has the same smallest eigenvalues.
    graph = lde_graph(X, y)
    S, S_prime = (2 * X.T @ operator.toarray() @ X for operator in (graph.L, graph.L_prime))
    rho = 1e-2 * np.trace(S_prime) / 50
    assert model.ridge_amount_ == pytest.approx(rho)
    expected = eigh(S + rho * np.eye(50), S_prime + rho * np.eye(50), eigvals_only=True)[:2]
    np.testing.assert_allclose(model.eigenvalues_, expected, rtol=1e-8)
    with pytest.raises(NotApplicable, match="rank 19"):
        LDE(20).fit(X, y)


@pytest.mark.parametrize("scaling", ["total", "within", "unit", "orthonormal"])
def test_scalings_in_feature_space(wine, scaling):
    X, y = wine
    V = LDE(3, scaling=scaling).fit(X, y).components_.T
    assert subspace_angles(V, LDE(3).fit(X, y).components_.T).max() < 1e-7
    if scaling == "unit":
        np.testing.assert_allclose(np.linalg.norm(V, axis=0), 1.0)
    if scaling == "orthonormal":
        np.testing.assert_allclose(V.T @ V, np.eye(3), atol=1e-12)


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
