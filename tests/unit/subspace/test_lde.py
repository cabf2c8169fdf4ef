"""Kernel local discriminant embedding."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.spatial.distance import cdist
from sklearn.datasets import load_wine

from mklearn.graphs import lde_graph
from mklearn.subspace.kernel_lde import KernelLDE


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
