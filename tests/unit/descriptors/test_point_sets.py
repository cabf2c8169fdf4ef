"""Point sets: validation, concatenation, subsets, projection; and what is learned from samples of local descriptors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mklearn.descriptors.images import Grey
from mklearn.descriptors.point_sets import (
    PointSets,
    describe_points,
    grey_in_turn,
    learn_projection,
    sample_local_descriptors,
    unit_rows,
)
from mklearn.errors import ConfigError, DataError


def random_sets(counts: list[int], p: int = 5, d: int = 3, seed: int = 0) -> PointSets:
    rng = np.random.default_rng(seed)
    return PointSets.from_lists([(rng.standard_normal((k, d)), rng.uniform(0, 9, (k, 2))) for k in counts], p, d)


def assert_same(a: PointSets, b: PointSets) -> None:
    for name, array in a.as_arrays().items():
        np.testing.assert_array_equal(array, b.as_arrays()[name])
        assert array.dtype == b.as_arrays()[name].dtype


def test_from_lists_pads_with_zeros() -> None:
    sets = random_sets([5, 0, 2])
    assert len(sets) == 3
    assert sets.n_points == 5
    np.testing.assert_array_equal(sets.counts, [5, 0, 2])
    np.testing.assert_array_equal(sets.mask.sum(axis=1), sets.counts)
    assert not sets.descriptors[1].any()
    assert not sets.positions[2, 2:].any()
    assert sets.descriptors[2, :2].all()


@given(counts=st.lists(st.integers(0, 4), min_size=1, max_size=6), cut=st.integers(0, 6))
def test_parts_put_together_are_the_whole(counts: list[int], cut: int) -> None:
    sets = random_sets(counts, p=4)
    parts = [sets.subset(slice(None, cut)), sets.subset(slice(cut, None))]
    assert_same(PointSets.concatenate(parts), sets)
    assert_same(sets.subset(np.arange(len(sets))), sets)
    assert_same(sets.subset(np.ones(len(sets), dtype=bool)), sets)
    assert_same(sets.subset([-1]), sets.subset(len(counts) - 1))


def test_concatenate_makes_room_for_the_largest() -> None:
    both = PointSets.concatenate([random_sets([2], p=2), random_sets([3, 1], p=4)])
    assert both.descriptors.shape == (3, 4, 3)
    np.testing.assert_array_equal(both.counts, [2, 3, 1])
    with pytest.raises(DataError, match="different lengths"):
        PointSets.concatenate([random_sets([1], d=2), random_sets([1], d=3)])
    with pytest.raises(DataError, match="no point sets"):
        PointSets.concatenate([])


def test_subsets_may_be_empty_and_are_copies() -> None:
    sets = random_sets([1, 2])
    assert len(sets.subset([])) == 0
    assert_same(PointSets.concatenate([sets, sets.subset([])]), sets)
    first = sets.subset([0])
    first.descriptors[:] = 7
    assert not (sets.descriptors == 7).any()


@pytest.mark.parametrize("index", [[2], [-3], [0.5], [[0, 1]], [True, False, True]])
def test_subset_refuses_what_is_no_index(index: list) -> None:
    with pytest.raises(DataError, match="index"):
        random_sets([1, 2]).subset(index)


def test_arrays_survive_a_file(tmp_path: Path) -> None:
    sets = random_sets([3, 0, 1])
    np.savez(tmp_path / "sets.npz", **sets.as_arrays())  # type: ignore[arg-type]
    with np.load(tmp_path / "sets.npz") as held:
        assert_same(PointSets.from_arrays(held), sets)
    with pytest.raises(DataError, match="counts"):
        PointSets.from_arrays({"descriptors": sets.descriptors, "positions": sets.positions})


def test_projection_is_affine_on_real_points_only() -> None:
    sets = random_sets([5, 0, 2])
    rng = np.random.default_rng(1)
    mean, components = rng.standard_normal(3), rng.standard_normal((2, 3))
    projected = sets.project(mean, components)
    expected = (sets.descriptors - mean) @ components.T * sets.mask[..., None]
    np.testing.assert_allclose(projected.descriptors, expected, atol=1e-6)
    np.testing.assert_array_equal(projected.positions, sets.positions)
    np.testing.assert_array_equal(projected.counts, sets.counts)
    assert_same(sets.subset([2]).project(mean, components), projected.subset([2]))
    with pytest.raises(DataError, match="can't be projected"):
        sets.project(mean, components.T)


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("descriptors", lambda a: a.astype(np.float64), "float32"),
        ("positions", lambda a: a[..., :1], "positions of shape"),
        ("counts", lambda a: a[:1], "counts of shape"),
        ("counts", lambda a: a + 9, "0..5"),
        ("counts", lambda a: a - 3, "0..5"),
        ("counts", lambda a: a - 1, "zero beyond"),
        ("descriptors", lambda a: np.where(a == a.max(), np.float32(np.nan), a), "NaN"),
        ("positions", lambda a: a + np.float32(1), "zero beyond"),
        ("descriptors", lambda a: a.tolist(), "not list"),
    ],
)
def test_what_is_not_point_sets_is_refused(name: str, change, said: str) -> None:
    arrays = random_sets([5, 1, 2]).as_arrays()
    changed = change(arrays[name])
    with pytest.raises(DataError, match=said):
        PointSets(**{**arrays, name: changed})


def test_too_many_points_for_the_room() -> None:
    with pytest.raises(DataError, match="image 0"):
        random_sets([6])


def test_unit_rows() -> None:
    rows = unit_rows(np.array([[3.0, 4.0], [0.0, 0.0], [1e-30, 0.0]]))
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0, 0], [1, 0]], rtol=1e-6)
    assert rows.dtype == np.float32


def test_grey_in_turn_takes_all_images_and_names_the_wrong_one() -> None:
    images = [np.full((2, 2), value, dtype=np.uint8) for value in range(200)]
    assert [round(255 * image[0, 0]) for image in grey_in_turn(images)] == list(range(200))
    np.testing.assert_array_equal(list(grey_in_turn(np.stack(images))), list(grey_in_turn(images)))
    images[130] = np.zeros((2, 2), dtype=np.int64)  # type: ignore[assignment]
    with pytest.raises(DataError, match=r"images 128 to 191.*image 2 "):
        list(grey_in_turn(images))
    for nothing in ([], np.zeros((0, 2, 2))):
        with pytest.raises(DataError, match="no images"):
            list(grey_in_turn(nothing))
    with pytest.raises(DataError, match="single image"):
        list(grey_in_turn(np.zeros((4, 4))))


def test_samples_are_spread_over_the_images() -> None:
    local = [np.full((10, 2), float(number)) for number in range(7)]
    sample = sample_local_descriptors(iter(local), 7, most=20, random_state=3)
    np.testing.assert_array_equal(np.unique(sample[:, 0], return_counts=True)[1], 3)
    everything = sample_local_descriptors(iter(local), 7, most=10_000, random_state=3)
    np.testing.assert_array_equal(everything, np.concatenate(local))
    with pytest.raises(ConfigError, match="random_state"):
        sample_local_descriptors(iter(local), 7, most=20, random_state=-1)


def test_samples_differ_from_image_to_image_and_with_the_seed() -> None:
    local = np.tile(np.arange(50.0)[None, :, None], (3, 1, 2))
    a = sample_local_descriptors(local, 3, most=30, random_state=0).reshape(3, 10, 2)
    b = sample_local_descriptors(local, 3, most=30, random_state=1).reshape(3, 10, 2)
    assert not np.array_equal(a[0], a[1])
    assert not np.array_equal(a, b)
    assert len(np.unique(a[0], axis=0)) == 10


def rows_of(image: Grey) -> Grey:
    return image


def test_learned_axes_are_those_of_the_covariance() -> None:
    rng = np.random.default_rng(0)
    images = [rng.standard_normal((40, 5)) * [5, 4, 1, 0.5, 0.1] + 2 for _ in range(4)]
    learned = learn_projection(images, rows_of, 2, 0, "x")
    everything = np.concatenate(images)
    np.testing.assert_allclose(learned["mean"], everything.mean(axis=0), rtol=1e-5)
    A = learned["components"].astype(float)
    np.testing.assert_allclose(A @ A.T, np.eye(2), atol=1e-6)
    values = np.linalg.eigvalsh(np.cov(everything.T))[::-1]
    np.testing.assert_allclose(A @ np.cov(everything.T) @ A.T, np.diag(values[:2]), atol=1e-4)

    sets = describe_points(images, lambda image: (image, image[:, :2]), learned, (2, 5), 40, "x")
    np.testing.assert_allclose(sets.descriptors[1], (images[1] - learned["mean"]) @ A.T, atol=1e-5)
    np.testing.assert_array_equal(sets.positions[1], images[1][:, :2].astype(np.float32))
    with pytest.raises(ConfigError, match="learn_x"):
        describe_points(images, lambda image: (image, image[:, :2]), learned, (3, 5), 40, "x")
    with pytest.raises(ConfigError, match="lacks mean and components"):
        describe_points(images, lambda image: (image, image[:, :2]), {}, (2, 5), 40, "x")


def test_too_few_local_descriptors_to_learn_from() -> None:
    with pytest.raises(DataError, match=r"n_components = 3.*have 2"):
        learn_projection(np.zeros((1, 2, 5)), rows_of, 3, 0, "x")
