"""Geometric blur: against a direct computation, and invariances."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, map_coordinates

from mklearn.descriptors.edge_points import edge_points, thinned_gradient
from mklearn.descriptors.geometric_blur import (
    _rings,
    geometric_blur,
    learn_geometric_blur,
    local_descriptors,
    oriented_channels,
)

GB_1 = (0, 3, 6, 12, 24, 36)
GB_2 = (0, 6, 12, 24, 36, 60)
SAMPLES = (1, 8, 8, 10, 12, 12)
SMALL = {"n_points": 40, "n_components": 8}


@pytest.fixture(scope="module")
def learned(photos: list[np.ndarray]) -> dict[str, NDArray]:
    return learn_geometric_blur(photos, random_state=0, **SMALL)


def local(image: NDArray, radii: tuple[float, ...] = GB_1, n_points: int = 40) -> tuple[NDArray, NDArray]:
    return local_descriptors(image, _rings(radii, SAMPLES), n_points)


@pytest.mark.parametrize("radii", [GB_1, GB_2])
def test_agrees_with_the_definition(photos: list[np.ndarray], radii: tuple[float, ...]) -> None:
    image = photos[0] / 255
    descriptors, points = local(image, radii)
    np.testing.assert_array_equal(points, edge_points(image, n_points=40))
    # each blur computed directly at full resolution, in double precision, with a wide margin
    room = 64
    channels = oriented_channels(*thinned_gradient(image)).astype(float)
    channels = np.pad(channels, ((room, room), (room, room), (0, 0)))
    parts = []
    for radius, number in zip(radii, SAMPLES, strict=True):
        blurred = gaussian_filter(channels, (0.5 * radius + 1, 0.5 * radius + 1, 0), mode="constant", truncate=4)
        for k in range(number):
            angle = 2 * np.pi * k / number
            where = points.T + room + radius * np.array([[np.sin(angle)], [np.cos(angle)]])
            parts += [map_coordinates(blurred[..., c], where, order=1) for c in range(4)]
    expected = np.stack(parts, axis=1)
    assert descriptors.shape == (40, 204)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.linalg.norm(descriptors - expected, axis=1).max() < 0.01
    np.testing.assert_allclose(np.linalg.norm(descriptors, axis=1), 1, rtol=1e-6)


def test_channels_divide_the_strength_by_orientation() -> None:
    orientation = np.array([[0.0, np.pi / 4, np.pi / 8, np.pi * 7 / 8, np.pi / 2, 0.7]])
    strength = np.array([[1.0, 2.0, 4.0, 2.0, 0.0, 3.0]])
    channels = oriented_channels(strength, orientation)
    np.testing.assert_allclose(channels.sum(axis=2), strength, rtol=1e-6)
    np.testing.assert_allclose(
        channels[0, :5], [[1, 0, 0, 0], [0, 2, 0, 0], [2, 2, 0, 0], [1, 0, 0, 1], [0, 0, 0, 0]], atol=1e-6
    )


def test_distortions_far_from_the_point_change_little() -> None:
    # the same cross, with a dot that moves by two pixels close to the point, or far from it
    def image(row: int, column: int) -> NDArray:
        picture = np.zeros((100, 100))
        picture[50, 40:61] = picture[40:61, 50] = 1
        picture[row : row + 3, column : column + 3] = 1
        return picture

    def at_centre(picture: NDArray) -> NDArray:
        descriptors, points = local(picture, n_points=400)
        return descriptors[np.argmin(np.sum((points - 50) ** 2, axis=1))]

    near = np.linalg.norm(at_centre(image(44, 44)) - at_centre(image(46, 44)))
    far = np.linalg.norm(at_centre(image(20, 44)) - at_centre(image(22, 44)))
    assert far < near / 3


def test_projection_keeps_most_of_the_distances(photos: list[np.ndarray]) -> None:
    learned = learn_geometric_blur(photos, random_state=0)
    sets = geometric_blur(photos, learned=learned)
    full = np.concatenate([local(image / 255, n_points=160)[0] for image in photos])
    projected = sets.descriptors.reshape(-1, 64)
    D, E = (np.linalg.norm(X[:, None] - X[None, ::7], axis=2).ravel() for X in (full, projected))
    assert np.corrcoef(D, E)[0, 1] > 0.98
    assert (E <= D + 1e-5).all()
    np.testing.assert_allclose(
        projected, (full - learned["mean"]) @ learned["components"].T, atol=1e-6
    )  # points in the order of edge_points


def test_a_shift_moves_positions_and_leaves_descriptors(photos: list[np.ndarray], learned: dict[str, NDArray]) -> None:
    framed = np.pad(photos[2], 30)
    for shift in ((0, 8), (5, -7)):
        moved = np.roll(framed, shift, axis=(0, 1))
        a, b = (geometric_blur([image], learned=learned, **SMALL) for image in (framed, moved))
        np.testing.assert_array_equal(b.positions, a.positions + np.array(shift, dtype=np.float32))
        # coarse levels are sampled at every second, fourth ... pixel, so a shift is not exact
        assert np.linalg.norm(a.descriptors - b.descriptors, axis=2).max() < 0.02


def test_a_mirrored_image_mirrors_samples_and_orientations() -> None:
    # points whose mirror images are points: of a picture with few edges, all of them
    picture = np.zeros((81, 81))
    picture[25:50, 20:45] = 1
    picture[40:60, 35:70] = 0.5
    a, points = local(picture, n_points=1000)
    b, others = local(np.ascontiguousarray(picture[:, ::-1]), n_points=1000)
    place = {(row, 80 - column): number for number, (row, column) in enumerate(others)}
    pairs = [(k, place[tuple(point)]) for k, point in enumerate(points) if tuple(point) in place]
    assert len(pairs) > 0.95 * len(points)
    mirrored = b[[k for _, k in pairs]].reshape(len(pairs), 51, 4)
    start, order = 0, []
    for number in SAMPLES:
        order += [start + (number // 2 - k) % number for k in range(number)]
        start += number
    # 0 and 90 degrees stay, 45 and 135 change places
    back = mirrored[:, order][..., [0, 3, 2, 1]].reshape(len(pairs), -1)
    forth = a[[k for k, _ in pairs]]
    assert np.median(np.linalg.norm(back - forth, axis=1)) < 0.02
    assert np.median(np.linalg.norm(mirrored.reshape(len(pairs), -1) - forth, axis=1)) > 0.3
