"""Every registered descriptor, on faces."""

import importlib
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.entries import descriptor, implementation

from mklearn.descriptors.table import DESCRIPTORS, TABLE
from mklearn.kernels.distances import MEASURES
from mklearn.kernels.point_set_distance import point_set_distances
from mklearn.study.data.read import read_dataset
from mklearn.study.data.registry import entry
from mklearn.study.datasets import dataset_spec
from mklearn.study.naming import image_descriptors

OF_IMAGES = [kind for kind in DESCRIPTORS if kind != TABLE]
GIVEN: dict[str, dict[str, Any]] = {"patches": {"size": 4}}
SMALL: dict[str, dict[str, Any]] = {
    "geometric_blur": {"n_points": 30, "n_components": 8}, "sift_points": {"n_points": 30, "n_components": 8},
    "dense_sift": {"n_words": 20}, "c2_serre": {"n_patches": 12}, "c2_mutch_lowe": {"n_patches": 12},
}  # fmt: skip
"""Parameters for what learns from the images."""
LEARNS = {kind for kind, row in DESCRIPTORS.items() if row.learns}
DRAWS = {"dense_sift", "c2_serre", "c2_mutch_lowe"}
"""They draw what they learn from."""
OF_COLOURS = {"colour_histogram"}
"""They describe images with three channels."""
ENLARGED = 4
"""Times that faces of 32 x 32 pixels are enlarged for what describes surroundings."""


@pytest.fixture(scope="module")
def images(mirror: Path) -> NDArray[Any]:
    """ORL, the first image of 12 people."""
    known = entry("orl")
    files = {file.name: mirror / file.mirror for file in known.packaging(str(mirror)) if file.mirror}
    held = read_dataset(dataset_spec({"kind": "registered", "name": "orl"}), files)
    assert isinstance(held.images, np.ndarray)
    return held.images[::10][:12]


@pytest.mark.parametrize("kind", OF_IMAGES)
def test_on_faces(kind: str, images: NDArray[Any]) -> None:
    fields = SMALL[kind] if kind in LEARNS else GIVEN.get(kind, {})
    if kind in OF_COLOURS:
        images = np.stack([images, np.flip(images, 1), np.flip(images, 2)], axis=3)
    check(kind, descriptor(kind, **fields).parameters(), enlarged(images, ENLARGED) if kind in LEARNS else images)


@pytest.mark.parametrize("side", [8, 16, 28, 32, 64, 112])
def test_the_usual_descriptors_work_at_every_size(side: int) -> None:
    images = np.random.default_rng(side).integers(0, 255, size=(2, side, side)).astype(np.uint8)
    for name, model in image_descriptors(side).items():
        features = implementation(model.row)(images, **model.parameters())
        assert np.isfinite(features).all(), name


def enlarged(images: NDArray[Any], times: int) -> NDArray[Any]:
    """Smoothly, so that it has edges where a photograph would."""
    from mklearn.study.data.resizing import resize_images

    rows, columns = images.shape[1:]
    shape = (rows * times, columns * times)
    return np.stack([np.asarray(image) for image in resize_images(list(images), shape=shape, interpolation="bicubic")])


def check(kind: str, parameters: dict[str, Any], images: NDArray[Any]) -> None:
    """Finite, the same again, the same in other batches, the input kept, and fit for its own distance."""
    model = DESCRIPTORS[kind]
    before = images.copy()
    described = implementation(model)
    if model.learns:
        module, name = model.learns.split(":")
        learn = getattr(importlib.import_module(module), name)
        learned, again = (learn(images, random_state=3, **parameters) for _ in range(2))
        assert set(learned) == set(again)
        for key in learned:
            np.testing.assert_array_equal(learned[key], again[key])
        if kind in DRAWS:
            other = learn(images, random_state=4, **parameters)
            assert any(not np.array_equal(other[key], learned[key]) for key in learned)
        described = partial(described, learned=learned)

    def compute(some: NDArray[Any], **values: Any) -> NDArray[Any]:
        found = described(some, **values)
        if not model.point_sets:
            return np.asarray(found)
        points = np.hstack([found.descriptors, found.positions], dtype=np.float64)
        padded = np.zeros((len(some), values["n_points"], points.shape[1]))
        for of_image, own in zip(padded, np.split(points, np.cumsum(found.counts)[:-1]), strict=True):
            of_image[: len(own)] = own
        return padded.reshape(len(some), -1)

    features = compute(images, **parameters)
    assert features.shape[0] == len(images)
    assert features.dtype == np.float64
    assert np.isfinite(features).all()
    np.testing.assert_array_equal(compute(images, **parameters), features)
    np.testing.assert_array_equal(images, before)
    batches = [compute(images[start : start + 5], **parameters) for start in range(0, len(images), 5)]
    np.testing.assert_array_equal(np.concatenate(batches), features)
    order = np.random.default_rng(0).permutation(len(images))
    np.testing.assert_array_equal(compute(images[order], **parameters), features[order])
    assert len(np.unique(features, axis=0)) == len(images)
    measure = point_set_distances if model.point_sets else MEASURES[model.measure]
    distances = measure(described(images, **parameters) if model.point_sets else features)
    assert (distances[~np.eye(len(images), dtype=bool)] > 0).all()
