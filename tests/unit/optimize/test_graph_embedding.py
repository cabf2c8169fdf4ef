"""Projections at fixed kernel weights: identities, optimality, two solvers, pair sums."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.linalg import eigh, subspace_angles
from scipy.spatial.distance import pdist, squareform

from mklearn.errors import NotApplicable
from mklearn.graphs import GraphPair, lda_graph, lde_graph
from mklearn.kernels.stack import KernelStack
from mklearn.optimize.graph_embedding import KernelProblem, diagonalised, rescale_columns, smallest_of_pencil

ONE = np.ones(1)


def kernels_and_labels(n: int, seed: int, count: int = 3, dimension: int = 4, classes: int = 3):
    """Gaussian kernels on as many feature sets, labels with every class, and the features."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    kernels, features = [], []
    for m in range(count):
        X = rng.normal(size=(n, dimension)) + (m + 1) * 0.6 * rng.normal(size=(classes, dimension))[y]
        d2 = ((X[:, None] - X[None]) ** 2).sum(-1)
        kernels.append(np.exp(-d2 / np.median(d2)))
        features.append(X)
    return kernels, y, features


def affinities(graph: GraphPair) -> tuple[np.ndarray, np.ndarray]:
    """W and W' of a pair of true Laplacians, from their off-diagonal parts."""
    pair = []
    for operator in (graph.L, graph.L_prime):
        W = -operator.toarray()
        np.fill_diagonal(W, 0.0)
        pair.append(W)
    return pair[0], pair[1]


def graph_of(name: str, y, features) -> GraphPair:
    return lda_graph(y) if name == "lda" else lde_graph([squareform(pdist(features[0]))], y, k=3, k_prime=6)


def problem_of(K, graph) -> KernelProblem:
    return KernelProblem(KernelStack(K[None]), graph)


def scatter_matrices(K, graph, ridge):
    """S, S' and rho of one kernel, (n, n)."""
    rho = ridge * 2 * np.trace(K @ graph.L_prime.apply(K)) / len(K)
    S, S_prime = (2 * K @ side.apply(K) + rho * np.eye(len(K)) for side in (graph.L, graph.L_prime))
    return S, S_prime, rho


def pair_sums(K, graph):
    """sum_ij W_ij (k_i - k_j)(k_i - k_j)' for both affinities."""
    differences = K[:, :, None] - K[:, None, :]
    return [np.einsum("ij,aij,bij->ab", W, differences, differences) for W in affinities(graph)]


def f_by_definition(A, beta, kernels, graph, ridge):
    """tr(A'SA)/tr(A'S'A) with S as a pair sum and the ridge as a multiple of the mean diagonal entry of S'."""
    K = sum(b * k for b, k in zip(beta, kernels, strict=True))
    n = len(K)
    scatters = pair_sums(K, graph)
    rho = ridge * np.trace(scatters[1]) / n
    above, below = (np.trace(A.T @ (S + rho * np.eye(n)) @ A) for S in scatters)
    return above / below


@pytest.mark.parametrize("name", ["lda", "lde"])
def test_scatters_are_pair_sums(name):
    kernels, y, features = kernels_and_labels(20, 0)
    K, graph = kernels[0], graph_of(name, y, features)
    problem = problem_of(K, graph)
    rho = problem.ridge_amount(ONE, 0.01)
    S, S_prime = problem.projected_scatters(ONE, np.eye(20), rho)
    for given_, expected in zip((S, S_prime), pair_sums(K, graph), strict=True):
        np.testing.assert_allclose(given_ - rho * np.eye(20), expected, rtol=1e-10, atol=1e-10 * expected.max())
    assert rho == pytest.approx(0.01 * (np.trace(S_prime) - 20 * rho) / 20)


@pytest.mark.parametrize("name", ["lda", "lde"])
def test_weight_matrices_give_the_joint_objective(name):
    kernels, y, features = kernels_and_labels(21, 1)
    graph = graph_of(name, y, features)
    rng = np.random.default_rng(2)
    A = rng.normal(size=(21, 2))
    S, S_prime = KernelProblem(KernelStack(kernels), graph).weight_matrices(A, 0.05)
    for _ in range(5):
        beta = rng.random(3)
        value = beta @ S @ beta / (beta @ S_prime @ beta)
        assert value == pytest.approx(f_by_definition(A, beta, kernels, graph, 0.05), rel=1e-10)
        # The ridge is homogeneous in beta: the joint objective does not see its scale.
        assert f_by_definition(A, 7.0 * beta, kernels, graph, 0.05) == pytest.approx(value, rel=1e-10)


