"""Classifiers of standardised features: equal to scikit-learn's steps by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mklearn.classifiers import logistic_regression, standardised_shrinkage_lda
from mklearn.classifiers.gaussian_svc import gaussian_svc

BY_HAND = [
    (logistic_regression(C=0.3), LogisticRegression(C=0.3, max_iter=10_000)),
    (standardised_shrinkage_lda(), LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")),
    (standardised_shrinkage_lda("eigen", 0.4), LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.4)),
]


@pytest.mark.parametrize(("model", "reference"), BY_HAND, ids=["logistic", "lda", "lda-0.4"])
def test_equals_scikit_learn_on_features_that_are_standardised_by_the_training_samples(model, reference):
    """The features of wine differ in scale by a factor of thousands."""
    X, y = load_wine(return_X_y=True)
    scaler = StandardScaler().fit(X[::2])
    Z = scaler.transform(X)
    reference, model = clone(reference).fit(Z[::2], y[::2]), clone(model).fit(X[::2], y[::2])
    np.testing.assert_array_equal(model.predict(X[1::2]), reference.predict(Z[1::2]))
    np.testing.assert_allclose(model.predict_proba(X[1::2]), reference.predict_proba(Z[1::2]), atol=1e-9)
    np.testing.assert_allclose(model.decision_function(X[1::2]), reference.decision_function(Z[1::2]), atol=1e-9)
    assert model.score(X[1::2], y[1::2]) > 0.93


@pytest.mark.parametrize("bandwidth", [0.25, 4.0])
def test_gaussian_machines_are_those_of_scikit_learn(bandwidth):
    X, y = load_digits(return_X_y=True)
    X = X[:300, X[:100].std(axis=0) > 0]
    Z = StandardScaler().fit(X[:100]).transform(X)
    distances = pdist(Z[:100], "sqeuclidean")
    gamma = 1 / (bandwidth * distances.mean())
    kernel = np.exp(-gamma * squareform(distances))
    variance = kernel.diagonal().mean() - kernel.mean()
    machines = OneVsRestClassifier(SVC(C=10 / variance, gamma=gamma)).fit(Z[:100], y[:100])
    model = gaussian_svc(C=10, bandwidth=bandwidth).fit(X[:100], y[:100])
    assert np.mean(model.predict(X[100:]) == machines.predict(Z[100:])) > 0.99
