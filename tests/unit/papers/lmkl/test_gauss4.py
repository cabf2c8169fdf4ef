"""GAUSS4: what is drawn, and the error of the best rule."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from mklearn.papers.lmkl.gauss4 import CLASSES, MEANS, VARIANCES, best_rule, read
from mklearn.study.data.read import read_dataset
from mklearn.study.datasets import dataset_spec


def test_the_registered_draw() -> None:
    held = read_dataset(dataset_spec({"name": "gauss4"}))
    assert held.tables["features"].shape == (1600, 2)
    assert held.labels.tolist() == ["positive"] * 800 + ["negative"] * 800
    np.testing.assert_array_equal(held.tables["features"], read().tables["features"])
    assert not np.array_equal(held.tables["features"], read(seed=1).tables["features"])


def test_means_and_variances() -> None:
    n = 40000
    samples = read(n=n).tables["features"].reshape(4, n // 4, 2)
    np.testing.assert_allclose(samples.mean(axis=1), MEANS, atol=5 * 2 / np.sqrt(n / 4))
    np.testing.assert_allclose(samples.var(axis=1), VARIANCES, rtol=5 * np.sqrt(2 / (n / 4)))


@pytest.mark.full
def test_accuracy_of_the_best_rule() -> None:
    """89.77 %, by the densities themselves."""
    held = read(seed=7, n=200000)
    density = norm.pdf(held.tables["features"][:, None], MEANS, np.sqrt(VARIANCES)).prod(axis=2)
    positive = density[:, CLASSES == "positive"].sum(axis=1) > density[:, CLASSES == "negative"].sum(axis=1)
    np.testing.assert_array_equal(best_rule(held.tables["features"]) > 0, positive)
    accuracy = np.mean(positive == (held.labels == "positive"))
    assert accuracy == pytest.approx(0.8977, abs=4 * np.sqrt(0.09 / 200000))
