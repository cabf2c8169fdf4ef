"""2DMMC by its definition, and its corrections of the printed formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.papers.two_d_mmc.conftest import make_images, one_sided

from mklearn.papers.two_d_mmc.two_d_mmc import TwoDMMC


def scatters(X, y, U, V):
    """S_b and S_w of equations (3) to (5)."""
    return tuple(np.trace(U.T @ S @ U) for S in one_sided(X, y, V))


def mmc_matrix(X, y, trade_off):
    """S_b - trade_off S_w of vectors: the maximum margin criterion."""
    between, within = one_sided(X[:, :, None], y, np.eye(1))
    return between - trade_off * within


@settings(max_examples=40)
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 5),
    st.one_of(st.just("trace_ratio"), st.floats(0, 20)), st.sampled_from(["identity", "random"]),
)  # fmt: skip
def test_every_half_step_increases_the_objective(seed, l1, l2, trade_off, init):
    X, y = make_images(seed, rows=6, noise=2.0)
    model = TwoDMMC((l1, l2), trade_off=trade_off, init=init, random_state=seed % 1000, tol=0.0).fit(X, y)
    U, V = model.left_components_, model.right_components_
    spread, noise = scatters(X, y, np.eye(6), np.eye(5))
    assert model.trade_off_ == pytest.approx(spread / noise if trade_off == "trace_ratio" else trade_off)
    scale = spread + model.trade_off_ * noise
    assert len(model.objective_history_) == 2 * model.n_iter_
    assert (np.diff(model.objective_history_) >= -1e-12 * scale).all()
    between, within = scatters(X, y, U, V)
    assert model.objective_history_[-1] == pytest.approx(
        between - model.trade_off_ * within, rel=1e-9, abs=1e-11 * scale
    )
    np.testing.assert_allclose(U.T @ U, np.eye(l1), atol=1e-12)
    np.testing.assert_allclose(V.T @ V, np.eye(l2), atol=1e-12)


def test_the_history_is_the_objective_at_every_half_step(images):
    """By the loops of Algorithm 1, corrected; the values are of (U1, V0), (U1, V1), (U2, V1), ..."""
    X, y = images
    trade_off, V, values = 0.7, np.eye(5, 2), []
    for _ in range(3):
        between, within = one_sided(X, y, V)
        U = np.linalg.eigh(between - trade_off * within)[1][:, -3:]
        values.append(np.subtract(*np.multiply(scatters(X, y, U, V), (1, trade_off))))
        between, within = one_sided(X.transpose(0, 2, 1), y, U)
        V = np.linalg.eigh(between - trade_off * within)[1][:, -2:]
        values.append(np.subtract(*np.multiply(scatters(X, y, U, V), (1, trade_off))))
    model = TwoDMMC((3, 2), trade_off=trade_off, max_iter=3, tol=0.0).fit(X, y)
    np.testing.assert_allclose(model.objective_history_, values, rtol=1e-10)
    np.testing.assert_allclose(model.left_components_ @ model.left_components_.T, U @ U.T, atol=1e-10)
    np.testing.assert_allclose(model.right_components_ @ model.right_components_.T, V @ V.T, atol=1e-10)


@pytest.mark.parametrize("trade_off", ["trace_ratio", 1.0, 0.0])
def test_identity_on_one_side_is_mmc_of_the_stacked_rows(images, trade_off):
    """With VV' = I only U is left, and S_b, S_w are sums over the columns of the images: vectors in their own right.

    Column j of all images is a set of vectors with the classes of the images; the matrices of the sets add up.
    """
    X, y = images
    model = TwoDMMC((3, 5), trade_off=trade_off).fit(X, y)
    stacked = sum(mmc_matrix(X[:, :, j], y, model.trade_off_) for j in range(5))
    values, vectors = np.linalg.eigh(stacked)
    np.testing.assert_allclose(np.abs(model.left_components_.T @ vectors[:, :-4:-1]), np.eye(3), atol=1e-8)
    assert model.objective_history_[-1] == pytest.approx(values[-3:].sum())
    # and the mirror image
    model = TwoDMMC((7, 2), trade_off=trade_off).fit(X, y)
    values, vectors = np.linalg.eigh(sum(mmc_matrix(X[:, i, :], y, model.trade_off_) for i in range(7)))
    np.testing.assert_allclose(np.abs(model.right_components_.T @ vectors[:, :-3:-1]), np.eye(2), atol=1e-8)


def test_on_vectors_it_is_mmc(images):
    X, y = images
    flat = X.reshape(len(X), -1)
    model = TwoDMMC(3, trade_off=1.0).fit(flat, y)
    leading = np.linalg.eigh(mmc_matrix(flat, y, 1.0))[1][:, :-4:-1]
    assert model.right_components_.shape == (1, 1)
    np.testing.assert_allclose(np.abs(model.left_components_.T @ leading), np.eye(3), atol=1e-7)


def test_full_size_changes_no_distance(images):
    X, y = images
    others, _ = make_images(1)
    model = TwoDMMC((7, 5)).fit(X, y)
    raw = ((others[:, None] - X[None]) ** 2).sum(axis=(2, 3))
    projected = ((model.transform(others)[:, None] - model.embedding_[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(projected, raw, rtol=1e-10)
    np.testing.assert_array_equal(projected.argmin(axis=1), raw.argmin(axis=1))


def test_no_random_projection_beats_a_half_step(images):
    X, y = images
    model = TwoDMMC((3, 2), max_iter=500, tol=1e-15).fit(X, y)
    assert model.status_ == "converged"
    U, V, best = model.left_components_, model.right_components_, model.objective_history_[-1]
    for seed in range(100):
        rng = np.random.default_rng(seed)
        other_U, other_V = np.linalg.qr(rng.normal(size=(7, 3)))[0], np.linalg.qr(rng.normal(size=(5, 2)))[0]
        for pair in ((other_U, V), (U, other_V)):
            assert np.subtract(*np.multiply(scatters(X, y, *pair), (1, model.trade_off_))) <= best + 1e-9
