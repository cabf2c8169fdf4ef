"""C2 features of Mutch and Lowe: against a loop over windows, the limited range, invariances, refusals, real images."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from mklearn.descriptors.c2_mutch_lowe import c2_mutch_lowe, learn_c2_mutch_lowe
from mklearn.descriptors.c2_patches import patch_sizes
from mklearn.descriptors.gabor_c1 import prepare_images, pyramid_c1
from mklearn.errors import ConfigError, DataError

SMALL = {"n_patches": 40, "short_side": 97}


def textures(count: int, height: int = 97, width: int = 120) -> np.ndarray:
    """Smooth textures with edges, grey levels 0..255."""
    noise = gaussian_filter(np.random.default_rng(0).standard_normal((count, height, width)), (0, 2, 2))
    noise[:, height // 3 : height // 2, width // 4 :] += 0.4
    noise -= noise.min()
    return np.round(255 * noise / noise.max()).astype(np.uint8)


@pytest.fixture(scope="module")
def images() -> np.ndarray:
    return textures(4)


@pytest.fixture(scope="module")
def learned(images: np.ndarray) -> dict[str, np.ndarray]:
    return learn_c2_mutch_lowe(images, random_state=0, **SMALL)


@pytest.fixture(scope="module")
def features(images: np.ndarray, learned: dict[str, np.ndarray]) -> np.ndarray:
    return c2_mutch_lowe(images, learned=learned, **SMALL)


def slow_features(image: np.ndarray, learned: dict[str, np.ndarray], short_side: int) -> np.ndarray:
    """Every window of every scale, kept where its centre is in the patch's range (or the nearest one on an axis)."""
    (prepared,) = prepare_images([image / 255], short_side, "c2")
    scales = pyramid_c1(prepared, 0.5)
    features = []
    for patch, size in enumerate(learned["sizes"]):
        responses = []
        for scale, c1 in enumerate(scales):
            if abs(scale - learned["scales"][patch]) > 1 or min(c1.shape[1:]) < size:
                continue
            keep = []
            for axis in range(2):
                side = round(prepared.shape[axis] / 2 ** (scale / 4))
                # place i of C1 covers pixels 5 i + 5 to 5 i + 15
                starts = np.arange(c1.shape[1 + axis] - size + 1)
                centres = (5 * starts + 5 + (5 * (starts + size - 1) + 15)) / 2 / side
                off = np.abs(centres - learned["positions"][patch, axis])
                keep.append(starts[off <= 0.05] if (off <= 0.05).any() else starts[[off.argmin()]])
            for row in keep[0]:
                for column in keep[1]:
                    total = 0.0
                    for entry in range(size**2):
                        i, j = divmod(entry, size)
                        x = c1[learned["orientations"][patch, entry], row + i, column + j]
                        total += (float(x) - float(learned["values"][patch, entry])) ** 2
                    responses.append(np.exp(-total / (2 * (size / 4) ** 2)))
        features.append(max(responses))
    return np.array(features)


def test_features_equal_the_loop_over_windows(
    images: np.ndarray, learned: dict[str, np.ndarray], features: np.ndarray
) -> None:
    for number in range(2):
        np.testing.assert_allclose(features[number], slow_features(images[number], learned, 97), atol=1e-5)
    tall = textures(1, 150, 97)[0]
    np.testing.assert_allclose(
        c2_mutch_lowe([tall], learned=learned, **SMALL)[0], slow_features(tall, learned, 97), atol=1e-5
    )
    assert features.shape == (4, 40)
    assert features.dtype == np.float64


def test_patches_are_the_dominant_orientations_at_their_origins(
    images: np.ndarray, learned: dict[str, np.ndarray]
) -> None:
    prepared = prepare_images([image / 255 for image in images], 97, "c2")
    pyramids = [pyramid_c1(image, 0.5) for image in prepared]
    for patch, size in enumerate(learned["sizes"]):
        number, row, column = learned["origins"][patch]
        scale = learned["scales"][patch]
        window = pyramids[number][scale][:, row : row + size, column : column + size].reshape(12, -1)
        values, orientations = learned["values"][patch], learned["orientations"][patch]
        np.testing.assert_array_equal(values[: size**2], window.max(axis=0))
        np.testing.assert_array_equal(window[orientations[: size**2], np.arange(size**2)], values[: size**2])
        np.testing.assert_array_equal(values[size**2 :], 0)
        sides = [round(side / 2 ** (scale / 4)) for side in prepared[number].shape]
        centre = [(5 * start + 5 + 5 * (start + size - 1) + 15) / 2 for start in (row, column)]
        np.testing.assert_allclose(learned["positions"][patch], np.divide(centre, sides))
    assert len(set(learned["scales"])) > 3


