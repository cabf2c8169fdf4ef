"""Point-set distances against loops in float64, on random sets."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from mklearn.descriptors.point_sets import PointSets
from mklearn.errors import ConfigError, DataError
from mklearn.kernels import point_set_distance
from mklearn.kernels.point_set_distance import point_set_distances

Matrix = NDArray[np.float64]


def slow(X: PointSets, Y: PointSets, weight: float = 0.25, scale: float = 270.0) -> Matrix:
    """The definition, pair by pair, in float64; not for sets without points."""
    result = np.zeros((len(X), len(Y)))
    for i in range(len(X)):
        for j in range(len(Y)):
            (A, at), (B, there) = real(X, i), real(Y, j)
            e = cdist(A, B, "sqeuclidean") + weight / scale * cdist(at, there)
            result[i, j] = (e.min(axis=1).mean() + e.min(axis=0).mean()) / 2
    return result


def real(sets: PointSets, i: int) -> tuple[Matrix, Matrix]:
    count = sets.counts[i]
    return sets.descriptors[i, :count].astype(float), sets.positions[i, :count].astype(float)


def subset(sets: PointSets, rows: slice | list[int]) -> PointSets:
    return PointSets(*(array[rows] for array in sets.as_arrays().values()))


def random_sets(counts: list[int], d: int = 5, seed: int = 0, unit: bool = False, offset: float = 0.0) -> PointSets:
    rng = np.random.default_rng(seed)
    parts = []
    for count in counts:
        descriptors = rng.normal(size=(count, d)) + offset
        if unit:
            descriptors /= np.linalg.norm(descriptors, axis=1, keepdims=True)
        parts.append((descriptors, rng.random((count, 2)) * 250))
    return PointSets.from_lists(parts, max([1, *counts]), d)


@settings(max_examples=40)
@given(
    counts=st.lists(st.integers(1, 11), min_size=1, max_size=5),
    others=st.lists(st.integers(1, 9), min_size=1, max_size=4),
    d=st.integers(1, 6),
    weight=st.sampled_from([0.0, 0.25, 40.0]),
    offset=st.sampled_from([0.0, 30.0]),
)
def test_equals_the_loop(counts: list[int], others: list[int], d: int, weight: float, offset: float) -> None:
    X, Y = random_sets(counts, d, 1, offset=offset), random_sets(others, d, 2, offset=offset)
    # Of points that nearly coincide, single precision keeps the rounding of their squared lengths.
    np.testing.assert_allclose(
        point_set_distances(X, Y, position_weight=weight), slow(X, Y, weight), rtol=1e-4, atol=1e-7
    )
    D = point_set_distances(X, position_weight=weight)
    expected = slow(X, X, weight)
    np.testing.assert_allclose(D, expected - np.diag(np.diag(expected)), rtol=1e-4, atol=1e-7)
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_array_equal(np.diagonal(D), 0)
    assert D.dtype == np.float32


def test_what_lies_beyond_the_counts_does_not_matter() -> None:
    X = random_sets([7, 4, 6, 9])
    real_points = (np.arange(9) < X.counts[:, None])[..., None]

    class Raw:
        descriptors = np.where(real_points, X.descriptors, np.nan)
        positions = np.where(real_points, X.positions, np.inf)
        counts = X.counts

    np.testing.assert_array_equal(point_set_distances(Raw()), point_set_distances(X))


def test_sets_without_points() -> None:
    X = random_sets([0, 4, 0, 3, 0])
    D = point_set_distances(X)
    for i in (1, 3):
        np.testing.assert_allclose(D[i, [0, 2, 4]], 2 * (real(X, i)[0] ** 2).sum(axis=1).mean(), rtol=1e-6)
    np.testing.assert_array_equal(D[np.ix_([0, 2, 4], [0, 2, 4])], 0)
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_allclose(D[1, 3], slow(subset(X, [1]), subset(X, [3]))[0, 0], rtol=1e-5)
    # between sets: the same, and for a test image the same whatever is tested with it
    np.testing.assert_allclose(point_set_distances(X, X), D, atol=1e-6)
    np.testing.assert_array_equal(point_set_distances(subset(X, [0]), X)[0], D[0])
    np.testing.assert_array_equal(point_set_distances(random_sets([0, 0])), 0)
    np.testing.assert_array_equal(point_set_distances(random_sets([0]), random_sets([0, 2]))[0, 0], 0)


@pytest.mark.parametrize("entries", [1, 60, 200])
@pytest.mark.parametrize("weight", [0.0, 0.25])
def test_tiles(monkeypatch: pytest.MonkeyPatch, entries: int, weight: float) -> None:
    X = random_sets([3, 0, 9, 1, 5, 0, 0, 7, 2, 4, 0])
    whole = point_set_distances(X, position_weight=weight)
    crossed = point_set_distances(subset(X, [2, 4]), X, position_weight=weight)
    monkeypatch.setattr(point_set_distance, "_TILE_ENTRIES", entries)
    np.testing.assert_allclose(point_set_distances(X, position_weight=weight), whole, rtol=1e-5)
    np.testing.assert_allclose(
        point_set_distances(subset(X, [2, 4]), X, position_weight=weight), crossed, rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_threads_do_not_change_a_bit(n_jobs: int) -> None:
    X = random_sets([20, 17, 0, 20, 20, 3, 20, 20, 11, 20, 20, 20] * 3, 16, unit=True)
    with threadpool_limits(1):
        alone = point_set_distances(X), point_set_distances(X, X)
    np.testing.assert_array_equal(point_set_distances(X, n_jobs=n_jobs), alone[0], strict=True)
    np.testing.assert_array_equal(point_set_distances(X, X, n_jobs=n_jobs), alone[1], strict=True)


def test_refusals() -> None:
    X = random_sets([2, 3])
    for value in (np.nan, 1e25):
        wrong = SimpleNamespace(descriptors=np.full((2, 3, 5), value, "f"), positions=X.positions, counts=X.counts)
        with pytest.raises(DataError, match="set 0 has descriptors that are NaN, infinite or too large for float32"):
            point_set_distances(wrong)
    with pytest.raises(DataError, match="X has descriptors of length 4, the other sets of length 5"):
        point_set_distances(random_sets([1], 4), X)
    for parameters in ({"position_weight": -1}, {"position_weight": np.nan}, {"position_scale": 0}):
        with pytest.raises(ConfigError, match=f"for `{next(iter(parameters))}`: expected a finite number"):
            point_set_distances(X, **parameters)
