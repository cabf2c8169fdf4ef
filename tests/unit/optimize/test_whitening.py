"""The spread S and the map S^-p: identities, ranks, invariance, and the radius bounds that F-SVM's text states."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine

from mklearn.optimize.whitening import power_whitening

X = load_wine().data
SPREAD = (X - X.mean(axis=0)).T @ (X - X.mean(axis=0))


@pytest.mark.parametrize("power", [0.0, 0.125, 0.25, 0.5])
def test_gram_matrix_is_that_of_the_power_of_the_spread(power):
    found = power_whitening(X, power)
    Z = found.transform(X)
    values, vectors = np.linalg.eigh(SPREAD)
    root = (vectors * values**-power) @ vectors.T
    direct = (X - X.mean(axis=0)) @ root
    direct /= np.sqrt((direct**2).sum(axis=1).mean())
    np.testing.assert_allclose(Z @ Z.T, direct @ direct.T, rtol=0, atol=1e-9 * np.abs(Z).max() ** 2)
    assert (Z**2).sum(axis=1).mean() == pytest.approx(1)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-9)


@pytest.mark.parametrize("power", [0.0, 0.25, 0.5])
def test_normal_gives_the_same_outputs(power):
    found = power_whitening(X, power)
    v = np.linspace(-1, 1, found.rank)
    np.testing.assert_allclose(found.transform(X) @ v, (X - X.mean(axis=0)) @ found.normal(v), atol=1e-10)


@pytest.mark.parametrize("shape", [(8, 20), (20, 8)])
def test_both_ways_to_decompose_agree_on_singular_spreads(shape):
    """Also with repeated columns: rank, and the normal of smallest norm."""
    rng = np.random.default_rng(0)
    data = rng.normal(size=shape)
    data = np.column_stack([data, data[:, :2], np.ones(len(data))])
    found = power_whitening(data)
    assert found.rank == min(shape[0] - 1, shape[1])
    assert found.is_simplex == (shape == (8, 20))
    w = found.normal(np.arange(1.0, found.rank + 1))
    centred = data - data.mean(axis=0)
    np.testing.assert_allclose(w, np.linalg.pinv(centred) @ centred @ w, atol=1e-9)


def test_as_many_features_as_samples_give_a_regular_simplex():
    """The Gram matrix of the whitened samples is I - 11'/n, whatever they are."""
    rng = np.random.default_rng(0)
    data = rng.normal(size=(12, 30))
    found = power_whitening(data)
    Z = found.transform(data) / found.scale
    assert found.is_simplex
    np.testing.assert_allclose(Z @ Z.T, np.eye(12) - 1 / 12, atol=1e-12)


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_whitened_gram_matrix_is_affinely_invariant(seed):
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(40, 6))
    A = rng.normal(size=(6, 6)) + 3 * np.eye(6)
    moved = data @ A.T + rng.normal(size=6)
    one, two = (power_whitening(each).transform(each) for each in (data, moved))
    np.testing.assert_allclose(one @ one.T, two @ two.T, rtol=0, atol=1e-8)


# --- what the text of F-SVM states about spread and radius


@settings(max_examples=50)
@given(st.integers(0, 10**6), st.integers(2, 30), st.integers(1, 8))
def test_scatter_of_all_ordered_pairs_is_2n_times_the_spread(seed, n, d):
    """Equation (23); the text's factor 4 n kappa is not it."""
    data = np.random.default_rng(seed).normal(size=(n, d))
    differences = (data[:, None] - data[None]).reshape(-1, d)
    centred = data - data.mean(axis=0)
    scatter, spread = differences.T @ differences, centred.T @ centred
    np.testing.assert_allclose(scatter, 2 * n * spread, rtol=0, atol=1e-10 * np.abs(scatter).max())
    assert not np.allclose(scatter, 4 * n * spread)


def squared_radius(data):
    """Squared radius of the smallest enclosing ball."""
    centre, radius = cp.Variable(data.shape[1]), cp.Variable()
    problem = cp.Problem(cp.Minimize(radius), [cp.norm(row - centre) <= radius for row in data])
    problem.solve(solver="CLARABEL")
    return float(problem.value) ** 2


@pytest.mark.parametrize("seed", range(8))
def test_radius_bounds(seed):
    """R^2 <= Rbar^2 <= Rp^2 <= 4 R^2 (Theorem 1): Rbar is an upper bound of R, as section III-C of the text denies."""
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(12, 3)) ** 3
    radius = squared_radius(data)
    from_mean = ((data - data.mean(axis=0)) ** 2).sum(axis=1).max()
    diameter = ((data[:, None] - data[None]) ** 2).sum(axis=-1).max()
    assert radius * (1 - 1e-6) <= from_mean <= diameter <= 4 * radius * (1 + 1e-6)
    assert from_mean > 1.01 * radius


@pytest.mark.parametrize("d", [2, 13, 14, 30])
def test_the_texts_bound_of_the_radius_is_false_from_14_dimensions_on(d):
    """R <= (1 + sqrt 3)/2 R_O, with R_O half the diameter, fails for regular simplices; sqrt 2 holds (Jung)."""
    simplex = np.eye(d + 1)
    half_diameter = np.sqrt(2) / 2
    ratio = np.sqrt(((simplex - simplex.mean(axis=0)) ** 2).sum(axis=1).max()) / half_diameter
    assert ratio == pytest.approx(np.sqrt(2 * d / (d + 1)))
    assert (ratio <= (1 + np.sqrt(3)) / 2) == (d < 14)
    assert ratio < np.sqrt(2)