def test_initial_weight_matrices_are_those_of_an_orthogonal_A():
    kernels, y, _ = kernels_and_labels(15, 5)
    problem = KernelProblem(KernelStack(kernels), lda_graph(y))
    Q = np.linalg.qr(np.random.default_rng(6).normal(size=(15, 15)))[0]
    np.testing.assert_allclose(problem.initial_weight_matrices(0.02), problem.weight_matrices(Q, 0.02), rtol=1e-10)


@pytest.mark.parametrize("name", ["lda", "lde"])
@pytest.mark.parametrize("ridge", [1e-1, 1e-3, 1e-6])
def test_solution_satisfies_the_eigenproblem(name, ridge):
    kernels, y, features = kernels_and_labels(40, 7, classes=4)
    graph = graph_of(name, y, features)
    S, S_prime, _ = scatter_matrices(kernels[0], graph, ridge)
    problem = problem_of(kernels[0], graph)
    assert problem.most_components == (3 if name == "lda" else 40)
    found = problem.ratio_trace_step(ONE, 3, ridge=ridge)
    A, values = found.coefficients, found.eigenvalues
    residual = S @ A - (S_prime @ A) * values
    assert np.linalg.norm(residual) < 1e-8 * np.linalg.norm(S_prime) * np.linalg.norm(A)
    np.testing.assert_allclose(A.T @ S_prime @ A, np.eye(3), atol=1e-8)
    np.testing.assert_allclose(A.T @ S @ A, np.diag(values), atol=1e-8)
    assert all(a <= b for a, b in pairwise(values))
    # They are the smallest eigenvalues of the whole spectrum.
    np.testing.assert_allclose(values, eigh(S, S_prime, eigvals_only=True)[:3], atol=1e-9)
    # The entry of largest absolute value is positive: refits give the same signs.
    assert (A[np.abs(A).argmax(axis=0), range(3)] > 0).all()


def test_trace_ratio_is_optimal_for_orthonormal_columns():
    kernels, y, features = kernels_and_labels(24, 10)
    graph = graph_of("lde", y, features)
    S, S_prime, _ = scatter_matrices(kernels[0], graph, 1e-2)
    problem = problem_of(kernels[0], graph)
    found = problem.trace_ratio_step(ONE, 3, ridge=1e-2)
    A = found.coefficients
    np.testing.assert_allclose(A.T @ A, np.eye(3), atol=1e-10)
    value = np.trace(A.T @ S @ A) / np.trace(A.T @ S_prime @ A)
    # The smallest eigenvalues of S - value S' sum to zero, so that no orthonormal columns have a smaller ratio.
    np.testing.assert_allclose(np.linalg.eigvalsh(S - value * S_prime)[:3].sum(), 0.0, atol=1e-9 * np.trace(S_prime))
    turned = diagonalised(found, *problem.projected_scatters(ONE, A, found.ridge_amount))
    assert subspace_angles(turned.coefficients, A).max() < 1e-6
    np.testing.assert_allclose(turned.coefficients.T @ S_prime @ turned.coefficients, np.eye(3), atol=1e-9)


def test_null_space_is_left_out():
    rng = np.random.default_rng(13)
    B = rng.normal(size=(10, 4))
    C = rng.normal(size=(4, 4))
    S_prime, S = B @ B.T, B @ (C @ C.T) @ B.T
    values, vectors = smallest_of_pencil(S, S_prime, 10, 0.0)
    assert vectors.shape == (10, 4)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(C @ C.T), rtol=1e-8)
    np.testing.assert_allclose(vectors.T @ S_prime @ vectors, np.eye(4), atol=1e-9)


def test_scalings():
    kernels, y, _ = kernels_and_labels(30, 14, classes=4)
    found = problem_of(kernels[0], lda_graph(y)).ratio_trace_step(ONE, 3, ridge=1e-2)
    A, values = found.coefficients, found.eigenvalues
    S, S_prime, _ = scatter_matrices(kernels[0], lda_graph(y), 1e-2)
    within, unit, orthonormal = (rescale_columns(A, values, name) for name in ("within", "unit", "orthonormal"))
    np.testing.assert_allclose(rescale_columns(A, values, "total").T @ S_prime @ A, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(within.T @ S @ within, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=0), 1.0)
    np.testing.assert_allclose(orthonormal.T @ orthonormal, np.eye(3), atol=1e-12)
    for p in (1, 2, 3):  # leading subspaces are kept, so that leading dimensions mean the same in every scale
        for scaled in (within, unit, orthonormal):
            assert subspace_angles(scaled[:, :p], A[:, :p]).max() < 1e-6
    with pytest.raises(NotApplicable, match="raise the ridge"):
        rescale_columns(A, np.array([0.0, 0.5, 0.6]), "within")