def test_an_image_answers_its_own_patches_with_one(learned: dict[str, np.ndarray], features: np.ndarray) -> None:
    np.testing.assert_allclose(features[learned["origins"][:, 0], np.arange(40)], 1, atol=1e-6)
    assert (features >= 0).all()
    assert (features <= 1).all()
    assert features.min() < 0.7


def test_learning_is_deterministic_and_random(images: np.ndarray, learned: dict[str, np.ndarray]) -> None:
    again = learn_c2_mutch_lowe(images, random_state=0, **SMALL)
    other = learn_c2_mutch_lowe(images, random_state=1, **SMALL)
    assert set(again) == set(learned)
    for name, array in learned.items():
        np.testing.assert_array_equal(again[name], array)
    assert (other["origins"] != learned["origins"]).any()


@pytest.mark.parametrize(("total", "counts"), [(40, [10] * 4), (7, [2, 2, 2, 1]), (1, [1, 0, 0, 0])])
def test_numbers_of_patches(images: np.ndarray, total: int, counts: list[int]) -> None:
    assert [list(patch_sizes(total)).count(size) for size in (4, 8, 12, 16)] == counts
    learned = learn_c2_mutch_lowe(images, random_state=0, n_patches=total, short_side=97)
    assert c2_mutch_lowe(images[:1], learned=learned, n_patches=total, short_side=97).shape == (1, total)


def test_independent_of_the_batch_and_of_the_kind_of_image(
    images: np.ndarray, learned: dict[str, np.ndarray], features: np.ndarray
) -> None:
    before = images.copy()
    images.flags.writeable = False
    np.testing.assert_array_equal(c2_mutch_lowe(images[1:3], learned=learned, **SMALL), features[1:3])
    np.testing.assert_array_equal(c2_mutch_lowe(images[::-1], learned=learned, **SMALL), features[::-1])
    floats = images[:1] / 255
    np.testing.assert_array_equal(c2_mutch_lowe(list(floats), learned=learned, **SMALL), features[:1])
    # learned arrays that were stored and read again may be read-only, or of another layout
    stored = {name: np.array(array, order="F") for name, array in learned.items()}
    for array in stored.values():
        array.flags.writeable = False
    np.testing.assert_array_equal(c2_mutch_lowe(images, learned=stored, **SMALL), features)
    np.testing.assert_array_equal(images, before)


def test_brightness_contrast_negatives_and_colour(
    images: np.ndarray, learned: dict[str, np.ndarray], features: np.ndarray
) -> None:
    """To rounding; a response at the very threshold of inhibition may fall to either side, which few features see."""
    image = images[:1] / 255
    rgba = np.stack([*3 * [image], np.ones_like(image)], axis=3)
    for changed in (image + 0.25, 0.5 * image, 1e4 * image + 1e6, 1 - image, rgba, image.astype(np.float32)):
        off = np.abs(c2_mutch_lowe(changed, learned=learned, **SMALL) - features[:1])
        assert np.mean(off > 1e-5) <= 0.1
        assert off.max() < 0.01


def test_sigma_is_the_width_of_s2(images: np.ndarray, learned: dict[str, np.ndarray], features: np.ndarray) -> None:
    wider = c2_mutch_lowe(images, learned=learned, sigma=2.0, **SMALL)
    np.testing.assert_allclose(wider**4, features, atol=1e-12)


def test_images_without_contrast_are_alike(learned: dict[str, np.ndarray]) -> None:
    flat = c2_mutch_lowe([np.full((97, 97), 0.3), np.zeros((120, 200))], learned=learned, **SMALL)
    expected = np.exp(-np.sum(learned["values"] ** 2, axis=1) / (2 * (learned["sizes"] / 4) ** 2))
    np.testing.assert_allclose(flat, [expected, expected], atol=1e-6)
    nothing = learn_c2_mutch_lowe(np.zeros((1, 97, 97)), random_state=0, **SMALL)
    np.testing.assert_array_equal(c2_mutch_lowe(np.ones((1, 97, 97)), learned=nothing, **SMALL), 1)


def test_sizes_of_images(images: np.ndarray, learned: dict[str, np.ndarray]) -> None:
    mixed = [images[0], images[1][:60, :90], images[2][:, :11]]
    assert np.isfinite(c2_mutch_lowe(mixed, learned=learned, **SMALL)).all()
    for function in (
        lambda x: c2_mutch_lowe(x, learned=learned, **SMALL),
        lambda x: learn_c2_mutch_lowe(x, random_state=0, **SMALL),
    ):
        with pytest.raises(DataError, match="Image 1 has 1 x 1 pixels, but c2_mutch_lowe needs at least 11 x 11"):
            function([images[0], np.ones((1, 1))])
        with pytest.raises(DataError, match="Image 0 has 11 x 200 pixels, but c2_mutch_lowe needs images at most 10"):
            function([np.ones((11, 200))])


