"""The span of centred samples, their spread S and the map S^-p: identities and ranks."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from mklearn.errors import NotApplicable
from mklearn.optimize.whitening import centred_span, power_whitening

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


@pytest.mark.parametrize(("n", "d", "rank"), [(9, 4, 4), (5, 20, 4), (12, 6, 2)])
def test_span_reproduces_the_centred_samples(n: int, d: int, rank: int) -> None:
    generator = np.random.default_rng(2)
    X = generator.normal(size=(n, rank)) @ generator.normal(size=(rank, d))
    span = centred_span(X)
    assert span.rank == rank
    np.testing.assert_allclose(span.axes @ span.axes.T, np.eye(rank), atol=1e-12)
    np.testing.assert_allclose(span.mean + span.coordinates() @ span.axes, X, atol=1e-11)
    np.testing.assert_array_equal(span.coordinates(1), span.coordinates()[:, :1])
    assert span.require_variance() is span


def test_constant_features_have_no_variance() -> None:
    span = centred_span(np.full((4, 3), 0.5))
    assert span.rank == 0
    with pytest.raises(NotApplicable, match="constant"):
        span.require_variance()


def test_equal_samples_span_nothing_though_their_mean_is_rounded() -> None:
    X = np.full((10, 3), 0.1)
    assert (X.mean(axis=0) != 0.1).any()
    assert centred_span(X).rank == 0
