"""Gabor filters, S1, C1 and C2 against loops over positions and windows, their invariances and refusals."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import Any

import cv2
import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from mklearn.errors import DataError
from mklearn.papers.mkl_dr import c2
from mklearn.papers.mkl_dr.gabor_c1 import prepare_images, pyramid_c1, serre_c1


def texture_with_a_flat_part(height: int, width: int, seed: int = 0) -> np.ndarray:
    """Blobs with an edge and a flat part, mean 0 and standard deviation 1."""
    image = gaussian_filter(np.random.default_rng(seed).standard_normal((height, width)), 1.5)
    image[:, width // 2 :] += 0.3
    image[-height // 4 :, : width // 4] = 0.1
    return (image - image.mean()) / image.std()


def slow_filter(size: int, wavelength: float, sigma: float, degrees: float, *, circular: bool) -> np.ndarray:
    """The definition: a Gaussian 0.3 times as high as wide, times a wave across it."""
    offsets = np.arange(size) - size // 2
    place = (offsets + 1j * offsets[:, None]) / np.exp(-1j * np.radians(degrees))
    envelope = np.exp(-((place.real / sigma) ** 2 + (0.3 * place.imag / sigma) ** 2) / 2)
    values = envelope * np.cos(2 * np.pi * place.real / wavelength)
    if circular:
        values[abs(place) > size / 2] = 0
    values = values - values.mean()
    return values / np.sqrt(np.sum(values**2))


def slow_s1(image: np.ndarray, filters: np.ndarray) -> np.ndarray:
    """Each filter on each window, over the contrast of the window or of one with standard deviation 1, if greater."""
    size = filters.shape[1]
    responses = np.zeros((len(filters), image.shape[0] - size + 1, image.shape[1] - size + 1))
    for row, column in np.ndindex(*responses.shape[1:]):
        window = image[row : row + size, column : column + size]
        contrast = max(np.linalg.norm(window - window.mean()), size)
        responses[:, row, column] = np.abs(np.tensordot(filters, window)) / contrast
    return responses


def slow_serre_c1(image: np.ndarray) -> list[np.ndarray]:
    bands = []
    for band in range(8):
        sizes = (4 * band + 7, 4 * band + 9)
        pair = []
        for size in sizes:
            wavelength = 2 * size / (4 - 0.05 * (size - 7) / 2)
            filters = [slow_filter(size, wavelength, 0.8 * wavelength, 45 * k, circular=True) for k in range(4)]
            pair.append(slow_s1(image, np.array(filters)))
        pool, stride = 8 + 2 * band, 4 + band
        height, width = pair[1].shape[1:]
        c1 = np.zeros((4, (height - pool) // stride + 1, (width - pool) // stride + 1))
        for row, column in np.ndindex(*c1.shape[1:]):
            i, j = row * stride, column * stride
            large = pair[1][:, i : i + pool, j : j + pool]
            # the same centres under the smaller filter
            small = pair[0][:, i + 1 : i + 1 + pool, j + 1 : j + 1 + pool]
            c1[:, row, column] = np.maximum(large, small).max(axis=(1, 2))
        bands.append(c1)
    return bands


def slow_inhibited(maps: np.ndarray, h: float) -> np.ndarray:
    low, high = maps.min(axis=0), maps.max(axis=0)
    return np.where(maps < low + h * (high - low), 0, maps)


def slow_pyramid_c1(image: np.ndarray, h: float) -> list[np.ndarray]:
    filters = np.array([slow_filter(11, 5.6, 4.5, 15 * k, circular=False) for k in range(12)])
    sides = [tuple(round(side * 2 ** (-scale / 4)) for side in image.shape) for scale in range(10)]
    scaled = [cv2.resize(image, side[::-1], interpolation=cv2.INTER_AREA) for side in sides]
    s1 = [slow_inhibited(slow_s1(picture, filters), h) for picture in scaled]
    scales = []
    for scale in range(9):
        height, width = s1[scale].shape[1:]
        c1 = np.zeros((12, (height - 10) // 5 + 1, (width - 10) // 5 + 1))
        # centres of the next scale's filters, in pixels of this one
        centres = [
            (np.arange(s1[scale + 1].shape[axis + 1]) + 5.5) * sides[scale][axis] / sides[scale + 1][axis]
            for axis in range(2)
        ]
        for row, column in np.ndindex(*c1.shape[1:]):
            own = s1[scale][:, 5 * row : 5 * row + 10, 5 * column : 5 * column + 10]
            keep = [
                (start - 1e-9 <= centre) & (centre < start + 10 - 1e-9)
                for start, centre in zip((5 * row + 5, 5 * column + 5), centres, strict=True)
            ]
            other = s1[scale + 1][:, keep[0]][:, :, keep[1]]
            c1[:, row, column] = np.maximum(own.max(axis=(1, 2)), other.max(axis=(1, 2)))
        scales.append(slow_inhibited(c1, h))
    return scales


@pytest.mark.parametrize(
    ("compute", "slow", "shape", "most"),
    [
        (serre_c1, slow_serre_c1, (62, 68), 0),
        # a response at the very threshold may fall to either side of it
        *((partial(pyramid_c1, inhibition=h), partial(slow_pyramid_c1, h=h), (80, 87), 1) for h in (0.0, 0.5)),
    ],
)
def test_c1_equals_the_loop(compute: Any, slow: Any, shape: tuple[int, int], most: int) -> None:
    image = texture_with_a_flat_part(*shape)
    for c1, expected in zip(compute(image), slow(image), strict=True):
        assert c1.shape == expected.shape
        assert c1.dtype == np.float32
        assert 0 <= c1.min() <= c1.max() <= 1
        assert (np.abs(c1 - expected) > 1e-5).sum() <= most


def test_prepared_images() -> None:
    rng = np.random.default_rng(0)
    images = [rng.random(shape) for shape in ((272, 220), (60, 90), (140, 150), (11, 110))]
    prepared = prepare_images(images, "c1")
    assert [image.shape for image in prepared] == [(173, 140), (140, 210), (140, 150), (140, 1400)]
    for image in prepared:
        assert image.mean() == pytest.approx(0, abs=1e-12)
        assert image.std() == pytest.approx(1)
    # an image that has the size already keeps its pixels
    np.testing.assert_allclose(prepared[2], (images[2] - images[2].mean()) / images[2].std(), atol=1e-12)
    # brightness and contrast go, whatever their size
    for brightness, contrast in ((0.25, 0.5), (1e6, 1.0), (-3.0, 1e-6), (0.0, 1e8)):
        (other,) = prepare_images([contrast * images[0] + brightness], "c1")
        np.testing.assert_allclose(other, prepared[0], atol=1e-5)


# --- C2


def textures(count: int, height: int = 140, width: int = 150) -> np.ndarray:
    """Smooth textures with edges, grey levels 0..255."""
    noise = gaussian_filter(np.random.default_rng(0).standard_normal((count, height, width)), (0, 2, 2))
    noise[:, height // 3 : height // 2, width // 4 :] += 0.4
    noise -= noise.min()
    return np.round(255 * noise / noise.max()).astype(np.uint8)


@dataclass
class Model:
    """A C2 model with the parameters, images and learned patches of these tests."""

    name: str
    describe: Callable[..., np.ndarray]
    learn: Callable[..., dict[str, np.ndarray]]
    n_patches: int
    width: int

    @cached_property
    def images(self) -> np.ndarray:
        return textures(4, width=self.width)

    @cached_property
    def learned(self) -> dict[str, np.ndarray]:
        return self.learn(self.images, random_state=0, n_patches=self.n_patches)

    @cached_property
    def features(self) -> np.ndarray:
        return self(self.images)

    def __call__(self, images: Any, **changed: Any) -> np.ndarray:
        return self.describe(images, **{"learned": self.learned, "n_patches": self.n_patches, **changed})


SERRE = Model("c2_serre", c2.c2_serre, c2.learn_c2_serre, 8, 150)
MUTCH_LOWE = Model("c2_mutch_lowe", c2.c2_mutch_lowe, c2.learn_c2_mutch_lowe, 40, 167)
both = pytest.mark.parametrize("model", [SERRE, MUTCH_LOWE], ids=["serre", "mutch_lowe"])


def slow_serre(image: np.ndarray) -> list[float]:
    """Every window of every band."""
    (prepared,) = prepare_images([image / 255], "c2")
    bands = serre_c1(prepared)
    features = []
    for size in c2.PATCH_SIZES:
        for patch in SERRE.learned[f"patches_{size}"].astype(np.float64):
            least = min(
                np.sum((band[:, i : i + size, j : j + size] - patch) ** 2)
                for band in bands
                if min(band.shape[1:]) >= size
                for i, j in np.ndindex(band.shape[1] - size + 1, band.shape[2] - size + 1)
            )
            features.append(np.exp(-least / (2 * (size / 4) ** 2)))
    return features


def slow_mutch_lowe(image: np.ndarray) -> list[float]:
    """Every window of every scale whose centre is in the patch's range (or nearest to it on an axis)."""
    learned = MUTCH_LOWE.learned
    (prepared,) = prepare_images([image / 255], "c2")
    scales = pyramid_c1(prepared, 0.5)
    features = []
    for patch, size in enumerate(c2.patch_sizes(40)):
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
            i, j = np.divmod(np.arange(size**2), size)
            orientations, values = (learned[name][patch, : size**2] for name in ("orientations", "values"))
            for row, column in product(*keep):
                difference = c1[orientations, row + i, column + j].astype(np.float64) - values
                responses.append(np.exp(-np.sum(difference**2) / (2 * (size / 4) ** 2)))
        features.append(max(responses))
    return features