@pytest.mark.parametrize("short_side", [95, 96, 101, 140])
def test_the_least_side_holds_every_patch(short_side: int) -> None:
    learned = learn_c2_mutch_lowe(textures(1), random_state=0, n_patches=20, short_side=short_side)
    features = c2_mutch_lowe(textures(1, 30, 30), learned=learned, n_patches=20, short_side=short_side)
    assert (features > 0).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_patches": 0}, "0 for `n_patches`"),
        ({"short_side": 94}, "94 for `short_side`: expected an integer >= 95"),
        ({"sigma": -1.0}, "-1.0 for `sigma`"),
        ({"inhibition": 1.5}, "1.5 for `inhibition`: expected a number from 0 to 1"),
        ({"inhibition": np.nan}, "nan for `inhibition`"),
        ({"random_state": "0"}, "'0' for `random_state`"),
    ],
)
def test_refuses_parameters(parameters: dict, message: str, images: np.ndarray) -> None:
    with pytest.raises(ConfigError) as caught:
        learn_c2_mutch_lowe(images[:1], **{"random_state": 0} | parameters)
    assert message in str(caught.value)


def test_refuses_what_other_parameters_learned(images: np.ndarray, learned: dict[str, np.ndarray]) -> None:
    with pytest.raises(DataError, match=r"shape \(40,\) for 'sizes', expected shape \(2040,\)"):
        c2_mutch_lowe(images, learned=learned, short_side=97)
    with pytest.raises(DataError, match="short_side = 97, expected 140: pass what learn_c2_mutch_lowe"):
        c2_mutch_lowe(images, learned=learned, n_patches=40)
    with pytest.raises(DataError, match=r"inhibition = 0\.5, expected 0\.2"):
        c2_mutch_lowe(images, learned=learned, inhibition=0.2, **SMALL)
    with pytest.raises(DataError, match="no array for 'values'"):
        c2_mutch_lowe(images, learned={"sizes": learned["sizes"]}, **SMALL)
    for name, value in (("scales", 9), ("orientations", 12), ("sizes", 17), ("positions", np.nan)):
        with pytest.raises(DataError, match="that learn_c2_mutch_lowe never returns"):
            c2_mutch_lowe(images, learned=learned | {name: np.full_like(learned[name], value)}, **SMALL)


@pytest.fixture(scope="module")
def objects(mirror: Path) -> np.ndarray:
    """Four views of six objects of COIL-20, 128 x 128."""
    from PIL import Image

    archive = zipfile.ZipFile(mirror / "coil20" / "coil-20-proc.zip")
    names = {Path(name).name: name for name in archive.namelist()}
    return np.array(
        [
            np.asarray(Image.open(io.BytesIO(archive.read(names[f"obj{thing}__{view}.png"]))).convert("L"))
            for thing in (2, 5, 8, 10, 14, 17)
            for view in (0, 2, 4, 6)
        ]
    )


def test_views_of_objects_resemble_each_other(objects: np.ndarray) -> None:
    learned = learn_c2_mutch_lowe(objects, random_state=0, n_patches=100)
    features = c2_mutch_lowe(objects, learned=learned, n_patches=100)
    thing = np.repeat(np.arange(6), 4)
    distance = np.sum((features[:, None] - features) ** 2, axis=2)
    np.fill_diagonal(distance, np.inf)
    assert np.mean(thing[distance.argmin(axis=1)] == thing) >= 0.95


def test_shifts_within_the_range_change_little_and_beyond_it_much(objects: np.ndarray) -> None:
    here, near, far, mirrored = (np.zeros((200, 200)) for _ in range(4))
    for field, image, (row, column) in (
        (here, objects[0], (20, 20)),
        (near, objects[0], (24, 17)),
        (far, objects[0], (60, 60)),
        (mirrored, objects[0][:, ::-1], (20, 20)),
    ):
        field[row : row + 128, column : column + 128] = image
    # patches of the image itself, so that features say where it went
    learned = learn_c2_mutch_lowe([here], random_state=0, n_patches=200)
    stayed, moved, lost, turned = c2_mutch_lowe([here, near, far, mirrored], learned=learned, n_patches=200).mean(
        axis=1
    )
    assert stayed == pytest.approx(1, abs=1e-6)
    assert moved > 0.95
    assert lost < moved - 0.1
    assert turned < moved - 0.04
