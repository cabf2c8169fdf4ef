"""SIFT at given points: the order of descriptors, sizes and shifts."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from mklearn.descriptors.sift import local_descriptors, sift_at


@pytest.fixture
def points(photos: list[np.ndarray]) -> NDArray[np.int64]:
    height, width = photos[0].shape
    rng = np.random.default_rng(0)
    inside = np.stack([rng.integers(0, height, 60), rng.integers(0, width, 60)], axis=1)
    # corners, and two points that coincide
    return np.concatenate([[[0, 0], [height - 1, width - 1], [0, width - 1], [height - 1, 0]], inside, inside[:1]])


def test_descriptors_belong_to_their_points(photos: list[np.ndarray], points: NDArray[np.int64]) -> None:
    image = photos[0] / 255
    sizes = np.random.default_rng(1).choice([16.0, 24.0, 50.0, 100.0], len(points))
    descriptors = sift_at(image, points, list(sizes))
    assert descriptors.shape == (65, 128)
    # one by one: no point's descriptor depends on which others there are, or on their sizes
    for k, point in enumerate(points):
        np.testing.assert_array_equal(sift_at(image, point[None], [sizes[k]])[0], descriptors[k])
    length = np.linalg.norm(descriptors, axis=1)
    np.testing.assert_allclose(length[length > 0], 1, rtol=1e-6)
    assert (length[4:] > 0).all()


def test_dropped_and_reordered_keypoints_are_noticed(
    photos: list[np.ndarray], points: NDArray[np.int64], monkeypatch: pytest.MonkeyPatch
) -> None:
    image = photos[0] / 255
    expected = sift_at(image, points, [32.0] * len(points))
    there, edges = local_descriptors(image, 32.0, 40)
    reliable = cv2.SIFT.create

    class Unreliable:
        @classmethod
        def create(cls, **options: Any) -> Unreliable:
            made = cls()
            made.sift = reliable(**options)
            return made

        def compute(self, picture: NDArray, keypoints: list) -> tuple:
            kept, values = self.sift.compute(picture, keypoints)
            order = [k for k in range(len(kept))[::-1] if k not in (2, 7)]
            return [kept[k] for k in order], values[order]

    monkeypatch.setattr(cv2, "SIFT", Unreliable)
    expected[[2, 7]] = 0
    np.testing.assert_array_equal(sift_at(image, points, [32.0] * len(points)), expected)
    # a point without a descriptor is no point
    fewer, left = local_descriptors(image, 32.0, 40)
    np.testing.assert_array_equal(left, np.delete(edges, [2, 7], axis=0))
    np.testing.assert_array_equal(fewer, np.delete(there, [2, 7], axis=0))


@pytest.mark.parametrize("size", [16.0, 32.0, 64.0])
def test_size_is_that_of_the_patch(size: float) -> None:
    def change(distance: float) -> float:
        """How much a dot at this distance to the right changes the descriptor of the centre."""
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