def test_features_equal_the_loops_over_windows() -> None:
    for model, slow in ((SERRE, slow_serre), (MUTCH_LOWE, slow_mutch_lowe)):
        for number in range(2):
            np.testing.assert_allclose(model.features[number], slow(model.images[number]), atol=1e-5)
        assert model.features.shape == (4, model.n_patches)
        assert model.features.dtype == np.float64
    tall = textures(1, 167, 140)[0]
    np.testing.assert_allclose(MUTCH_LOWE([tall])[0], slow_mutch_lowe(tall), atol=1e-5)


def places_of(patch: np.ndarray, c1: list[np.ndarray]) -> list[tuple[int, int, int]]:
    """Image, row and column of the windows that a patch of all orientations equals."""
    windows = [np.lib.stride_tricks.sliding_window_view(maps, patch.shape)[0] for maps in c1]
    return [(k, *place) for k, each in enumerate(windows) for place in np.argwhere((each == patch).all(axis=(2, 3, 4)))]


def test_serre_s_patches_are_drawn_from_the_whole_of_c1() -> None:
    """Many patches start at every possible place of every image, and at no other."""
    images = textures(3, 140, 140)
    learned = c2.learn_c2_serre(images, random_state=0, n_patches=1200)
    c1 = [serre_c1(image)[1] for image in prepare_images([image / 255 for image in images], "c2")]
    rows, columns = c1[0].shape[1:]
    for size in c2.PATCH_SIZES[2:]:
        patches = learned[f"patches_{size}"]
        assert patches.shape == (300, 4, size, size)
        places = [places_of(patch, c1) for patch in patches]
        assert min(map(len, places)) > 0
        number, row, column = np.array([each[0] for each in places]).T
        assert set(number) == {0, 1, 2}
        assert set(row) == set(range(rows - size + 1))
        assert set(column) == set(range(columns - size + 1))


