"""Local descriptors: edge points, SIFT, geometric blur, visual words, and what they have in common."""

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import gaussian_filter, map_coordinates
from scipy.spatial.distance import cdist
from tests.unit.kernels.test_distances import random_sets

from mklearn.descriptors import dense_sift
from mklearn.descriptors import geometric_blur as blur
from mklearn.descriptors.edge_points import edge_points, spread_points, thinned_gradient
from mklearn.descriptors.geometric_blur import geometric_blur, learn_geometric_blur
from mklearn.descriptors.images import Grey
from mklearn.descriptors.local_descriptors import describe_points, learn_projection, sample_local_descriptors
from mklearn.descriptors.point_sets import PointSets
from mklearn.descriptors.sift import grid_points, learn_sift_points, sift_at, sift_points
from mklearn.errors import ConfigError, DataError
from mklearn.study.data.resizing import resize_images


@pytest.fixture(scope="session")
def photos(mirror: Path) -> list[np.ndarray]:
    """The first four pictures of Caltech-101 in grey, uint8; the archive is read only so far."""
    pictures: list[np.ndarray] = []
    with (
        zipfile.ZipFile(mirror / "caltech101" / "caltech-101.zip") as outer,
        outer.open("caltech-101/101_ObjectCategories.tar.gz") as packed,
        tarfile.open(fileobj=packed, mode="r|gz") as archive,
    ):
        images = (archive.extractfile(member) for member in archive if member.name.endswith(".jpg"))
        while len(pictures) < 4:
            with Image.open(io.BytesIO(next(images).read())) as picture:
                pictures.append(np.asarray(picture.convert("L")))
    resized = list(resize_images(pictures, pixels=20_000))
    for image in resized:
        image.flags.writeable = False
    return resized


def alike(photo: np.ndarray) -> list[np.ndarray]:
    """The same image as floats, with other contrasts and brightnesses, in RGB and with an opaque alpha channel."""
    floats = photo / 255
    colour = np.stack([floats, floats, floats, np.ones_like(floats)], axis=2)
    return [floats, 0.3 * floats, floats + 5, 40 * floats - 7, colour[..., :3], colour]


def test_points_cover_the_edges_and_keep_apart(photos: list[np.ndarray]) -> None:
    for image in photos:
        every = edge_points(image, n_points=10**6)
        points = edge_points(image, n_points=100)
        assert {tuple(point) for point in points} <= {tuple(point) for point in every}
        apart = cdist(points, points)[np.triu_indices(100, 1)].min()
        assert cdist(every, points).min(axis=1).max() <= apart
        assert apart > 1.5
        np.testing.assert_array_equal(edge_points(image, n_points=40), points[:40])
        strength = thinned_gradient(image)[0]
        assert strength[tuple(points[0])] == strength.max()


@pytest.mark.parametrize("shape", [(1, 1), (2, 50), (50, 2), (40, 40)])
def test_images_without_edges_have_no_points(shape: tuple[int, int]) -> None:
    for value in (0.0, 0.1, 1e300, -3.0):
        assert edge_points(np.full(shape, value)).shape == (0, 2)
    ripple = 0.1 + 1e-15 * np.random.default_rng(0).standard_normal(shape)  # rounding errors are not edges
    assert len(edge_points(ripple)) == 0
    if min(shape) < 3:
        assert edge_points(np.random.default_rng(0).random(shape)).shape == (0, 2)


def test_weak_edges_count_only_if_connected_to_strong_ones() -> None:
    strength = np.zeros((5, 12))
    strength[2, :4] = [1.0, 0.1, 0.1, 0.1]
    strength[2, 6:9] = 0.1
    strength[4, 11] = 0.07
    points = {tuple(point) for point in spread_points(strength, 100)}
    assert points == {(2, column) for column in range(4)}


def test_gradient_of_a_slanted_edge() -> None:
    row, column = np.mgrid[:60, :60]
    for degrees in (0, 30, 90, 120, 175):
        angle = np.radians(degrees)
        image = 1 / (1 + np.exp(-(np.cos(angle) * (column - 30) + np.sin(angle) * (row - 30))))
        strength, orientation = thinned_gradient(image)
        row_at, column_at = np.nonzero(strength > 0.5 * strength.max())
        # thinned to the line itself, and perpendicular to it
        assert np.abs(np.cos(angle) * (column_at - 30) + np.sin(angle) * (row_at - 30)).max() <= 1
        error = np.abs(orientation[row_at, column_at] - angle)
        assert np.minimum(error, np.pi - error)[5:-5].max() < 0.06


# --- SIFT


