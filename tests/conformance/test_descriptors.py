"""Every registered descriptor, on faces."""

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
from mklearn.rows import load
from mklearn.study.data.read import read_dataset
from mklearn.study.data.registry import entry
from mklearn.study.data.resizing import resize_images
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
    """Finite, the same again, the same in other batches, the input kept, and fit for its own distance."""
    fields = SMALL[kind] if kind in LEARNS else GIVEN.get(kind, {})
    if kind in OF_COLOURS:
        images = np.stack([images, np.flip(images, 1), np.flip(images, 2)], axis=3)
    if kind in LEARNS:  # smoothly, so that faces of 32 x 32 pixels have edges where a photograph would
        images = np.stack([*resize_images([*images], shape=(128, 128), interpolation="bicubic")])
    parameters = descriptor(kind, **fields).parameters()
    before, model = images.copy(), DESCRIPTORS[kind]
    describe = partial(implementation(model), **parameters)
    if model.learns:
        learned, again, other = (load(model.learns)(images, random_state=seed, **parameters) for seed in (3, 3, 4))
        np.testing.assert_equal(again, learned)
        assert kind not in DRAWS or any(not np.array_equal(other[key], learned[key]) for key in learned)
        describe = partial(describe, learned=learned)

    def compute(some: NDArray[Any]) -> NDArray[Any]:
        found = describe(some)
        if not model.point_sets:
            return np.asarray(found)
        assert set(found.counts) == {parameters["n_points"]}
        return np.hstack([found.descriptors, found.positions], dtype=np.float64).reshape(len(some), -1)

    features = compute(images)
    assert features.shape[0] == len(images)
    assert features.dtype == np.float64
    assert np.isfinite(features).all()
    np.testing.assert_array_equal(compute(images), features)
    np.testing.assert_array_equal(images, before)
    batches = [compute(images[start : start + 5]) for start in range(0, len(images), 5)]
    np.testing.assert_array_equal(np.concatenate(batches), features)
    order = np.random.default_rng(0).permutation(len(images))
    np.testing.assert_array_equal(compute(images[order]), features[order])
    assert len(np.unique(features, axis=0)) == len(images)
    measure = point_set_distances if model.point_sets else MEASURES[model.measure]
    distances = measure(describe(images) if model.point_sets else features)
    assert (distances[~np.eye(len(images), dtype=bool)] > 0).all()


@pytest.mark.parametrize("side", [8, 16, 28, 32, 64, 112])
def test_the_usual_descriptors_work_at_every_size(side: int) -> None:
    images = np.random.default_rng(side).integers(0, 255, size=(2, side, side)).astype(np.uint8)
    for name, model in image_descriptors(side).items():
        features = implementation(model.row)(images, **model.parameters())
        assert np.isfinite(features).all(), name
