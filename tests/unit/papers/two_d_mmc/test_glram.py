"""GLRAM by its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.papers.two_d_mmc.conftest import make_images

from mklearn.errors import DataError
from mklearn.papers.two_d_mmc.glram import GLRAM


def energy_kept(X, L, R):
    return sum(np.sum((L.T @ image @ R) ** 2) for image in X)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 5), st.booleans())
def test_every_half_step_increases_the_energy(seed, l1, l2, centre):
    X, _ = make_images(seed, rows=6)
    model = GLRAM((l1, l2), centre=centre, init="random", random_state=seed % 1000, tol=0.0).fit(X)
    total = np.sum(X**2)
    assert len(model.objective_history_) == 2 * model.n_iter_
    assert (np.diff(model.objective_history_) >= -1e-12 * total).all()
    A = X - X.mean(axis=0) if centre else X
    kept = energy_kept(A, model.left_components_, model.right_components_)
    assert model.objective_history_[-1] == pytest.approx(kept, rel=1e-10)
    lost = (np.sum(A**2) - kept) / len(X)
    assert model.reconstruction_error_**2 == pytest.approx(lost, rel=1e-8, abs=1e-12 * total)


def test_equals_explicit_loops(images):
    X, _ = images
    L = np.eye(7, 3)
    for _ in range(4):
        R = np.linalg.eigh(sum(A.T @ L @ L.T @ A for A in X))[1][:, -2:]
        L = np.linalg.eigh(sum(A @ R @ R.T @ A.T for A in X))[1][:, -3:]
    model = GLRAM((3, 2), max_iter=4, tol=0.0).fit(X)
    np.testing.assert_allclose(model.left_components_ @ model.left_components_.T, L @ L.T, atol=1e-10)
    np.testing.assert_allclose(model.right_components_ @ model.right_components_.T, R @ R.T, atol=1e-10)


def test_a_fixed_point_that_no_random_projection_beats(images):
    X, _ = images
    model = GLRAM((2, 2), max_iter=500, tol=1e-15).fit(X)
    assert model.status_ == "converged"
    L, R, best = model.left_components_, model.right_components_, model.objective_history_[-1]
    for seed in range(200):
        rng = np.random.default_rng(seed)
        other_L, other_R = (np.linalg.qr(rng.normal(size=(side, 2)))[0] for side in (7, 5))
        assert energy_kept(X, other_L, other_R) <= best
        assert energy_kept(X, other_L, R) <= best * (1 + 1e-12)
        assert energy_kept(X, L, other_R) <= best * (1 + 1e-12)


@pytest.mark.parametrize("centre", [False, True])
def test_full_size_is_exact(images, centre):
    X, _ = images
    model = GLRAM((7, 5), centre=centre)
    features = model.fit_transform(X)
    np.testing.assert_allclose(model.inverse_transform(features), X, atol=1e-12)
    assert model.reconstruction_error_ < 1e-12
    if not centre:
        assert model.objective_history_[-1] == pytest.approx(np.sum(X**2))


def test_vectors_are_images_of_one_column(images):
    """Then GLRAM is uncentred PCA, and with ``centre`` PCA."""
    from sklearn.decomposition import PCA

    flat = images[0].reshape(len(images[0]), -1)
    model, pca = GLRAM(3, centre=True).fit(flat), PCA(3).fit(flat)
    assert model.right_components_.shape == (1, 1)
    np.testing.assert_allclose(np.abs(model.left_components_.T @ pca.components_.T), np.eye(3), atol=1e-8)
    leading = np.linalg.svd(flat)[2][:3]
    np.testing.assert_allclose(np.abs(GLRAM(3).fit(flat).left_components_.T @ leading.T), np.eye(3), atol=1e-8)


def test_features_of_a_wrong_size_cannot_be_reconstructed(images):
    model = GLRAM((3, 2)).fit(images[0])
    assert model.inverse_transform(np.ones((2, 3, 2))).shape == (2, 7, 5)
    with pytest.raises(DataError, match="must be"):
        model.inverse_transform(np.ones((2, 5)))
