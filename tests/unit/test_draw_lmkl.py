"""The script that draws kernel weights and gates: its toy problem is the measured one, its images show their values."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from mklearn.classifiers import LMKLSVC, MKLSVC

SCRIPT = Path(__file__).parents[2] / "docs" / "draw_lmkl.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("draw_lmkl", SCRIPT)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_gating_wins_on_gauss4(script):
    """Accuracies of an independent prototype, three draws: MKL 85.35, LMKL 88.96; the Bayes rule has 89.77."""
    X_test, y_test = script.gauss4(4000, seed=100)
    accuracies = []
    for seed in range(3):
        X, y = script.gauss4(400, seed)
        kernels, test = script.linear_and_quadratic(X, X), script.linear_and_quadratic(X_test, X)
        gated = LMKLSVC(C=10).fit(kernels, y, gating=X)
        plain = MKLSVC(C=10).fit(kernels, y)
        accuracies.append([gated.predict(test, gating=X_test) == y_test, plain.predict(test) == y_test])
    gated, plain = 100 * np.mean(accuracies, axis=(0, 2))
    assert gated == pytest.approx(88.96, abs=1.5)
    assert plain == pytest.approx(85.35, abs=1.5)


def test_squares_show_their_values(script):
    image = np.asarray(script.shaded(np.array([[0.0, 1.0]]), 3))
    assert image.shape == (3, 6, 3)
    np.testing.assert_array_equal(image[0, 0], script.PAPER)
    np.testing.assert_array_equal(image[2, 5], script.INK)


def test_patch_kernels_have_unit_diagonals(script):
    images = np.random.default_rng(0).random((9, 8, 8))
    kernels = script.patch_kernels(images, 4, np.arange(6))
    assert kernels.shape == (9, 6, 4)
    np.testing.assert_allclose(np.einsum("iim->im", kernels[:6]), 1)
