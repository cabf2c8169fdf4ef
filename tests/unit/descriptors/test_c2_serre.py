"""C2 features of Serre, Wolf and Poggio: against a loop over windows, invariances, refusals, and on real images."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from mklearn.descriptors.c2_serre import c2_serre, learn_c2_serre
from mklearn.descriptors.gabor_c1 import prepare_images, serre_c1
from mklearn.errors import ConfigError, DataError

# The least legal size, so that the loops end soon.
SMALL = {"n_patches": 8, "short_side": 97}


def textures(count: int, height: int = 97, width: int = 104) -> np.ndarray:
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
    return learn_c2_serre(images, random_state=0, **SMALL)


@pytest.fixture(scope="module")
def features(images: np.ndarray, learned: dict[str, np.ndarray]) -> np.ndarray:
    return c2_serre(images, learned=learned, **SMALL)


def test_features_equal_the_loop_over_windows(
    images: np.ndarray, learned: dict[str, np.ndarray], features: np.ndarray
) -> None:
    expected = []
    for image in prepare_images([image / 255 for image in images[:2]], 97, "c2"):
        row = []
        for size in (4, 8, 12, 16):
            for patch in learned[f"patches_{size}"].astype(np.float64):
                best = 0.0
                for band in serre_c1(image):
                    for i in range(band.shape[1] - size + 1):
                        for j in range(band.shape[2] - size + 1):
                            difference = band[:, i : i + size, j : j + size] - patch
                            best = max(best, np.exp(-np.sum(difference**2) / (2 * (size / 4) ** 2)))
                row.append(best)
        expected.append(row)
    np.testing.assert_allclose(features[:2], expected, atol=1e-5)
    assert features.shape == (4, 8)
    assert features.dtype == np.float64


def test_patches_are_where_their_origins_say(images: np.ndarray, learned: dict[str, np.ndarray]) -> None:
    c1 = [serre_c1(image)[1] for image in prepare_images([image / 255 for image in images], 97, "c2")]
    for size in (4, 8, 12, 16):
        assert learned[f"patches_{size}"].shape == (2, 4, size, size)
        for patch, (number, row, column) in zip(learned[f"patches_{size}"], learned[f"origins_{size}"], strict=True):
            np.testing.assert_array_equal(patch, c1[number][:, row : row + size, column : column + size])


def test_an_image_answers_its_own_patches_with_one(learned: dict[str, np.ndarray], features: np.ndarray) -> None:
    origins = np.concatenate([learned[f"origins_{size}"][:, 0] for size in (4, 8, 12, 16)])
    np.testing.assert_allclose(features[origins, np.arange(8)], 1, atol=1e-5)
    assert (features >= 0).all()
    assert (features <= 1).all()
    # and others with less
    assert features.min() < 0.9


def test_learning_is_deterministic_and_random(images: np.ndarray, learned: dict[str, np.ndarray]) -> None:
    again = learn_c2_serre(images, random_state=0, **SMALL)
    other = learn_c2_serre(images, random_state=1, **SMALL)
    assert set(again) == set(learned)
    for name, array in learned.items():
        np.testing.assert_array_equal(again[name], array)
    assert any((other[name] != learned[name]).any() for name in learned if name.startswith("origins"))


def test_places_are_drawn_from_the_whole_of_c1() -> None:
    """Of many patches, some begin in every place that one may begin in, and none elsewhere; all images are used."""
    images = textures(3, 97, 97)
    learned = learn_c2_serre(images, random_state=0, n_patches=1200, short_side=97)
    rows, columns = serre_c1(prepare_images([images[0] / 255], 97, "c2")[0])[1].shape[1:]
    for size in (4, 8, 12, 16):
        number, row, column = learned[f"origins_{size}"].T
        assert set(number) == {0, 1, 2}
        assert set(row) == set(range(rows - size + 1))
        assert set(column) == set(range(columns - size + 1))


@pytest.mark.parametrize(("total", "counts"), [(8, [2, 2, 2, 2]), (6, [2, 2, 1, 1]), (1, [1, 0, 0, 0])])
def test_numbers_of_patches(images: np.ndarray, total: int, counts: list[int]) -> None:
    learned = learn_c2_serre(images, random_state=0, n_patches=total, short_side=97)
    assert [len(learned[f"patches_{size}"]) for size in (4, 8, 12, 16)] == counts
    assert c2_serre(images[:1], learned=learned, n_patches=total, short_side=97).shape == (1, total)


def test_independent_of_the_batch_and_of_the_kind_of_image(
    images: np.ndarray, learned: dict[str, np.ndarray], features: np.ndarray
) -> None:
    before = images.copy()
    images.flags.writeable = False
    np.testing.assert_array_equal(c2_serre(images[1:3], learned=learned, **SMALL), features[1:3])
    np.testing.assert_array_equal(c2_serre(images[::-1], learned=learned, **SMALL), features[::-1])
    floats = images[:1] / 255
    np.testing.assert_array_equal(c2_serre(list(floats), learned=learned, **SMALL), features[:1])
    rgba = np.stack([*3 * [floats], np.ones_like(floats)], axis=3)
    np.testing.assert_allclose(c2_serre(rgba, learned=learned, **SMALL), features[:1], atol=1e-5)
    np.testing.assert_allclose(c2_serre(floats.astype(np.float32), learned=learned, **SMALL), features[:1], atol=1e-5)
    np.testing.assert_array_equal(images, before)


def test_brightness_contrast_and_negatives(
    images: np.ndarray, learned: dict[str, np.ndarray], features: np.ndarray
) -> None:
    image = images[:1] / 255
    for changed in (image + 0.25, 0.5 * image, 1e4 * image + 1e6, 1 - image):
        np.testing.assert_allclose(c2_serre(changed, learned=learned, **SMALL), features[:1], atol=1e-5)


def test_sigma_is_the_width_of_s2(images: np.ndarray, learned: dict[str, np.ndarray], features: np.ndarray) -> None:
    wider = c2_serre(images, learned=learned, sigma=2.0, **SMALL)
    np.testing.assert_allclose(wider**4, features, atol=1e-12)


def test_images_without_contrast_are_alike(learned: dict[str, np.ndarray]) -> None:
    flat = c2_serre([np.full((97, 97), 0.3), np.zeros((120, 200))], learned=learned, **SMALL)
    expected = [
        np.exp(-np.sum(patch**2) / (2 * (size / 4) ** 2))
        for size in (4, 8, 12, 16)
        for patch in learned[f"patches_{size}"]
    ]
    np.testing.assert_allclose(flat, [expected, expected], atol=1e-6)
    # patches of images without contrast are zero, which such images answer with one
    nothing = learn_c2_serre(np.zeros((1, 97, 97)), random_state=0, **SMALL)
    np.testing.assert_array_equal(c2_serre(np.ones((1, 97, 97)), learned=nothing, **SMALL), 1)


def test_sizes_of_images(images: np.ndarray, learned: dict[str, np.ndarray]) -> None:
    mixed = [images[0], images[1][:60, :90], images[2][:, :11]]
    assert np.isfinite(c2_serre(mixed, learned=learned, **SMALL)).all()
    for function in (
        lambda x: c2_serre(x, learned=learned, **SMALL),
        lambda x: learn_c2_serre(x, random_state=0, **SMALL),
    ):
        with pytest.raises(DataError, match="Image 1 has 1 x 1 pixels, but c2_serre needs at least 11 x 11"):
            function([images[0], np.ones((1, 1))])
        with pytest.raises(DataError, match="Image 0 has 11 x 200 pixels, but c2_serre needs images at most 10 times"):
            function([np.ones((11, 200))])
        with pytest.raises(DataError, match="Image 0 has NaN"):
            function([np.full((20, 20), np.nan)])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_patches": 0}, "0 for `n_patches`"),
        ({"n_patches": 2.5}, "2.5 for `n_patches`"),
        ({"short_side": 96}, "96 for `short_side`: expected an integer >= 97"),
        ({"sigma": 0.0}, "0.0 for `sigma`"),
        ({"sigma": np.nan}, "nan for `sigma`"),
        ({"random_state": -1}, "-1 for `random_state`"),
    ],
)
def test_refuses_parameters(parameters: dict, message: str, images: np.ndarray) -> None:
    with pytest.raises(ConfigError) as caught:
        learn_c2_serre(images[:1], **{"random_state": 0} | parameters)
    assert message in str(caught.value)


def test_refuses_what_other_parameters_learned(images: np.ndarray, learned: dict[str, np.ndarray]) -> None:
    with pytest.raises(DataError, match=r"shape \(2, 4, 4, 4\) for 'patches_4', expected shape \(250, "):
        c2_serre(images, learned=learned, short_side=97)
    with pytest.raises(DataError, match="short_side = 97, expected 140: pass what learn_c2_serre"):
        c2_serre(images, learned=learned, n_patches=8)
    with pytest.raises(DataError, match="no array for 'patches_4'"):
        c2_serre(images, learned={}, **SMALL)


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
    learned = learn_c2_serre(objects, random_state=0, n_patches=60)
    features = c2_serre(objects, learned=learned, n_patches=60)
    thing = np.repeat(np.arange(6), 4)
    distance = np.sum((features[:, None] - features) ** 2, axis=2)
    np.fill_diagonal(distance, np.inf)
    assert np.mean(thing[distance.argmin(axis=1)] == thing) >= 0.95


def test_shifts_change_little(objects: np.ndarray) -> None:
    """An object moved across a dark field, by little and by a quarter of the image, beside another object."""
    learned = learn_c2_serre(objects, random_state=0, n_patches=40)
    here, near, far, other = (np.zeros((200, 200)) for _ in range(4))
    for field, image, (row, column) in (
        (here, objects[0], (20, 20)),
        (near, objects[0], (24, 17)),
        (far, objects[0], (60, 60)),
        (other, objects[8], (20, 20)),
    ):
        field[row : row + 128, column : column + 128] = image
    features = c2_serre([here, near, far, other], learned=learned, n_patches=40)
    to_near, to_far, to_other = np.linalg.norm(features[1:] - features[0], axis=1)
    assert to_near < 0.3 * to_other
    assert to_far < 0.75 * to_other


def test_importing_is_light() -> None:
    code = (
        "import sys; import mklearn.descriptors.c2_serre, mklearn.descriptors.c2_mutch_lowe; "
        "heavy = {'cv2', 'numba', 'scipy.fft', 'skimage', 'sklearn'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
