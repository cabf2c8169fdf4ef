"""Graph operators against dense formulas, pair sums and explicit loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist

from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.graphs import (
    GraphPair,
    MatrixOperator,
    between_laplacian,
    kernel_squared_distances,
    lda_graph,
    lde_graph,
    lpp_graph,
    margin_laplacian,
    mfa_graph,
    mmc_graph,
    pca_graph,
    sda_graph,
    total_laplacian,
    within_laplacian,
)

LABELS = np.array([2, 0, 1, 0, 2, 2, 1, 0, 2, 1, 3])
N = len(LABELS)
SAME = LABELS[:, None] == LABELS
OTHERS = ~np.eye(N, dtype=bool)


def test_class_operators_are_their_dense_formulas():
    eye, P, J = np.eye(N), SAME / SAME.sum(axis=1), np.full((N, N), 1 / N)
    graphs = {
        "L_w": (within_laplacian(LABELS), eye - P),
        "L_b": (between_laplacian(LABELS), P - J),
        "L_t": (total_laplacian(N), eye - J),
        "lda L": (lda_graph(LABELS).L, eye - P),
        "lda L'": (lda_graph(LABELS).L_prime, eye - J),
        "mmc": (mmc_graph(LABELS).L, 2 * P - J - eye),
        "mmc scale": (mmc_graph(LABELS).L_prime, eye),
        "mmc weighted": (margin_laplacian(LABELS, weight=0.3), P - J - 0.3 * (eye - P)),
        "pca L": (pca_graph(N).L, 0 * eye),
        "pca L'": (pca_graph(N).L_prime, eye - J),
    }
    Z = np.random.default_rng(1).normal(size=(N, 4))
    for name, (operator, dense) in graphs.items():
        np.testing.assert_allclose(operator.toarray(), dense, atol=1e-14, err_msg=name)
        np.testing.assert_allclose(operator.apply(Z), dense @ Z, atol=1e-13, err_msg=name)
        np.testing.assert_allclose(operator.apply(Z[:, 0]), dense @ Z[:, 0], atol=1e-13, err_msg=name)


@settings(max_examples=40)
@given(st.lists(st.integers(0, 4), min_size=3, max_size=25).filter(lambda y: len(set(y)) > 1), st.integers(0, 999))
def test_class_identities(y, seed):
    """L_t = L_w + L_b; projectors; zero row sums; positive semidefinite; the LDA shortcut L' = L + GG' - J."""
    n = len(y)
    Lw, Lb, Lt = (o.toarray() for o in (within_laplacian(y), between_laplacian(y), total_laplacian(n)))
    Z = np.random.default_rng(seed).normal(size=(n, 3))
    np.testing.assert_allclose(Lw + Lb, Lt, atol=1e-13)
    np.testing.assert_allclose(
        within_laplacian(y).apply(Z) + between_laplacian(y).apply(Z), total_laplacian(n).apply(Z)
    )
    for L in (Lw, Lb, Lt):
        np.testing.assert_allclose(L, L.T, atol=1e-14)
        np.testing.assert_allclose(L @ L, L, atol=1e-13)
        np.testing.assert_allclose(L.sum(axis=1), 0, atol=1e-13)
        assert np.linalg.eigvalsh(L)[0] > -1e-12
    pair = lda_graph(y)
    classes = pair.lda_classes
    assert classes is not None
    G = classes.indicator() / np.sqrt(classes.counts)
    np.testing.assert_allclose(pair.L_prime.toarray(), pair.L.toarray() + G @ G.T - 1 / n, atol=1e-13)


def test_lda_classes_are_those_of_the_lda_pair_only():
    pair = lda_graph(LABELS)
    assert pair.lda_classes is not None
    assert pair.n == N
    others = [
        pca_graph(N),
        GraphPair(within_laplacian(LABELS), between_laplacian(LABELS)),
        lpp_graph([1 - np.eye(N)], 2),
    ]
    assert [other.lda_classes for other in others] == [None, None, None]


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        (np.zeros(5), NotApplicable, "two classes"),
        (np.zeros((5, 2)), DataError, "expected one label for each"),
        (np.array(["a", None, "b"], dtype=object), DataError, "missing"),
    ],
)
def test_bad_labels(labels, error, message):
    for make in (lda_graph, margin_laplacian, lambda y: lde_graph([np.zeros((len(y), len(y)))], y)):
        with pytest.raises(error, match=message):
            make(labels)


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array, sparse.coo_matrix])
def test_custom_pair_of_dense_or_sparse_matrices(wrap):
    A = np.random.default_rng(0).random((5, 5))
    pair = GraphPair(wrap(A + A.T), total_laplacian(5))
    assert isinstance(pair.L, MatrixOperator)
    np.testing.assert_allclose(pair.L.apply(np.eye(5)), A + A.T, atol=1e-14)
    with pytest.raises(DataError, match="not symmetric"):
        GraphPair(wrap(A), total_laplacian(5))


# --- neighbours


def neighbours(d: np.ndarray, allowed: np.ndarray, k: int) -> np.ndarray:
    """Adjacency of pairs of which one is among the k nearest of the other, of those allowed; a column at a time."""
    near = np.zeros((N, N))
    for j in range(N):
        for i in sorted(np.flatnonzero(allowed[:, j]), key=lambda i: (d[i, j], i))[:k]:
            near[i, j] = near[j, i] = 1
    return near


def laplacian_of_mean_degree_1(W: np.ndarray) -> np.ndarray:
    W = W * N / W.sum()
    return np.diag(W.sum(axis=1)) - W


@pytest.mark.parametrize(("k", "k_prime"), [(1, 1), (2, 4), (3, 50)])
def test_lde_graph_is_its_definition(k, k_prime):
    """Equations (31)-(32): neighbours in the class and in others, averaged over descriptors; then mean degree 1."""
    rng = np.random.default_rng(4)
    distances = [cdist(X, X) for X in (rng.normal(size=(N, 3)), rng.normal(size=(N, 2)), rng.normal(size=(N, 6)))]
    pair = lde_graph(distances, LABELS, k=k, k_prime=k_prime)
    for allowed, size, operator in ((SAME & OTHERS, k, pair.L), (~SAME, k_prime, pair.L_prime)):
        expected = laplacian_of_mean_degree_1(sum(neighbours(d, allowed, size) for d in distances))
        np.testing.assert_allclose(operator.toarray(), expected, atol=1e-13)


def test_lde_of_single_samples_has_no_edge():
    X = np.array([[0.0], [0.1], [10.0], [10.1]])
    y = [0, 1, 0, 1]
    with pytest.raises(NotApplicable, match="the same class"):
        lde_graph([cdist(X, X)], [0, 1, 2, 3])
    assert lde_graph([cdist(X, X)], y, k=1, k_prime=1).n == 4


X = np.random.default_rng(0).normal(size=(N, 3))
D = cdist(X, X)


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (ConfigError, "0 for `k_prime`", lambda: lde_graph([D], LABELS, k_prime=0)),
        (DataError, "one label for each of", lambda: lde_graph([D], LABELS[:-1])),
        (DataError, "one or more", lambda: lde_graph([], LABELS)),
        (DataError, "not symmetric", lambda: lde_graph([np.triu(D)], LABELS)),
        (DataError, "square", lambda: kernel_squared_distances(X)),
    ],
)
def test_invalid_arguments(error, message, call):
    with pytest.raises(error, match=message):
        call()


def test_lpp_graph_is_its_definition():
    X = np.random.default_rng(9).normal(size=(N, 2))
    d2 = cdist(X, X, "sqeuclidean")
    edges = neighbours(d2, OTHERS, 3)
    W = edges * np.exp(-d2 / d2[edges > 0].mean())
    pair = lpp_graph([d2], 3)
    np.testing.assert_allclose(pair.L_prime.toarray(), np.diag(W.sum(axis=1)), atol=1e-14)
    np.testing.assert_allclose(pair.L.toarray(), np.diag(W.sum(axis=1)) - W, atol=1e-14)
    np.testing.assert_allclose(pair.L.apply(np.ones(N)), 0, atol=1e-14)
    other, mean = lpp_graph([D], 3), lpp_graph([d2, D], 3)
    np.testing.assert_allclose(2 * mean.L.toarray(), pair.L.toarray() + other.L.toarray(), atol=1e-14)
    np.testing.assert_allclose(2 * mean.L_prime.toarray(), pair.L_prime.toarray() + other.L_prime.toarray(), atol=1e-14)


def test_a_graph_of_equal_samples_is_finite():
    assert np.isfinite(lpp_graph([np.zeros((4, 4))], 2).L.toarray()).all()


def test_kernel_squared_distances():
    np.testing.assert_allclose(kernel_squared_distances(X @ X.T), cdist(X, X, "sqeuclidean"), atol=1e-12)


def nearest_pairs(d: np.ndarray, k: int) -> np.ndarray:
    """Adjacency of the k nearest pairs of each class with samples of others."""
    near = np.zeros((N, N))
    for c in set(LABELS):
        pairs = [(d[i, j], i, j) for i in range(N) for j in range(N) if LABELS[i] == c != LABELS[j]]
        for _, i, j in sorted(pairs)[:k]:
            near[i, j] = near[j, i] = 1
    return near


@pytest.mark.parametrize(("k", "k_prime"), [(1, 1), (2, 4), (3, 500)])
def test_mfa_graph_is_its_definition(k, k_prime):
    """Yan et al.: neighbours in a class, and the nearest pairs of each class with others; then mean degree 1."""
    rng = np.random.default_rng(4)
    distances = [cdist(X, X) for X in (rng.normal(size=(N, 3)), rng.normal(size=(N, 2)))]
    pair = mfa_graph(distances, LABELS, k=k, k_prime=k_prime)
    within = sum(neighbours(d, SAME & OTHERS, k) for d in distances)
    between = sum(nearest_pairs(d, k_prime) for d in distances)
    for W, operator in ((within, pair.L), (between, pair.L_prime)):
        np.testing.assert_allclose(operator.toarray(), laplacian_of_mean_degree_1(W), atol=1e-13)


def test_sda_graph_is_lda_of_the_labelled_and_a_neighbour_graph_of_all():
    """Pair by pair: 1/n_k in a class of labelled samples, 1/n_labelled between them, and the neighbours' affinities."""
    y = np.where(np.arange(N) % 3 == 0, -1, LABELS)
    d2 = [cdist(X, X, "sqeuclidean") for X in (np.random.default_rng(5).normal(size=(N, 3)), np.eye(N))]
    neighbours = lpp_graph(d2, 3)
    M = 0.3 * neighbours.L.toarray() * N / np.trace(neighbours.L_prime.toarray())
    W, W_prime = np.zeros((N, N)), np.zeros((N, N))
    for i in range(N):
        for j in range(N):
            if y[i] >= 0 and y[j] >= 0:
                W[i, j] = (y[i] == y[j]) / max((y == y[i]).sum(), 1)
                W_prime[i, j] = 1 / (y >= 0).sum()
    pair = sda_graph(d2, y, 3, 0.3)
    for affinity, operator in ((W, pair.L), (W_prime, pair.L_prime)):
        expected = np.diag(affinity.sum(axis=1)) - affinity + M
        np.testing.assert_allclose(operator.toarray(), expected, atol=1e-13)
    with pytest.raises(NotApplicable, match="two classes"):
        sda_graph(d2, np.where(LABELS == 2, 2, -1))
