"""MNIST deformed to any number of images: displacements of pixels, copies of originals, and the published test part."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.ndimage import map_coordinates
from tests.unit.study.data.test_registered import write_mnist

from mklearn.errors import ConfigError
from mklearn.study.data.readers import deformed_mnist
from mklearn.study.data.readers.content import published_test_part
from mklearn.study.data.readers.deformed_mnist import SHIFT, SMOOTHNESS, STRENGTH, deform, draw_displacements
from mklearn.study.data.readers.digits import mnist

SIDE = 12


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Four training and two test images of 12 x 12 pixels."""
    return write_mnist(tmp_path, SIDE, train=[3, 1, 3, 0], t10k=[1, 0])


def test_fields_are_noise_that_a_gaussian_smooths() -> None:
    """Each image by itself, and each pixel's displacement as a sum over the grid, term by term."""
    images = np.random.default_rng(1).integers(0, 256, (4, SIDE, SIDE), dtype=np.uint8)
    noise = draw_displacements(np.random.default_rng(2), 4, (SIDE, SIDE)).astype(float)
    grid = np.arange(-2 * SMOOTHNESS, SIDE - 1 + 3 * SMOOTHNESS, SMOOTHNESS)
    down, along = np.meshgrid(grid, grid, indexing="ij")
    for image, (rows, columns), result in zip(images, noise, deform(images, noise.astype(np.float32)), strict=True):
        places = np.empty((2, SIDE, SIDE))
        for r in range(SIDE):
            for c in range(SIDE):
                weights = np.exp(-((down - r) ** 2 + (along - c) ** 2) / (2 * SMOOTHNESS**2)).ravel()
                weights /= np.linalg.norm(weights)
                for axis, (start, given) in enumerate(((r, rows), (c, columns))):
                    places[axis, r, c] = start + SHIFT * given[0] + STRENGTH * weights @ given[1:]
        expected = map_coordinates(np.pad(image, 1).astype(float), places + 1, order=1, mode="constant")
        assert np.abs(result - expected).max() < 0.51


def test_a_sample_depends_on_seed_original_and_copy_only(
    files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deformed_mnist, "BATCH", 4)  # a generator for the first four of the six originals, one for two
    originals, whole = mnist(files), deformed_mnist.read(files, n_samples=20)
    source = np.arange(20) % 6
    np.testing.assert_array_equal(whole.groups, originals.ids[source])  # type: ignore[arg-type]
    np.testing.assert_array_equal(whole.classes[whole.y], originals.classes[originals.y[source]])
    assert whole.ids[[0, 5, 6, 17]].tolist() == ["train/1", "test/2", "train/1-1", "test/2-2"]
    np.testing.assert_array_equal(np.asarray(whole.images)[:6], originals.images)
    assert len(np.unique(np.asarray(whole.images).reshape(20, -1), axis=0)) == 20
    rows = np.array([1, 5, 7, 8, 10, 19])
    some = deformed_mnist.read(files, n_samples=20, choose=lambda y, classes: rows)
    np.testing.assert_array_equal(some.ids, whole.ids[rows])
    np.testing.assert_array_equal(some.images, np.asarray(whole.images)[rows])
    np.testing.assert_array_equal(some.classes[some.y], whole.classes[whole.y[rows]])
    other = np.asarray(deformed_mnist.read(files, n_samples=20, seed=1).images)
    assert (other[6:] != np.asarray(whole.images)[6:]).any(axis=(1, 2)).all()
    draws = draw_displacements(np.random.default_rng([0, 1, 1]), 2, (SIDE, SIDE))
    np.testing.assert_array_equal(np.asarray(whole.images)[10:12], deform(np.asarray(whole.images)[4:6], draws))
    with pytest.raises(ConfigError, match="n_samples is 0; expected at least 1"):
        deformed_mnist.read(files, n_samples=0)


def test_the_published_test_part_has_all_copies_of_its_images(files: dict[str, Path]) -> None:
    samples = deformed_mnist.read(files, n_samples=24)
    (test,) = published_test_part(Path(), samples.ids)
    assert test.tolist() == [f"test/{number}{copy}" for copy in ("", "-1", "-2", "-3") for number in (1, 2)]
    with pytest.raises(ConfigError, match=r"all 4 samples are of the training part .* with `draw: 0`"):
        published_test_part(Path(), samples.ids[:4])
