"""Descriptors that learn nothing: length, kinds of images, invariances, clear refusals."""

from collections.abc import Callable

import numpy as np
import pytest

from mklearn.descriptors.table import DESCRIPTORS
from mklearn.errors import ConfigError, DataError
from mklearn.rows import load

# Each with parameters for 16 x 16 images, and the number of features that they give.
CASES: list[tuple[str, dict, int]] = [
    ("pixels", {}, 256),
    ("pixels", {"norm": "l2"}, 256),
    ("multiresolution", {}, 16 + 64 + 256),
    ("multiresolution", {"resolutions": [3]}, 9),
    ("patches", {"size": 4}, 256),
    ("patches", {"size": 4, "patch": (3, 0)}, 16),
    ("hog", {}, 36),
    ("hog", {"cell": 4, "orientations": 8}, 3 * 3 * 4 * 8),
    ("phog", {}, 420),
    ("phog", {"levels": 2, "bins": 40, "angle": 360}, 200),
    ("lbp", {}, 16 * 59),
    ("lbp", {"patterns": "rotation_invariant", "radius": 2, "grid": 3}, 90),
    ("sift_grid", {"step": 4, "size": 8}, 9 * 128),
]
# Features that brightness (added) and contrast (a factor) leave alone.
INVARIANT = {"hog", "phog", "lbp", "sift_grid"}

every_case = pytest.mark.parametrize(("name", "parameters", "length"), CASES)


def descriptor(name: str) -> Callable[..., np.ndarray]:
    function: Callable[..., np.ndarray] = load(DESCRIPTORS[name].implementation)
    return function


@pytest.fixture(scope="module")
def images() -> np.ndarray:
    """Smooth textures with edges, grey levels 0..255."""
    from scipy.ndimage import gaussian_filter

    rng = np.random.default_rng(0)
    noise = gaussian_filter(rng.standard_normal((6, 16, 16)), (0, 1, 1))
    noise[:, 4:11, 6:] += 0.5
    noise -= noise.min()
    return np.round(200 * noise / noise.max()).astype(np.uint8)


@every_case
def test_length_and_kinds_of_images(name: str, parameters: dict, length: int, images: np.ndarray) -> None:
    features = descriptor(name)(images, **parameters)
    assert features.shape == (6, length)
    floats = images / 255
    rgba = np.stack([floats, floats, floats, np.ones_like(floats)], axis=3)
    np.testing.assert_array_equal(descriptor(name)(floats, **parameters), features)
    np.testing.assert_array_equal(descriptor(name)(list(images), **parameters), features)
    if name != "lbp":  # the luma of a grey colour is grey to rounding, which may break a tie between two pixels
        np.testing.assert_allclose(descriptor(name)(rgba, **parameters), features, atol=1e-9)
        np.testing.assert_allclose(descriptor(name)(rgba[..., :3], **parameters), features, atol=1e-9)


@every_case
def test_brightness_and_contrast(name: str, parameters: dict, length: int, images: np.ndarray) -> None:
    # multiples of 1/256 and a power of two, so that the changes of the image are exact
    image = images / 256
    features = descriptor(name)(image, **parameters)
    brighter = descriptor(name)(image + 0.25, **parameters)
    flatter = descriptor(name)(0.5 * image, **parameters)
    if name in INVARIANT:
        np.testing.assert_allclose(brighter, features, atol=1e-9)
    else:
        assert np.abs(brighter - features).max() > 1e-3
    if name in INVARIANT or parameters.get("norm") == "l2":
        np.testing.assert_allclose(flatter, features, atol=1e-3 if name == "hog" else 1e-9)
    else:
        np.testing.assert_allclose(flatter, 0.5 * features, rtol=1e-12)


@every_case
def test_flat_images(name: str, parameters: dict, length: int) -> None:
    for value in (0.0, 0.3, 1e6):
        features = descriptor(name)(np.full((2, 16, 16), value), **parameters)
        assert np.isfinite(features).all()
        np.testing.assert_array_equal(features[0], features[1])
        if name in ("hog", "phog"):
            np.testing.assert_array_equal(features, 0)


@pytest.mark.parametrize(
    ("name", "parameters", "least"),
    [("hog", {"cell": 1, "block": 1}, 3), ("phog", {"levels": 1}, 3), ("lbp", {"grid": 1, "radius": 3}, 7)],
)
def test_smallest_images(name: str, parameters: dict, least: int) -> None:
    rng = np.random.default_rng(0)
    assert np.isfinite(descriptor(name)(rng.random((1, least, least)), **parameters)).all()
    images = [rng.random((least, least)), rng.random((least, least - 1))]
    with pytest.raises(DataError, match=rf"Image 1 has .* needs at least {least} x {least}"):
        descriptor(name)(images, **parameters)


@every_case
def test_images_of_different_sizes(name: str, parameters: dict, length: int) -> None:
    rng = np.random.default_rng(0)
    images = [rng.random((16, 32)), rng.random((32, 16))]  # on its side an image has as many features
    if not DESCRIPTORS[name].one_size or parameters.get("patch"):
        assert descriptor(name)(images, **parameters).shape == (2, length)
    else:
        with pytest.raises(
            DataError, match=r"needs images of one size, and image 1 has 32 x 16 pixels .* image 0 has 16 x 32"
        ):
            descriptor(name)(images, **parameters)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("pixels", {"norm": "l1"}, "Invalid value 'l1' for `norm`: expected a str among"),
        ("multiresolution", {"resolutions": [2.5]}, "[2.5] for `resolutions`"),
        ("multiresolution", {"resolutions": []}, "[] for `resolutions`"),
        ("patches", {"size": 4, "patch": (1,)}, "(1,) for `patch`"),
        ("hog", {"cell": True}, "True for `cell`"),
        ("phog", {"bins": 10**30}, "for `bins`"),
        ("phog", {"sigma": 0}, "0 for `sigma`"),
        ("sift_grid", {"size": np.inf}, "inf for `size`"),
        ("colour_histogram", {"bins": (8, 4)}, "(8, 4) for `bins`: expected a list of 3 times an int"),
        ("colour_histogram", {"bins": 8}, "8 for `bins`"),
    ],
)
def test_invalid_parameters(name: str, parameters: dict, message: str, images: np.ndarray) -> None:
    with pytest.raises(ConfigError) as caught:
        descriptor(name)(images, **parameters)
    assert message in str(caught.value)
