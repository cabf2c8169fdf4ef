"""Labels come from scores of classes, and from the decision values that stand for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mklearn.classifiers.class_scores import ClassScores

SCORES = {
    2: [[0.2, 0.1], [0.1, 0.2], [0.3, 0.3]],
    3: [[0.1, 0.2, 0.3], [0.4, 0.4, 0.0], [0.0, 0.5, 0.5]],
}


class Given(ClassScores):
    """The samples are their scores."""

    def __init__(self, n_classes: int) -> None:
        self.classes_ = np.array(["a", "b", "c"][:n_classes])

    def class_scores(self, X: Any) -> NDArray[Any]:
        return np.asarray(X)


@pytest.mark.parametrize("n_classes", SCORES)
def test_the_label_is_the_first_class_of_the_largest_score(n_classes: int) -> None:
    model, X = Given(n_classes), np.array(SCORES[n_classes])
    expected = model.classes_[X.argmax(axis=1)]
    assert model.predict(X).tolist() == expected.tolist()
    assert model.labels_of(model.decision_function(X)).tolist() == expected.tolist()
