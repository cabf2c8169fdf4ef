"""Geometric blur: against a direct computation, its channels, and shifts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter, map_coordinates

from mklearn.descriptors.edge_points import edge_points, thinned_gradient
from mklearn.descriptors.geometric_blur import _rings, local_descriptors, oriented_channels

GB_1 = (0, 3, 6, 12, 24, 36)
GB_2 = (0, 6, 12, 24, 36, 60)
SAMPLES = (1, 8, 8, 10, 12, 12)


@pytest.mark.parametrize("radii", [GB_1, GB_2])
def test_agrees_with_the_definition(photos: list[np.ndarray], radii: tuple[float, ...]) -> None:
    image = photos[0] / 255
    descriptors, points = local_descriptors(image, _rings(radii, SAMPLES, 1), 40)
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
