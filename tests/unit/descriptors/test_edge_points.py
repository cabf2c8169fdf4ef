"""Edge points: on edges, spread over them, deterministic."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from mklearn.descriptors.edge_points import edge_points, spread_points, thinned_gradient


def test_points_cover_the_edges_and_keep_apart(photos: list[np.ndarray]) -> None:
    for image in photos:
        every = edge_points(image, n_points=10**6)
        points = edge_points(image, n_points=100)
        assert {tuple(point) for point in points} <= {tuple(point) for point in every}
        apart = cdist(points, points)[np.triu_indices(100, 1)].min()
        assert cdist(every, points).min(axis=1).max() <= apart
        assert apart > 1.5
        np.testing.assert_array_equal(edge_points(image, n_points=40), points[:40])
        strength = thinned_gradient(image)[0]
        assert strength[tuple(points[0])] == strength.max()


@settings(max_examples=20)
@given(gain=st.floats(1e-3, 1e3), offset=st.floats(-10, 10))
def test_brightness_and_contrast_change_nothing(gain: float, offset: float) -> None:
    image = np.random.default_rng(0).integers(0, 256, (30, 40)) / 255
    np.testing.assert_array_equal(edge_points(gain * image + offset * gain), edge_points(image))


def test_a_shift_moves_the_points(photos: list[np.ndarray]) -> None:
    for photo in photos:
        framed = np.pad(photo, 20)
        moved = np.roll(framed, (5, -7), axis=(0, 1))
        np.testing.assert_array_equal(edge_points(moved), edge_points(framed) + np.array([5, -7]))


@pytest.mark.parametrize("shape", [(1, 1), (2, 50), (50, 2), (40, 40)])
def test_images_without_edges_have_no_points(shape: tuple[int, int]) -> None:
    for value in (0.0, 0.1, 1e300, -3.0):
        assert edge_points(np.full(shape, value)).shape == (0, 2)
    ripple = 0.1 + 1e-15 * np.random.default_rng(0).standard_normal(shape)  # rounding errors are not edges
    assert len(edge_points(ripple)) == 0
    if min(shape) < 3:
        assert edge_points(np.random.default_rng(0).random(shape)).shape == (0, 2)


def test_weak_edges_count_only_if_connected_to_strong_ones() -> None:
    strength = np.zeros((5, 12))
    strength[2, :4] = [1.0, 0.1, 0.1, 0.1]
    strength[2, 6:9] = 0.1
    strength[4, 11] = 0.07
    points = {tuple(point) for point in spread_points(strength, 100)}
    assert points == {(2, column) for column in range(4)}


def test_gradient_of_a_slanted_edge() -> None:
    row, column = np.mgrid[:60, :60]
    for degrees in (0, 30, 90, 120, 175):
        angle = np.radians(degrees)
        image = 1 / (1 + np.exp(-(np.cos(angle) * (column - 30) + np.sin(angle) * (row - 30))))
        strength, orientation = thinned_gradient(image)
        row_at, column_at = np.nonzero(strength > 0.5 * strength.max())
        # thinned to the line itself, and perpendicular to it
        assert np.abs(np.cos(angle) * (column_at - 30) + np.sin(angle) * (row_at - 30)).max() <= 1
        error = np.abs(orientation[row_at, column_at] - angle)
        assert np.minimum(error, np.pi - error)[5:-5].max() < 0.06
