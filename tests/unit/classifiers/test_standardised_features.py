"""Logistic regression and LDA on standardised features: scikit-learn's steps by hand, units and metrics."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression

from mklearn.classifiers import logistic_regression, standardised_shrinkage_lda

BY_HAND = [
    (logistic_regression(C=0.3), LogisticRegression(C=0.3, max_iter=10_000)),
    (standardised_shrinkage_lda(), LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")),
    (standardised_shrinkage_lda("eigen", 0.4), LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.4)),
]
every_one = pytest.mark.parametrize(("model", "reference"), BY_HAND, ids=["logistic", "lda", "lda-0.4"])


@pytest.fixture
def wine():
    """Half of the samples each; the features differ in scale by a factor of thousands."""
    X, y = load_wine(return_X_y=True)
    return X[::2], y[::2], X[1::2], y[1::2]


@every_one
def test_equals_scikit_learn_on_features_that_are_standardised_by_the_training_samples(wine, model, reference):
    X, y, X_test, y_test = wine
    mean, scale = X.mean(axis=0), X.std(axis=0)
    reference = clone(reference).fit((X - mean) / scale, y)
    model, Z = clone(model).fit(X, y), (X_test - mean) / scale
    np.testing.assert_array_equal(model.predict(X_test), reference.predict(Z))
    np.testing.assert_allclose(model.predict_proba(X_test), reference.predict_proba(Z), atol=1e-9)
    np.testing.assert_allclose(model.decision_function(X_test), reference.decision_function(Z), atol=1e-9)
    assert model.score(X_test, y_test) > 0.93
