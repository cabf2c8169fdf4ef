"""Labels come from scores of classes, and from the decision values that stand for them."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import scale

from mklearn import MultiViewClassifier
from mklearn.classifiers import EmbeddedLinearSVC, LedoitWolfLDA
from mklearn.classifiers.class_scores import ClassScores

SCORES = {2: [[0.2, 0.1], [0.1, 0.2], [0.3, 0.3]], 3: [[0.1, 0.2, 0.3], [0.4, 0.4, 0.0], [0.0, 0.5, 0.5]]}


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


@pytest.mark.parametrize(
    "model",
    [
        LedoitWolfLDA(),
        EmbeddedLinearSVC(kernels={"kind": "gaussian", "bandwidth": 4.0}),
        MultiViewClassifier(decision="cosine"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_cosine_of_one_dimension_ranks_the_samples_and_decides_by_its_sign(model: Any) -> None:
    """Kills: a cosine in one dimension, which is 1 or -1, so that every sample is as certain as any other."""
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    model.fit(X[:60], y[:60])
    values = model.decision_function(X[60:])
    assert len(np.unique(values.round(9))) > 500
    assert roc_auc_score(y[60:], values) > 0.95
    assert (model.predict(X[60:]) == (values > 0)).all()
    assert model.score(X[60:], y[60:]) > 0.88
