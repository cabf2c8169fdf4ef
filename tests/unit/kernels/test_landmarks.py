"""Landmarks: how many of each class, centres, leverage scores against exact ones, draws, and blocks of rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from mklearn.errors import DataError, NotApplicable
from mklearn.kernels.distances import squared_euclidean
from mklearn.kernels.landmark_measure import row_blocks
from mklearn.kernels.landmarks import (
    draw_by_scores,
    kmeans_centres,
    leverage_ridge,
    leverage_scores,
    random_per_class,
)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_classes_take_turns_as_far_as_they_have_samples() -> None:
    labels = np.array(["a"] * 3 + ["b"] * 20 + ["c"] * 7)[rng(1).permutation(30)]
    counts = {l: np.unique(labels[random_per_class(labels, l, rng())], return_counts=True)[1] for l in (3, 4, 9, 15)}
    assert {l: sorted(found.tolist()) for l, found in counts.items()} == {
        3: [1, 1, 1], 4: [1, 1, 2], 9: [3, 3, 3], 15: [3, 6, 6]
    }  # fmt: skip
    every = random_per_class(labels, 30, rng())
    np.testing.assert_array_equal(np.sort(every), np.arange(30))
    for l in (3, 8, 17):
        np.testing.assert_array_equal(random_per_class(labels, l, rng()), every[:l])
    assert (random_per_class(labels, 30, rng(2)) != every).any()


def test_centres_of_separate_clusters_are_their_means() -> None:
    means = 50 * rng().normal(size=(6, 3))
    X = np.repeat(means, 20, axis=0) + 0.01 * rng(1).normal(size=(120, 3))
    centres = kmeans_centres(X, 6, seed=0)
    nearest = squared_euclidean(centres, means)
    assert sorted(nearest.argmin(axis=1)) == list(range(6))
    assert nearest.min(axis=1).max() < 0.01
    assert sp.issparse(kmeans_centres(sp.csr_array(X), 6, seed=0))
    with pytest.raises(NotApplicable, match="n_landmarks=121, but there are 120"):
        kmeans_centres(X, 121, seed=0)


def gaussian(n: int) -> np.ndarray:
    """A kernel of two dense clusters and a few samples far away, which have high scores."""
    X = np.concatenate([rng().normal(size=(n - 5, 2)), 8 * rng(1).normal(size=(5, 2))])
    return np.exp(-squared_euclidean(X) / 4)


@pytest.mark.parametrize("ridge", [None, 1e-3, 1.0])
def test_scores_from_all_samples_are_exact(ridge: float | None) -> None:
    K = gaussian(60)
    mu = leverage_ridge(K) if ridge is None else ridge
    exact = np.diagonal(scipy.linalg.solve(K + mu * np.eye(60), K, assume_a="pos"))
    order = rng().permutation(60)
    blocks = [(K[rows][:, order], np.diagonal(K)[rows]) for rows in (slice(0, 17), slice(17, 60))]
    found = leverage_scores(K[np.ix_(order, order)], blocks, 60, ridge)
    np.testing.assert_allclose(found, exact, atol=1e-10)


def test_the_ridge_is_the_mean_of_what_the_leading_components_leave() -> None:
    values = 2.0 ** -np.arange(40)
    Q = scipy.linalg.qr(rng().normal(size=(40, 40)))[0]
    k = int(np.ceil(40 / (4 * np.log(40))))
    assert leverage_ridge((Q * values) @ Q.T) == pytest.approx(values[k:].sum() / k)
    low = rng().normal(size=(40, 2))
    assert 0 < leverage_ridge(low @ low.T) < 1e-8 * (low**2).sum()  # of rank 2 < k: nothing is left
    assert leverage_ridge(np.eye(1)) > 0


def test_scores_from_a_sample_are_close_to_exact_ones() -> None:
    n, s = 400, 200
    K = gaussian(n)
    sample = rng(3).choice(n, s, replace=False)
    mu = leverage_ridge(K[np.ix_(sample, sample)])
    found = leverage_scores(K[np.ix_(sample, sample)], [(K[:, sample], np.diagonal(K))], n)
    # K_SS + mu I of the sample stands for K + (n / s) mu I of all
    exact = np.diagonal(scipy.linalg.solve(K + n / s * mu * np.eye(n), K, assume_a="pos"))
    ratio = found / exact
    assert ratio.min() > 0.4
    assert ratio.max() < 3
    assert np.corrcoef(found, exact)[0, 1] > 0.9
    with pytest.raises(DataError, match="the kernel is zero"):
        leverage_scores(np.zeros((3, 3)), [], 0)


def test_draws_follow_the_scores() -> None:
    scores = np.array([4.0, 2.0, 1.0, 1.0, 0.0])
    draws = np.array([draw_by_scores(scores, 2, generator) for generator in map(rng, range(4000))])
    first = np.bincount(draws[:, 0], minlength=5) / len(draws)
    np.testing.assert_allclose(first, scores / 8, atol=0.03)
    second = np.bincount(draws[draws[:, 0] == 0, 1], minlength=5) / (draws[:, 0] == 0).sum()
    np.testing.assert_allclose(second, [0, 0.5, 0.25, 0.25, 0], atol=0.04)
    every = draw_by_scores(scores, 5, rng())
    assert every[-1] == 4
    np.testing.assert_array_equal(draw_by_scores(scores, 3, rng()), every[:3])
    with pytest.raises(NotApplicable, match="n_landmarks=6, but there are 5"):
        draw_by_scores(scores, 6, rng())


@pytest.mark.parametrize(("n", "width"), [(0, 5), (1, 5), (256, 1), (5000, 1000), (100_000, 4), (10, 10**7)])
def test_blocks_cover_the_rows_in_order(n: int, width: int) -> None:
    blocks = list(row_blocks(n, width))
    np.testing.assert_array_equal(np.concatenate([np.arange(n)[rows] for rows in blocks]), np.arange(n))
    assert len(blocks) == 1 or max(8 * width * (rows.stop - rows.start) for rows in blocks) <= max(2**23, 8 * width)
