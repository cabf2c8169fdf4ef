"""What geometric blur, SIFT at edge points and dense SIFT have in common: kinds of images, refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.unit.descriptors.conftest import alike

from mklearn.descriptors.dense_sift import dense_sift, learn_dense_sift
from mklearn.descriptors.edge_points import edge_points
from mklearn.descriptors.geometric_blur import geometric_blur, learn_geometric_blur
from mklearn.descriptors.point_sets import PointSets
from mklearn.descriptors.sift import learn_sift_points, sift_points
from mklearn.errors import ConfigError, DataError


class Case(NamedTuple):
    """A descriptor with small parameters, photographs and what it learned from them."""

    describe: Callable[..., PointSets]
    learn: Callable[..., dict[str, NDArray]]
    small: dict[str, Any]
    photos: list[np.ndarray]
    learned: dict[str, NDArray]

    def __call__(self, images: Any) -> PointSets:
        return self.describe(images, learned=self.learned, **self.small)


@pytest.fixture(scope="module", params=["sift_points", "geometric_blur"])
def case(request: pytest.FixtureRequest, photos: list[np.ndarray]) -> Case:
    sift = request.param == "sift_points"
    describe, learn = (sift_points, learn_sift_points) if sift else (geometric_blur, learn_geometric_blur)
    small = {"n_points": 40, "n_components": 8} | ({"size": 32.0} if sift else {})
    return Case(describe, learn, small, photos, learn(photos, random_state=0, **small))


def test_shapes_counts_and_positions(case: Case) -> None:
    images = [*case.photos, np.zeros((30, 30), dtype=np.uint8)]
    sets = case(images)
    assert sets.descriptors.shape == (5, 40, 8)
    np.testing.assert_array_equal(sets.counts, [40, 40, 40, 40, 0])
    np.testing.assert_array_equal(sets.positions[0], edge_points(images[0] / 255, n_points=40))
    assert {name: array.dtype for name, array in case.learned.items()} == dict.fromkeys(
        ("mean", "components"), np.dtype(np.float32)
    )


def test_brightness_contrast_and_kinds_of_images(case: Case) -> None:
    expected = case([case.photos[1]]).descriptors[0]
    for other in case(alike(case.photos[1])).descriptors:
        # OpenCV's SIFT rounds the image to 8 bits
        np.testing.assert_allclose(other, expected, atol=0.02 if case.describe is sift_points else 1e-5)


def test_a_shift_moves_positions_and_leaves_descriptors(case: Case) -> None:
    framed = np.pad(case.photos[2], 40)
    for shift in ((0, 8), (4, -8)):
        moved = np.roll(framed, shift, axis=(0, 1))
        a, b = (case([image]) for image in (framed, moved))
        np.testing.assert_array_equal(b.positions, a.positions + np.array(shift, dtype=np.float32))
        # coarse levels are sampled at every second, fourth ... pixel, so a shift is not exact
        assert np.linalg.norm(a.descriptors - b.descriptors, axis=2).max() < 0.02


def test_images_without_edges(case: Case) -> None:
    rng = np.random.default_rng(0)
    images = [np.zeros((1, 1)), rng.random((2, 90)), np.full((50, 50), 0.3), rng.random((3, 3))]
    sets = case(images)
    np.testing.assert_array_equal(sets.counts[:3], 0)
    assert sets.counts[3] <= 1
    assert not sets.descriptors[:3].any()
    with pytest.raises(DataError, match=rf"{case.describe.__name__}.*have 0"):
        case.learn(images[:3], random_state=0, **case.small)


def test_learned_with_other_parameters(case: Case) -> None:
    for other in ({"n_components": 9}, {"radii": (0, 3), "samples": (1, 4)}):
        if "radii" not in other or case.describe is geometric_blur:
            with pytest.raises(DataError, match=f"learn_{case.describe.__name__}"):
                case.describe(case.photos, learned=case.learned, **case.small | other)


BLUR = (geometric_blur, learn_geometric_blur)
SIFT = (sift_points, learn_sift_points)
DENSE = (dense_sift, learn_dense_sift)


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