def test_descriptors_belong_to_their_points(photos: list[np.ndarray]) -> None:
    image, rng = photos[0] / 255, np.random.default_rng(0)
    height, width = image.shape
    inside = np.stack([rng.integers(0, height, 60), rng.integers(0, width, 60)], axis=1)
    corners = [[0, 0], [height - 1, width - 1], [0, width - 1], [height - 1, 0]]
    points = np.concatenate([corners, inside, inside[:1]])  # two points coincide
    sizes = np.random.default_rng(1).choice([16.0, 24.0, 50.0, 100.0], len(points))
    descriptors = sift_at(image, points, list(sizes))
    assert descriptors.shape == (65, 128)
    # one by one: no point's descriptor depends on which others there are, or on their sizes
    for k, point in enumerate(points):
        np.testing.assert_array_equal(sift_at(image, point[None], [sizes[k]])[0], descriptors[k])
    length = np.linalg.norm(descriptors, axis=1)
    np.testing.assert_allclose(length[length > 0], 1, rtol=1e-6)
    assert (length[4:] > 0).all()


@pytest.mark.parametrize("size", [16.0, 32.0, 64.0])
def test_size_is_that_of_the_patch(size: float) -> None:
    def change(distance: float) -> float:
        """Return how much a dot at this distance to the right changes the descriptor of the centre."""
        image = np.zeros((201, 201))
        image[:, 100:] = 0.5
        dotted = image.copy()
        at = 100 + round(distance)
        half = round(size / 16)
        dotted[100 - half : 101 + half, at - half : at + half + 1] = 1
        image[0, 0] = dotted[0, 0] = 1  # the same range
        centre = np.array([[100, 100]])
        return float(np.linalg.norm(sift_at(image, centre, [size]) - sift_at(dotted, centre, [size])))

    # votes are shared between neighbouring cells, so the outermost reach half a cell beyond, plus the blur
    assert change(0.4 * size) > 0.05
    assert change(size * (0.5 + 0.125) + size / 4 + 3) == 0


# --- geometric blur


GB_1 = (0, 3, 6, 12, 24, 36)
GB_2 = (0, 6, 12, 24, 36, 60)
SAMPLES = (1, 8, 8, 10, 12, 12)


@pytest.mark.parametrize("radii", [GB_1, GB_2])
def test_geometric_blur_agrees_with_the_definition(photos: list[np.ndarray], radii: tuple[float, ...]) -> None:
    image = photos[0] / 255
    descriptors, points = blur.local_descriptors(image, blur._rings(radii, SAMPLES, 1), 40)
    np.testing.assert_array_equal(points, edge_points(image, n_points=40))
    # each blur computed directly at full resolution, in double precision, with a wide margin
    room = 64
    channels = blur.oriented_channels(*thinned_gradient(image)).astype(float)
    channels = np.pad(channels, ((room, room), (room, room), (0, 0)))
    parts = []
    for radius, number in zip(radii, SAMPLES, strict=True):
        blurred = gaussian_filter(channels, (0.5 * radius + 1, 0.5 * radius + 1, 0), mode="constant", truncate=4)
        for k in range(number):
            angle = 2 * np.pi * k / number
            where = points.T + room + radius * np.array([[np.sin(angle)], [np.cos(angle)]])
            parts += [map_coordinates(blurred[..., c], where, order=1) for c in range(4)]
    expected = np.stack(parts, axis=1)
    assert descriptors.shape == (40, 204)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.linalg.norm(descriptors - expected, axis=1).max() < 0.01
    np.testing.assert_allclose(np.linalg.norm(descriptors, axis=1), 1, rtol=1e-6)


def test_channels_divide_the_strength_by_orientation() -> None:
    orientation = np.array([[0.0, np.pi / 4, np.pi / 8, np.pi * 7 / 8, np.pi / 2, 0.7]])
    strength = np.array([[1.0, 2.0, 4.0, 2.0, 0.0, 3.0]])
    channels = blur.oriented_channels(strength, orientation)
    np.testing.assert_allclose(channels.sum(axis=2), strength, rtol=1e-6)
    np.testing.assert_allclose(
        channels[0, :5], [[1, 0, 0, 0], [0, 2, 0, 0], [2, 2, 0, 0], [1, 0, 0, 1], [0, 0, 0, 0]], atol=1e-6
    )


# --- visual words


SMALL = {"n_words": 20, "step": 16}


@pytest.fixture(scope="module")
def words(photos: list[np.ndarray]) -> dict[str, NDArray]:
    return dense_sift.learn_dense_sift(photos, random_state=0, **SMALL)


