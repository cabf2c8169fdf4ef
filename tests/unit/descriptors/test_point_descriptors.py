"""What geometric blur and SIFT at edge points have in common: batches, kinds of images, refusals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.unit.descriptors.test_edge_points import photographs

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
    photos: list[NDArray[np.uint8]]
    learned: dict[str, NDArray]

    def __call__(self, images: Any) -> PointSets:
        return self.describe(images, learned=self.learned, **self.small)


@pytest.fixture(scope="module", params=["sift_points", "geometric_blur"])
def case(request: pytest.FixtureRequest, mirror: Path) -> Case:
    sift = request.param == "sift_points"
    describe, learn = (sift_points, learn_sift_points) if sift else (geometric_blur, learn_geometric_blur)
    small = {"n_points": 40, "n_components": 8} | ({"size": 32.0} if sift else {})
    photos = photographs(mirror, 4, pixels=20_000)
    return Case(describe, learn, small, photos, learn(photos, random_state=0, **small))


def test_shapes_counts_and_batches(case: Case) -> None:
    images = [*case.photos, np.zeros((30, 30), dtype=np.uint8)]
    kept = [image.copy() for image in images]
    sets = case(images)
    assert sets.descriptors.shape == (5, 40, 8)
    np.testing.assert_array_equal(sets.counts, [40, 40, 40, 40, 0])
    np.testing.assert_array_equal(sets.positions[0], edge_points(images[0] / 255, n_points=40))
    for part in ([0], [4, 2], [1, 2, 3]):
        alone = case([images[number] for number in part])
        for name, array in sets.subset(part).as_arrays().items():
            np.testing.assert_array_equal(alone.as_arrays()[name], array)
    for before, after in zip(kept, images, strict=True):
        np.testing.assert_array_equal(before, after)


def test_learning_is_deterministic(case: Case) -> None:
    again = case.learn(case.photos, random_state=0, **case.small)
    assert set(again) == {"mean", "components"}
    for name, array in case.learned.items():
        np.testing.assert_array_equal(again[name], array)
        assert array.dtype == np.float32


def test_brightness_contrast_and_kinds_of_images(case: Case) -> None:
    photo = case.photos[1]
    floats = photo / 255
    colour = np.repeat(floats[..., None], 4, axis=2)
    colour[..., 3] = 1
    changed = [floats, 0.3 * floats, floats + 5, 40 * floats - 7, colour[..., :3], colour]
    expected = case([photo]).descriptors[0]
    for other in case(changed).descriptors:
        # OpenCV's SIFT rounds the image to 8 bits
        np.testing.assert_allclose(other, expected, atol=0.02 if case.describe is sift_points else 1e-5)


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


@pytest.mark.parametrize(
    ("describe", "learn", "parameters", "name"),
    [
        *(
            (geometric_blur, learn_geometric_blur, parameters, name)
            for parameters, name in [
                ({"radii": (3, 0), "samples": (1, 1)}, "radii"),
                ({"radii": (-1, 0), "samples": (1, 1)}, "radii"),
                ({"radii": (), "samples": ()}, "radii"),
                ({"radii": (0, 3)}, "samples"),
                ({"radii": (0, 3), "samples": (1, 0)}, "samples"),
                ({"alpha": 0}, "alpha"),
                ({"beta": -1}, "beta"),
                ({"n_components": 205}, "204"),
                ({"n_points": 0}, "n_points"),
                ({"sigma": 0}, "sigma"),
                ({"threshold": 2}, "threshold"),
            ]
        ),
        *(
            (sift_points, learn_sift_points, parameters, name)
            for parameters, name in [
                ({"size": 3}, "size"),
                ({"size": 1025}, "size"),
                ({"size": "large"}, "size"),
                ({"n_components": 129}, "128"),
                ({"n_points": 0}, "n_points"),
                ({"sigma": 0}, "sigma"),
            ]
        ),
    ],
)
def test_invalid_parameters(describe: Any, learn: Any, parameters: dict, name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        describe(np.zeros((1, 9, 9)), learned={}, **parameters)
    with pytest.raises(ConfigError, match=name):
        learn(np.zeros((1, 9, 9)), random_state=0, **parameters)
