"""Features of pairs: fitted on training images alone, symmetric; what kernels and methods take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from mklearn.base.pairs import ComparedSamples, PairView
from mklearn.base.side_by_side import SideBySide
from mklearn.errors import DataError
from mklearn.kernels import StackTransform, Views

RNG = np.random.default_rng(0)
TABLES = [RNG.normal(size=(40, 6)), RNG.normal(size=(40, 9))]
FIRST, SECOND = np.arange(0, 40, 2), np.arange(1, 40, 2)
TRAIN, TEST = np.arange(12), np.arange(12, 20)


def pair_views(*tables: np.ndarray, first: np.ndarray = FIRST, second: np.ndarray = SECOND, **options: Any) -> Views:
    options = {"components": 3} | options
    return Views([PairView(first, second, ComparedSamples(table, **options)) for table in tables])


def pair_features(views: Views) -> tuple[np.ndarray, np.ndarray]:
    """Return the features of training pairs, which are fitted to them, and of test pairs."""
    made = SideBySide().fit(views[TRAIN])
    return made.transform(views[TRAIN]), made.transform(views[TEST])


def test_shapes_and_order_of_descriptors() -> None:
    known, asked = pair_features(pair_views(*TABLES))
    assert (known.shape, asked.shape) == ((12, 12), (8, 12))
    alone, _ = pair_features(pair_views(TABLES[1]))
    np.testing.assert_array_equal(known[:, 6:], alone)


def test_exchanging_the_samples_of_a_pair_changes_nothing() -> None:
    swap = np.arange(20) % 3 == 0
    other = pair_views(*TABLES, first=np.where(swap, SECOND, FIRST), second=np.where(swap, FIRST, SECOND))
    for one, two in zip(pair_features(pair_views(*TABLES)), pair_features(other), strict=True):
        np.testing.assert_array_equal(one, two)


def test_nothing_of_test_images_enters_the_training_features() -> None:
    changed = [table.copy() for table in TABLES]
    for table in changed:
        table[24:] = 100 * RNG.normal(size=table[24:].shape)
    (known, asked), (same, _) = (pair_features(pair_views(*tables)) for tables in (TABLES, changed))
    np.testing.assert_allclose(same, known, atol=1e-12)
    changed[0][0] += 1.0  # an image of a training pair
    assert not np.allclose(pair_features(pair_views(*changed))[1], asked)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("unit_length", [False, True])
def test_components_are_those_of_the_training_images_each_of_which_counts_once(whiten: bool, unit_length: bool) -> None:
    first = np.where(np.arange(20) < 12, 0, FIRST)
    options = {"whiten": whiten, "unit_length": unit_length, "terms": ["product"]}
    found = pair_features(pair_views(TABLES[0], first=first, **options))
    learned = TABLES[0][np.r_[0, SECOND[TRAIN]]]
    expected = PCA(3, svd_solver="full", whiten=whiten).fit(learned).transform(TABLES[0])
    if unit_length:
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    # Only 6 features: the randomised decomposition is exact. Products do not depend on signs.
    for part, features in zip((TRAIN, TEST), found, strict=True):
        np.testing.assert_allclose(features, expected[first[part]] * expected[SECOND[part]], atol=1e-4)


def test_square_roots_and_the_features_themselves() -> None:
    options = {"components": None, "unit_length": False, "terms": ["absolute_difference"]}
    found, _ = pair_features(pair_views(TABLES[0] ** 2, square_root=True, **options))
    expected = np.abs(TABLES[0])
    np.testing.assert_allclose(found, np.abs(expected[FIRST[TRAIN]] - expected[SECOND[TRAIN]]), atol=1e-6)
    with pytest.raises(DataError, match="square_root"):
        pair_views(TABLES[0], square_root=True)


def test_kernels_are_those_of_the_features_of_pairs() -> None:
    views = pair_views(TABLES[0])
    kernel = {"id": "k", "kind": "linear", "view": "0", "feature_scaling": "standard", "centre": False,
              "normalise": "none"}  # fmt: skip
    transform = StackTransform([kernel]).fit(views[TRAIN])
    scaled = SideBySide(feature_scaling="standard").fit(views[TRAIN])
    known, asked = scaled.transform(views[TRAIN]), scaled.transform(views[TEST])
    np.testing.assert_allclose(transform.stack_train_.matrices[0], known @ known.T, atol=1e-9)
    np.testing.assert_allclose(transform.transform(views[TEST]).matrices[0], asked @ known.T, atol=1e-9)


def test_a_method_on_features_recognises_pairs() -> None:
    """Every second pair is of one person; its parameter is chosen by folds of the training pairs."""
    n, rng = 60, np.random.default_rng(1)
    table = np.repeat(rng.normal(size=(n // 2, 5)), 2, axis=0) + 0.2 * rng.normal(size=(n, 5))
    first, same = np.repeat(np.arange(0, n, 2), 2), np.arange(n) % 2
    second = np.where(same, first + 1, np.roll(first, 2) + 1)
    features = make_pipeline(SideBySide(feature_scaling="standard"), SVC(kernel="linear"))
    views, train, test = pair_views(table, first=first, second=second, components=5), np.arange(40), np.arange(40, n)
    found = GridSearchCV(features, {"svc__C": [0.1, 10.0]}, cv=3).fit(views[train], same[train])
    assert found.score(views[test], same[test]) >= 0.85
