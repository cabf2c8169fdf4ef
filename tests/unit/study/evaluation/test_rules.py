"""Rules in an embedding: class means agree with scikit-learn, and no training sample decides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestCentroid

from mklearn.nearest_neighbour import nearest_neighbour_indices
from mklearn.study.evaluation.rules import decide, predictions_by_dimension

DIGITS, TARGET = (array[:700] for array in load_digits(return_X_y=True))
NAMES = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])[TARGET]
TRAIN, TEST = slice(0, 400), slice(400, None)


@pytest.fixture(scope="module")
def embedding() -> tuple[NDArray[Any], NDArray[Any]]:
    model = PCA(6).fit(DIGITS[TRAIN])
    return model.transform(DIGITS[TRAIN]), model.transform(DIGITS[TEST])


@pytest.mark.parametrize("y", [TARGET, NAMES])
def test_class_means_are_those_of_scikit_learn_at_every_dimension(embedding: Any, y: NDArray[Any]) -> None:
    train, test = embedding
    expected = [NearestCentroid().fit(train[:, :q], y[TRAIN]).predict(test[:, :q]) for q in range(1, 7)]
    found = predictions_by_dimension(train, y[TRAIN], test, "class_mean")
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(decide(train, y[TRAIN], test, "class_mean").labels, expected[-1])
    assert (found != predictions_by_dimension(train, y[TRAIN], test, "euclidean")).any(axis=1).all()


def test_ties_take_the_first_class() -> None:
    Z, y = np.array([[3.0], [1.0], [-1.0], [-3.0]]), np.array(["b", "b", "a", "a"])
    assert decide(Z, y, [[0.0], [0.1]], "class_mean").labels.tolist() == ["a", "b"]


def test_who_decides(embedding: Any) -> None:
    _, indices, distances = decide(embedding[0], TARGET[TRAIN], embedding[1], "class_mean")
    assert set(indices.tolist()) == {-1}
    assert np.isnan(distances).all()
    _, indices, distances = decide(embedding[0], TARGET[TRAIN], embedding[1], "cosine")
    np.testing.assert_array_equal(indices, nearest_neighbour_indices(*embedding, "cosine"))
    assert np.isfinite(distances).all()
