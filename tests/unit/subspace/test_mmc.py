"""The maximum margin criterion: against its definition, in the whole space and in the samples' span."""

import numpy as np
import pytest
from scipy.linalg import eigh
from sklearn.decomposition import PCA
from tests.unit.subspace.problems import scatters

from mklearn.errors import NotApplicable
from mklearn.nearest_neighbour import accuracy_by_dimension
from mklearn.subspace.mmc import MMC, orthogonal_complement


def blobs(n: int, d: int, c: int = 4, seed: int = 0, spread: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([seed, n])
    centres = np.random.default_rng(7).normal(size=(c, d))
    y = np.concatenate([np.arange(c), rng.integers(c, size=n - c)])
    return centres[y] * 2 + spread * rng.normal(size=(n, d)) * np.linspace(0.3, 2, d) + 5, y


@pytest.mark.parametrize("trade_off", [0.0, 0.5, 1.0, 7.0, "trace_ratio"])
@pytest.mark.parametrize(("n", "d"), [(40, 9), (15, 50), (20, 20)])
def test_definition(n: int, d: int, trade_off: float | str) -> None:
    X, y = blobs(n, d)
    S_b, S_w = scatters(X, y)
    weight = np.trace(S_b) / np.trace(S_w) if trade_off == "trace_ratio" else trade_off
    values, vectors = eigh(S_b - weight * S_w)
    model = MMC(trade_off=trade_off).fit(X, y)
    assert model.trade_off_ == pytest.approx(weight)
    np.testing.assert_allclose(model.eigenvalues_, values[::-1][:3], rtol=1e-9)
    A = model.components_.T
    np.testing.assert_allclose(A.T @ A, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(np.abs(A.T @ vectors[:, ::-1][:, :3]), np.eye(3), atol=1e-7)
    np.testing.assert_allclose(model.transform(X), (X - X.mean(axis=0)) @ A, atol=1e-10)


def test_whole_space_order_is_positive_null_negative() -> None:
    X, y = blobs(15, 50)
    S_b, S_w = scatters(X, y)
    S = S_b - S_w
    model = MMC(50).fit(X, y)
    np.testing.assert_allclose(model.eigenvalues_, np.linalg.eigvalsh(S)[::-1], atol=1e-9)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(50), atol=1e-12)
    np.testing.assert_allclose(
        model.components_ @ S @ model.components_.T, np.diag(model.eigenvalues_), atol=1e-9 * np.abs(S).max()
    )
    # 3 positive eigenvalues, rank 14: columns 4 to 39 see no training sample, and change no nearest neighbour.
    np.testing.assert_allclose(model.embedding_[:, 3:39], 0, atol=1e-10)
    assert (model.eigenvalues_[39:] < -1e-3).all()
    T, u = blobs(60, 50, seed=1)
    Z = model.transform(T)
    assert np.abs(Z[:, 3:39]).max() > 1
    accuracies = accuracy_by_dimension(model.embedding_, y, Z, u)
    np.testing.assert_array_equal(accuracies[2:39], accuracies[2])
    for p in (2, 3, 4, 20, 39, 45):
        np.testing.assert_allclose(MMC(p).fit(X, y).eigenvalues_, model.eigenvalues_[:p], atol=1e-9)


def test_whole_space_equals_principal_components_span() -> None:
    X, y = blobs(15, 50)
    pca = PCA().fit(X)
    Z = pca.transform(X)[:, :14]
    inside, whole = MMC().fit(Z, y), MMC().fit(X, y)
    np.testing.assert_allclose(inside.eigenvalues_, whole.eigenvalues_)
    np.testing.assert_allclose(np.abs(inside.embedding_), np.abs(whole.embedding_), atol=1e-9)


def test_no_orthonormal_projection_is_better(wine: tuple[np.ndarray, np.ndarray]) -> None:
    S_b, S_w = scatters(*wine)
    best = MMC(2).fit(*wine).eigenvalues_.sum()
    rng = np.random.default_rng(0)
    for _ in range(500):
        Q = np.linalg.qr(rng.normal(size=(13, 2)))[0]
        assert np.trace(Q.T @ (S_b - S_w) @ Q) < best


def test_orthogonal_complement() -> None:
    B = np.linalg.qr(np.random.default_rng(0).normal(size=(40, 6)))[0]
    N = orthogonal_complement(B, 34)
    np.testing.assert_allclose(np.hstack([B, N]).T @ np.hstack([B, N]), np.eye(40), atol=1e-13)


@pytest.mark.parametrize(
    ("X", "y", "parameters", "error", "message"),
    [
        (np.ones((6, 3)), np.arange(6) % 2, {}, NotApplicable, "constant"),
        (np.eye(6), np.arange(6), {"trade_off": "trace_ratio"}, NotApplicable, "within-class"),
    ],
)
def test_errors(X, y, parameters, error, message) -> None:
    with pytest.raises(error, match=message):
        MMC(**parameters).fit(X, y)