def test_mutch_and_lowe_s_patches_are_the_dominant_orientations_of_their_places() -> None:
    learned = MUTCH_LOWE.learned
    prepared = prepare_images([image / 255 for image in MUTCH_LOWE.images], "c2")
    pyramids = [pyramid_c1(image, 0.5) for image in prepared]
    for patch, size in enumerate(c2.patch_sizes(40)):
        scale = learned["scales"][patch]
        sides = [round(side / 2 ** (scale / 4)) for side in prepared[0].shape]
        # the centre of the places i to i + size - 1 is (5 i + 5 + 5 (i + size - 1) + 15) / 2
        row, column = np.rint((learned["positions"][patch] * sides - 10) / 5 - (size - 1) / 2).astype(int)
        windows = [c1[scale][:, row : row + size, column : column + size].reshape(12, -1) for c1 in pyramids]
        values, orientations = learned["values"][patch], learned["orientations"][patch]
        (window,) = (each for each in windows if np.array_equal(each.max(axis=0), values[: size**2]))
        np.testing.assert_array_equal(window[orientations[: size**2], np.arange(size**2)], values[: size**2])
        np.testing.assert_array_equal(values[size**2 :], 0)
    assert len(set(learned["scales"])) > 3


@both
def test_an_image_responds_to_its_own_patches_with_one(model: Model) -> None:
    np.testing.assert_allclose(model.features.max(axis=0), 1, atol=1e-5)
    assert (model.features >= 0).all()
    assert (model.features <= 1).all()
    assert model.features.min() < 0.9