@given(length=st.integers(16, 300), size=st.sampled_from([16.0, 15.5, 15.2]), step=st.integers(1, 40))
def test_patches_of_the_grid_fill_the_image_evenly(length: int, size: float, step: int) -> None:
    centre, across = grid_points((length, 16), size, step).T
    np.testing.assert_allclose(across, 7.5)
    before, after = centre[0] - size / 2 + 0.5, length - 0.5 - (centre[-1] + size / 2)
    assert before >= -1e-9
    np.testing.assert_allclose(before, after, atol=1e-9)
    # no room for one more
    assert before + after < step
    np.testing.assert_allclose(np.diff(centre), step)


def test_rows_are_the_votes_for_the_nearest_words(photos: list[np.ndarray], words: dict[str, NDArray]) -> None:
    features = dense_sift.dense_sift(photos, learned=words, **SMALL)
    assert features.shape == (4, 20)
    assert features.dtype == np.float64
    np.testing.assert_allclose(features.sum(axis=1), 1)
    for image, row in zip(photos, features, strict=True):
        descriptors = dense_sift.local_descriptors(image / 255, 16, (16, 24, 32))
        nearest = cdist(descriptors, words["words"].astype(float)).argmin(axis=1)
        np.testing.assert_allclose(row, np.bincount(nearest, minlength=20) / len(nearest), atol=1e-3)


def test_kinds_of_images_have_the_same_words(photos: list[np.ndarray], words: dict[str, NDArray]) -> None:
    photo = photos[1]
    features = dense_sift.dense_sift(photos, learned=words, **SMALL)
    for row in dense_sift.dense_sift(alike(photo), learned=words, **SMALL):
        np.testing.assert_allclose(row, features[1], atol=0.01)


def test_flat_patches_do_not_vote(words: dict[str, NDArray]) -> None:
    flat = dense_sift.dense_sift(np.full((2, 40, 40), 0.3), learned=words, **SMALL)
    np.testing.assert_array_equal(flat, 0)
    wide = np.full((64, 400), 0.5)
    wide[:, :64] = np.random.default_rng(0).random((64, 64))
    assert dense_sift.dense_sift([wide], learned=words, **SMALL).sum() == pytest.approx(1)
    assert len(dense_sift.local_descriptors(wide, 16, (16,))) < 40  # of 100 patches


def test_small_images(words: dict[str, NDArray]) -> None:
    images = [np.random.default_rng(0).random(shape) for shape in ((32, 40), (31, 40), (1, 1))]
    assert dense_sift.dense_sift(images[:1], learned=words, **SMALL).shape == (1, 20)
    for image in images[1:]:
        with pytest.raises(DataError, match=r"Image 1 has .* 32 x 32"):
            dense_sift.dense_sift([images[0], image], learned=words, **SMALL)
        with pytest.raises(DataError, match=r"Image 1 has .* 32 x 32"):
            dense_sift.learn_dense_sift([images[0], image], random_state=0, **SMALL)


def test_too_few_patches_for_the_words() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(DataError, match=r"n_words = 20.*fewer words"):
        dense_sift.learn_dense_sift(rng.random((1, 32, 32)), random_state=0, **SMALL)
    with pytest.raises(DataError, match="have 0"):
        dense_sift.learn_dense_sift(np.zeros((3, 64, 64)), random_state=0, **SMALL)


# --- samples and projections


def test_samples_are_spread_over_the_images() -> None:
    local = [np.full((10, 2), float(number)) for number in range(7)]
    sample = sample_local_descriptors(iter(local), 7, size=20, random_state=3)
    np.testing.assert_array_equal(np.unique(sample[:, 0], return_counts=True)[1], 3)
    for each in (1, 4):  # another draw from each image, and with each seed
        first, *others = np.split(sample_local_descriptors([np.arange(50.0)[:, None]] * 3, 3, 30, each), 3)
        assert len(np.unique(first)) == 10
        assert not any(np.array_equal(first, other) for other in others)
    everything = sample_local_descriptors(iter(local), 7, size=10_000, random_state=3)
    np.testing.assert_array_equal(everything, np.concatenate(local))


def rows_of(image: Grey) -> tuple[Grey, Grey]:
    return image, image[:, :2]


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

    sets = describe_points(images, rows_of, learned, (2, 5), "x")
    np.testing.assert_allclose(sets.descriptors[40:80], (images[1] - learned["mean"]) @ A.T, atol=1e-5)
    np.testing.assert_array_equal(sets.positions[40:80], images[1][:, :2].astype(np.float32))
    with pytest.raises(DataError, match="learn_x"):
        describe_points(images, rows_of, learned, (3, 5), "x")
    with pytest.raises(DataError, match="no array for 'mean'"):
        describe_points(images, rows_of, {}, (2, 5), "x")


# --- sets of points


