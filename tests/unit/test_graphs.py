"""Graph operators against dense formulas, pair sums and explicit loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mklearn.errors import DataError, NotApplicable
from mklearn.graphs import (
    GraphPair,
    MatrixOperator,
    between_laplacian,
    lda_graph,
    lde_graph,
    lpp_graph,
    margin_laplacian,
    mmc_graph,
    pca_graph,
    total_laplacian,
    within_laplacian,
)

LABELS = np.array([2, 0, 1, 0, 2, 2, 1, 0, 2, 1, 3])
N = len(LABELS)


def projectors(y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """I, P, J by the definition, entry by entry."""
    n = len(y)
    P = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if y[i] == y[j]:
                P[i, j] = 1 / np.sum(y == y[i])
    return np.eye(n), P, np.full((n, n), 1 / n)


def test_class_operators_are_their_dense_formulas():
    eye, P, J = projectors(LABELS)
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
        (np.zeros((5, 2)), DataError, "vector"),
        (np.array([0.0, 1.0, np.nan]), DataError, "missing"),
        (np.array([0.0, 1, np.nan], dtype=object), DataError, "missing"),
        (np.ma.array([0, 1, 2], mask=[0, 1, 0]), DataError, "missing"),
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
