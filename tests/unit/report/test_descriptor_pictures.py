"""Pictures of descriptors: every kind has one, and they show what the descriptor itself takes from an image."""

from __future__ import annotations

import io
from base64 import b64decode
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image
from skimage import data as skimage_data
from skimage.transform import resize
from sklearn.datasets import load_digits

from mklearn.datasets.samples import SampleSet
from mklearn.descriptors.dense_sift import local_descriptors
from mklearn.descriptors.geometric_blur import geometric_blur, learn_geometric_blur
from mklearn.descriptors.sift import learn_sift_points, sift_points
from mklearn.report import descriptor_pictures as pictures
from mklearn.report.sketch import MARK, SECOND, Sketch
from mklearn.report.thumbnails import picture_uri
from mklearn.steps.report import _pictured
from mklearn.study.registry import registered

RADII = [0, 3, 6, 12, 24, 36]
PARAMETERS = {
    "pixels": {"norm": "l2"},
    "multiresolution": {"resolutions": [2, 4]},
    "patches": {"size": 8, "patch": None, "statistics": "pixels"},
    "hog": {"orientations": 9, "cell": 8, "block": 2, "block_norm": "L2-Hys"},
    "phog": {"levels": 2, "bins": 12, "angle": 180},
    "lbp": {"grid": 2, "radius": 1, "patterns": "uniform"},
    "geometric_blur": {"radii": RADII, "samples": [1, 8, 8, 10, 12, 12], "n_points": 40, "n_components": 8},
    "sift_points": {"size": 24.0, "n_points": 40, "n_components": 8},
    "dense_sift": {"step": 8, "sizes": [16, 24], "n_words": 5},
    "c2_serre": {"n_patches": 8},
    "c2_mutch_lowe": {"n_patches": 8, "inhibition": 0.5},
}
EDGES = ("hog", "phog", "dense_sift", "c2_serre", "c2_mutch_lowe")


@pytest.fixture(scope="module")
def photo():
    return resize(skimage_data.camera() / 255.0, (96, 128), anti_aliasing=True)


@pytest.fixture
def drawn(monkeypatch):
    """What is drawn: the arguments of the sketch's methods, by name."""
    calls = {"dots": [], "sticks": []}
    for name, kept in calls.items():
        original = getattr(Sketch, name)

        def noted(self, *arguments, original=original, kept=kept, **more):
            kept.append(arguments)
            original(self, *arguments, **more)

        monkeypatch.setattr(Sketch, name, noted)
    return calls


def pictures_of(image, kind, **parameters):
    entry = {"id": "x", "title": "X", "kind": kind, "parameters": PARAMETERS[kind] | parameters}
    return pictures.descriptor_pictures([image], ["a thing"], [entry])


def test_every_image_descriptor_has_a_picture_and_is_tested_here():
    kinds = {kind for kind, model in registered("descriptors").items() if model.family == "images"}
    assert kinds == set(pictures.KINDS) == set(PARAMETERS)


@pytest.mark.parametrize("kind", PARAMETERS)
@pytest.mark.parametrize("image", ["photo", "flat"])
def test_an_image_and_one_without_anything_in_it(kind, image, photo):
    original, shown = pictures_of(photo if image == "photo" else np.full((96, 128), 0.5), kind)
    assert original.pictures[0].shape == (225, 300, 3)
    assert shown.title == "x · X"
    assert shown.text.endswith(".")
    (picture,) = shown.pictures
    assert picture.dtype == np.uint8
    assert picture.shape[1] == 300
    if image == "photo":
        assert np.ptp(picture) > 90
    else:
        assert not _has(picture, MARK)


def _has(picture, colour):
    return bool((np.abs(picture.astype(int) - colour).sum(axis=2) < 60).any())


@pytest.mark.parametrize("kind", EDGES)
@pytest.mark.parametrize("degrees", [0, 30, 45, 90, 120])
def test_sticks_lie_along_the_edges(kind, degrees, drawn):
    """Stripes whose brightness changes along a direction have their edges across it."""
    row, column = np.mgrid[:144, :144]
    across = np.deg2rad(degrees)
    stripes = 0.5 + 0.4 * np.sin(2 * np.pi * (column * np.cos(across) + row * np.sin(across)) / 12)
    pictures_of(stripes, kind)
    ((_, strengths, directions, _),) = drawn["sticks"]
    weights = np.asarray(strengths).sum(axis=0)
    assert weights.sum() > 0
    mean = np.angle(np.sum(weights * np.exp(2j * np.asarray(directions)))) / 2
    gap = (mean - (across + np.pi / 2) + np.pi / 2) % np.pi - np.pi / 2
    assert abs(np.rad2deg(gap)) < {"c2_serre": 24, "dense_sift": 8, "c2_mutch_lowe": 9}.get(kind, 12)


