"""The linear SVM baseline: its scale, and what its rotation may not change."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

from mklearn.classifiers.linear_svc import UnitSpread, linear_svc


def test_spread_is_one() -> None:
    X = np.random.default_rng(0).normal(3.0, 50.0, size=(20, 200))
    Z = UnitSpread().fit_transform(X)
    assert Z.shape == (20, 20)
    assert np.mean(pdist(Z, "sqeuclidean")) == pytest.approx(1.0)
    assert pdist(Z) * np.sqrt(np.mean(pdist(X, "sqeuclidean"))) == pytest.approx(pdist(X))


def test_the_rotation_changes_no_decision() -> None:
    X, y = load_digits(return_X_y=True)
    train, test = slice(0, 100), slice(100, 300)
    model = linear_svc().fit(X[train], y[train])
    centre = X[train].mean(axis=0)
    scale = np.sqrt(np.mean(pdist(X[train], "sqeuclidean")))
    plain = make_pipeline(
        FunctionTransformer(lambda Z: (Z - centre) / scale),
        LinearSVC(C=10.0, random_state=0, max_iter=10_000, tol=1e-8),
    )
    agree = np.mean(plain.fit(X[train], y[train]).predict(X[test]) == model.predict(X[test]))
    assert agree > 0.99
