"""Embeddings predict the label of the nearest training sample, as the classifier of scikit-learn behind them would."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score

from mklearn.errors import DataError, NotApplicable
from mklearn.kernels.transform import StackTransform
from mklearn.papers.two_d_mmc.glram import GLRAM
from mklearn.subspace import MKLDR, PCA, Fisherface, KernelFDA, KernelPCA

KERNELS = ["gaussian", "linear"]
UNSUPERVISED = [PCA(5), KernelPCA(5, kernels=KERNELS), GLRAM(3), MKLDR(graph="pca", kernels=KERNELS)]
NAMES = np.array(["zero", "one", "two", "three"])


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(n_class=4, return_X_y=True)
    X = X + np.random.default_rng(0).normal(scale=0.1, size=X.shape)  # without constant pixels
    return X[:160], NAMES[y[:160]]


def test_pandas_output_changes_no_prediction(digits) -> None:
    X, y = digits
    for model in (KernelFDA(kernels=KERNELS), KernelPCA(5, kernels=KERNELS), Fisherface()):
        expected = model.fit(X[::2], y[::2]).predict(X[1::2])
        np.testing.assert_array_equal(model.set_output(transform="pandas").predict(X[1::2]), expected)


@pytest.mark.parametrize("model", UNSUPERVISED, ids=repr)
def test_without_labels_there_is_nothing_to_predict(digits, model: Any) -> None:
    X, y = digits
    assert not is_classifier(model)
    with pytest.raises(NotApplicable, match="was fitted without labels: give y to `fit`"):
        model.fit(X).predict(X)
    for wrong, message in ((y[:-1], "159 labels for 160"), (np.linspace(0, 1, 160), "must hold class labels")):
        with pytest.raises(DataError, match=message):
            model.fit(X, wrong).predict(X)


def test_searches_treat_them_as_classifiers(digits) -> None:
    X, y = digits
    model = MKLDR(kernels=KERNELS)
    assert is_classifier(model)
    stratified = cross_val_score(model, X, y, cv=StratifiedKFold(3))
    np.testing.assert_array_equal(cross_val_score(model, X, y, cv=3), stratified)
    search = GridSearchCV(model, {"kernels__0__bandwidth": [0.01, 1.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"kernels__0__bandwidth": 1.0}
    K = StackTransform(KERNELS).fit_transform(X).as_last_axis()
    precomputed = MKLDR().fit(K[::2, ::2], y[::2])
    assert precomputed.score(K[1::2, ::2], y[1::2]) > 0.9