class Case(NamedTuple):
    """A descriptor with small parameters, photographs and what it learned from them."""

    describe: Callable[..., PointSets]
    learn: Callable[..., dict[str, NDArray]]
    small: dict[str, Any]
    photos: list[np.ndarray]
    learned: dict[str, NDArray]

    def __call__(self, images: Any) -> PointSets:
        return self.describe(images, learned=self.learned, **self.small)


BLUR = (geometric_blur, learn_geometric_blur)
SIFT = (sift_points, learn_sift_points)
DENSE = (dense_sift.dense_sift, dense_sift.learn_dense_sift)


@pytest.fixture(scope="module", params=[SIFT, BLUR], ids=["sift", "blur"])
def case(request: pytest.FixtureRequest, photos: list[np.ndarray]) -> Case:
    describe, learn = request.param
    small = {"n_points": 40, "n_components": 8} | ({"size": 32.0} if request.param is SIFT else {})
    return Case(describe, learn, small, photos, learn(photos, random_state=0, **small))


def test_shapes_counts_and_positions(case: Case) -> None:
    images = [*case.photos, np.zeros((30, 30), dtype=np.uint8)]
    sets = case(images)
    assert sets.descriptors.shape == (160, 8)
    np.testing.assert_array_equal(sets.counts, [40, 40, 40, 40, 0])
    np.testing.assert_array_equal(sets.positions[:40], edge_points(images[0] / 255, n_points=40))
    assert {name: array.dtype for name, array in case.learned.items()} == dict.fromkeys(
        ("mean", "components"), np.dtype(np.float32)
    )


def test_brightness_contrast_and_kinds_of_images(case: Case) -> None:
    expected = case([case.photos[1]]).descriptors
    for other in np.split(case(alike(case.photos[1])).descriptors, len(alike(case.photos[1]))):
        # OpenCV's SIFT rounds the image to 8 bits
        np.testing.assert_allclose(other, expected, atol=0.02 if case.describe is sift_points else 1e-5)


def test_a_shift_moves_positions_and_leaves_descriptors(case: Case) -> None:
    framed = np.pad(case.photos[2], 40)
    for shift in ((0, 8), (4, -8)):
        moved = np.roll(framed, shift, axis=(0, 1))
        a, b = (case([image]) for image in (framed, moved))
        np.testing.assert_array_equal(b.positions, a.positions + np.array(shift, dtype=np.float32))
        # coarse levels are sampled at every second, fourth ... pixel, so a shift is not exact
        assert np.linalg.norm(a.descriptors - b.descriptors, axis=1).max() < 0.02


def test_images_without_edges(case: Case) -> None:
    rng = np.random.default_rng(0)
    images = [np.zeros((1, 1)), rng.random((2, 90)), np.full((50, 50), 0.3), rng.random((3, 3))]
    sets = case(images)
    np.testing.assert_array_equal(sets.counts[:3], 0)
    assert len(sets.descriptors) == sets.counts[3] <= 1
    with pytest.raises(DataError, match=rf"{case.describe.__name__}.*have 0"):
        case.learn(images[:3], random_state=0, **case.small)


@pytest.mark.parametrize(
    ("functions", "parameters", "name"),
    [
        (BLUR, {"radii": (3, 0), "samples": (1, 1)}, "radii"),
        (BLUR, {"radii": (0, 3), "samples": (1, 0)}, "samples"),
        (BLUR, {"radii": (0, 3), "samples": (1,)}, "samples"),
        (BLUR, {"n_components": 205}, "204"),
        (SIFT, {"size": 3}, "size"),
        (DENSE, {"step": 0}, "step"),
    ],
)
def test_invalid_parameters(functions: tuple, parameters: dict, name: str) -> None:
    describe, learn = functions
    with pytest.raises(ConfigError, match=name):
        describe(np.zeros((1, 40, 40)), learned={}, **parameters)
    with pytest.raises(ConfigError, match=name):
        learn(np.zeros((1, 40, 40)), random_state=0, **parameters)
    with pytest.raises(ConfigError, match="random_state"):
        learn(np.zeros((1, 40, 40)), random_state=-1)


# --- sets of points


@given(counts=st.lists(st.integers(0, 4), min_size=1, max_size=6), cut=st.integers(0, 6))
def test_concatenated_parts_equal_the_whole(counts: list[int], cut: int) -> None:
    sets, point = random_sets(counts), sum(counts[:cut])
    parts = [
        PointSets(sets.descriptors[points], sets.positions[points], sets.counts[images])
        for points, images in ((slice(point), slice(cut)), (slice(point, None), slice(cut, None)))
    ]
    for name, array in PointSets.concatenate(parts).as_arrays().items():
        np.testing.assert_array_equal(array, sets.as_arrays()[name])
        assert array.dtype == sets.as_arrays()[name].dtype
