"""The majority class."""

from __future__ import annotations

import numpy as np
import pytest

from mklearn.classifiers import MajorityClassifier


def test_the_largest_class() -> None:
    X, y = np.zeros((5, 2)), np.array(["men", "women", "men", "men", "women"])
    model = MajorityClassifier().fit(X, y)
    assert model.predict(np.ones((3, 2))).tolist() == ["men"] * 3
    assert model.score(X, y) == 0.6


@pytest.mark.parametrize(("y", "expected"), [([2, 0, 0, 2, 1], 2), ([1, 0, 0, 2, 2], 0)])
def test_of_several_the_one_that_comes_first(y: list[int], expected: int) -> None:
    assert MajorityClassifier().fit(np.zeros((5, 1)), y).predict([[0.0]]).tolist() == [expected]


def test_a_sample_of_weight_0_decides_no_tie() -> None:
    y, weights = np.array(["a", "b", "a", "b"]), np.array([0.0, 1.0, 1.0, 0.0])
    assert MajorityClassifier().fit(np.zeros((4, 1)), y, weights).majority_ == "b"
