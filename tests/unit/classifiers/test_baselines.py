"""Baselines on features: equal to scikit-learn's steps by hand, their scale, and where they differ."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.datasets import load_digits, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC

from mklearn.classifiers import (
    MajorityClassifier,
    ShrinkageLDA,
    gaussian_svc,
    linear_svc,
    logistic_regression,
    standardised_shrinkage_lda,
)
from mklearn.classifiers.baselines import UnitSpread

# --- standardised features

BY_HAND = [
    (logistic_regression(C=0.3), LogisticRegression(C=0.3, max_iter=10_000)),
    (standardised_shrinkage_lda(), LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")),
    (standardised_shrinkage_lda("eigen", 0.4), LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.4)),
]


@pytest.mark.parametrize(("model", "reference"), BY_HAND, ids=["logistic", "lda", "lda-0.4"])
def test_equals_scikit_learn_on_features_that_are_standardised_by_the_training_samples(model, reference):
    X, y = load_wine(return_X_y=True)
    Z = StandardScaler().fit(X[::2]).transform(X)
    reference, model = clone(reference).fit(Z[::2], y[::2]), clone(model).fit(X[::2], y[::2])
    np.testing.assert_array_equal(model.predict(X[1::2]), reference.predict(Z[1::2]))
    np.testing.assert_allclose(model.predict_proba(X[1::2]), reference.predict_proba(Z[1::2]), atol=1e-9)
    np.testing.assert_allclose(model.decision_function(X[1::2]), reference.decision_function(Z[1::2]), atol=1e-9)


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


# --- one spread for all features


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


# --- shrinkage


def samples(per_class: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    y = np.repeat(np.arange(8), per_class)
    return random.normal(size=(8, 60))[y] * 2 + random.normal(size=(len(y), 60)), y


def test_two_samples_per_class_are_not_shrunk_and_the_status_reports_it() -> None:
    X, y = samples(2)
    assert abs(ledoit_wolf_shrinkage(X[:2])) < 1e-15
    model = ShrinkageLDA(solver="lsqr", shrinkage="auto").fit(X, y)
    assert np.linalg.matrix_rank(model.covariance_, tol=1e-10) == 8
    assert (model.status_, "shrinkage is 0" in model.message_) == ("inaccurate", True)
    assert ShrinkageLDA(solver="lsqr", shrinkage=0.3).fit(X, y).status_ == "ok"
    X, y = samples(4)
    ours, theirs = (
        model(solver="lsqr", shrinkage="auto").fit(X, y) for model in (ShrinkageLDA, LinearDiscriminantAnalysis)
    )
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    assert (ours.status_, ours.message_) == ("ok", "")


def test_shrinkage_0_is_plain_discriminant_analysis() -> None:
    X, y = samples(30)
    X = np.column_stack([X, np.ones(len(X)), X[:, 0]])
    plain = LinearDiscriminantAnalysis().fit(X[::2], y[::2]).predict(X[1::2])
    unshrunk = ShrinkageLDA(solver="lsqr", shrinkage=0.0).fit(X[::2], y[::2]).predict(X[1::2])
    assert np.mean(unshrunk != plain) <= 0.02


# --- the majority class


@pytest.mark.parametrize(
    ("y", "weights", "expected"),
    [
        (["men", "women", "men", "men", "women"], None, "men"),
        ([2, 0, 0, 2, 1], None, 2),  # of several the one that comes first
        ([1, 0, 0, 2, 2], None, 0),
        (["a", "b", "a", "b"], [0.0, 1.0, 1.0, 0.0], "b"),  # a sample of weight 0 decides no tie
    ],
)
def test_the_largest_class(y, weights, expected) -> None:
    model = MajorityClassifier().fit(np.zeros((len(y), 1)), y, weights)
    assert model.predict(np.ones((3, 1))).tolist() == [expected] * 3