@both
def test_brightness_contrast_negatives_and_colour(model: Model) -> None:
    """Up to rounding: a response at the threshold of inhibition can change sides, which few features see."""
    image = model.images[:1] / 255
    rgba = np.stack([*3 * [image], np.ones_like(image)], axis=3)
    for changed in (image + 0.25, 0.5 * image, 1e4 * image + 1e6, 1 - image, rgba, image.astype(np.float32)):
        off = np.abs(model(changed) - model.features[:1])
        assert np.mean(off > 1e-5) <= (0 if model is SERRE else 0.1)
        assert off.max() < 0.01


@both
def test_images_without_contrast_are_alike(model: Model) -> None:
    flat = model([np.full((97, 97), 0.3), np.zeros((120, 200))])
    sizes = c2.patch_sizes(model.n_patches)
    if model is SERRE:
        norms = np.array([np.sum(patch**2) for size in c2.PATCH_SIZES for patch in model.learned[f"patches_{size}"]])
    else:
        norms = np.sum(model.learned["values"] ** 2, axis=1)
    np.testing.assert_allclose(flat, 2 * [np.exp(-norms / (2 * (sizes / 4) ** 2))], atol=1e-6)
    # patches of images without contrast are zero, and such images respond to them with one
    nothing = model.learn(np.zeros((1, 97, 97)), random_state=0, n_patches=model.n_patches)
    np.testing.assert_array_equal(model(np.ones((1, 97, 97)), learned=nothing), 1)


@pytest.mark.full
@both
def test_sizes_of_images(model: Model) -> None:
    images = model.images
    assert np.isfinite(model([images[0], images[1][:60, :90], images[2][:97, :11]])).all()
    for function in (model, lambda x: model.learn(x, random_state=0, n_patches=model.n_patches)):
        with pytest.raises(DataError, match=f"Image 1 has 1 x 1 pixels, but {model.name} needs at least 11 x 11"):
            function([images[0], np.ones((1, 1))])
        with pytest.raises(DataError, match=f"Image 0 has 11 x 200 pixels, but {model.name} needs images at most 10"):
            function([np.ones((11, 200))])
        with pytest.raises(DataError, match="Image 0 has NaN"):
            function([np.full((20, 20), np.nan)])


@both
def test_refuses_what_other_parameters_learned(model: Model) -> None:
    serre, mutch_lowe = r"\(2, 4, 4, 4\) for .patches_4.* \(6, 4, 4, 4\)", r"\(40, 256\) for .values.* \(24, 256\)"
    shapes = serre if model is SERRE else mutch_lowe
    with pytest.raises(DataError, match=f"shape {shapes}.*learn_{model.name}"):
        model(model.images, n_patches=24)
    with pytest.raises(DataError, match=r"no array for '(patches_4|values)'"):
        model(model.images, learned={})