def test_the_direction_is_that_of_the_picture():
    """A stick along a row is horizontal, and one down-right goes down and right."""
    for angle, place in ((0.0, (50, 70)), (np.pi / 4, (64, 64)), (np.pi / 2, (70, 50))):
        sketch = Sketch(np.zeros((101, 101)))
        sketch.sticks([[50, 50]], [[1.0]], [angle], 60)
        picture = sketch.picture()
        row, column = (round(3 * (value + 0.5) * 100 / 101) for value in place)
        assert _has(picture[row - 2 : row + 3, column - 2 : column + 3], MARK), angle
        assert not _has(picture[: row - 40, :], MARK) if angle == 0 else True


def test_points_are_those_that_are_described(photo, drawn):
    for kind, learn, describe in (
        ("geometric_blur", learn_geometric_blur, geometric_blur),
        ("sift_points", learn_sift_points, sift_points),
    ):
        drawn["dots"].clear()
        _, shown = pictures_of(photo, kind)
        learned = learn([photo], random_state=0, **PARAMETERS[kind])
        described = describe([photo], learned=learned, **PARAMETERS[kind])
        (points, *_), (middle, *_) = drawn["dots"]
        np.testing.assert_array_equal(points, described.positions[0, : described.counts[0]])
        assert any((points == np.asarray(middle)).all(axis=1))
        assert _has(shown.pictures[0], SECOND)


def test_the_grid_is_that_of_the_words(photo, drawn):
    pictures_of(photo, "dense_sift")
    ((positions, strengths, _, _),) = drawn["sticks"]
    assert len(positions) == len(strengths) == len(local_descriptors(photo, 8, [16]))
    assert (np.asarray(positions) >= 7.5).all()
    assert (np.asarray(positions) <= np.array(photo.shape) - 8.5).all()


def test_digits_stay_squares_and_parts_are_framed():
    image = load_digits().images[0] / 16
    for kind, more in (("pixels", {}), ("patches", {"size": 4}), ("patches", {"size": 4, "patch": [1, 0]})):
        _, shown = pictures_of(image, kind, **more)
        assert shown.pictures[0].shape == (300, 300, 3)
    assert _has(shown.pictures[0][150:, :150], SECOND)
    assert not _has(shown.pictures[0][:140], SECOND)
    _, shown = pictures_of(image, "patches", size=4, statistics="mean_std")
    assert shown.pictures[0].shape[0] == 606
    _, blocks = pictures_of(image, "multiresolution", resolutions=[2])
    assert len(np.unique(blocks.pictures[0].reshape(-1, 3), axis=0)) == 4


def test_kinds_without_a_picture_are_left_out(photo):
    assert pictures.descriptor_pictures([photo], ["x"], [{"id": "t", "kind": "table", "parameters": {}}]) == []
    many = [{"id": str(n), "kind": "pixels", "parameters": {}} for n in range(40)]
    assert len(pictures.descriptor_pictures([photo[::4, ::4]], ["x"], many)) == 1 + pictures.MOST_DESCRIPTORS


def test_colours_of_drawings_survive_the_palette(photo):
    sketch = Sketch(photo, dim=0.4)
    sketch.dots([[20, 20], [60, 60]])
    sketch.ring([50, 60], 20)
    uri = picture_uri(sketch.picture())
    with Image.open(io.BytesIO(b64decode(uri.partition(",")[2]))) as image:
        back = np.asarray(image.convert("RGB"), dtype=int)
    assert _has(back, MARK)
    assert _has(back, SECOND)
    assert np.abs(back - sketch.picture()).mean() < 4


def test_images_of_a_data_set_are_of_classes_far_apart():
    digits = load_digits()
    data = SampleSet(
        ids=np.arange(60).astype(str), y=digits.target[:60], classes=np.array(list("abcdefghij")),
        images=digits.images[:60],
    )  # fmt: skip
    entry = {"descriptors": [{"id": "raw", "kind": "pixels", "parameters": {}}]}
    pictured = _pictured(entry, data, {"raw": "Raw pixels"})["pictured"]
    assert pictured["names"] == ["a", "d", "g"]
    assert pictured["descriptors"][0]["title"] == "Raw pixels"
    np.testing.assert_array_equal(pictured["images"][1], digits.images[3])
    assert _pictured({}, data, {}) == {}
    assert _pictured(entry, SimpleNamespace(images=None), {}) == {}
