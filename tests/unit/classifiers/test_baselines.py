"""Classifiers of features: equal to scikit-learn's steps by hand, their scale, shrinkage, and scores of classes."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone
from sklearn.covariance import ledoit_wolf
from sklearn.covariance import ledoit_wolf_shrinkage as reference_shrinkage
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler, scale
from sklearn.svm import SVC, LinearSVC

from mklearn import MultiViewClassifier
from mklearn.classifiers import (
    EmbeddedLinearSVC,
    LedoitWolfLDA,
    ShrinkageLDA,
    gaussian_svc,
    linear_svc,
    logistic_regression,
    standardised_shrinkage_lda,
)
from mklearn.classifiers.baselines import UnitSpread
from mklearn.classifiers.class_scores import ClassScores
from mklearn.classifiers.ledoit_wolf_lda import ledoit_wolf_shrinkage
from mklearn.errors import NotApplicable

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


def samples(seed: int, per_class: int) -> tuple[np.ndarray, np.ndarray]:
    y = np.repeat(np.arange(8), per_class)
    noise = np.random.default_rng(seed).normal(size=(len(y), 60)) * np.linspace(0.2, 3, 60)
    return 1.2 * np.random.default_rng(99).normal(size=(8, 60))[y] + noise + 10, y


def test_two_samples_per_class_are_not_shrunk_and_the_status_reports_it() -> None:
    X, y = samples(0, 2)
    assert abs(reference_shrinkage(X[:2])) < 1e-15
    model = ShrinkageLDA(solver="lsqr", shrinkage="auto").fit(X, y)
    assert np.linalg.matrix_rank(model.covariance_, tol=1e-10) == 8
    assert (model.status_, "shrinkage is 0" in model.message_) == ("inaccurate", True)
    assert ShrinkageLDA(solver="lsqr", shrinkage=0.3).fit(X, y).status_ == "ok"
    X, y = samples(0, 4)
    ours, theirs = (
        model(solver="lsqr", shrinkage="auto").fit(X, y) for model in (ShrinkageLDA, LinearDiscriminantAnalysis)
    )
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    assert (ours.status_, ours.message_) == ("ok", "")
    named = pd.DataFrame(X).add_prefix("x")
    with pytest.raises(ValueError, match="must be in the same order"):
        clone(ours).fit(named, y).predict(named[named.columns[::-1]])


def test_shrinkage_0_is_plain_discriminant_analysis() -> None:
    X, y = samples(0, 30)
    X = np.column_stack([X, np.ones(len(X)), X[:, 0]])
    plain = LinearDiscriminantAnalysis().fit(X[::2], y[::2]).predict(X[1::2])
    unshrunk = ShrinkageLDA(solver="lsqr", shrinkage=0.0).fit(X[::2], y[::2]).predict(X[1::2])
    assert np.mean(unshrunk != plain) <= 0.02


# --- Ledoit-Wolf discriminant analysis


@pytest.mark.parametrize(("n", "d"), [(10, 50), (50, 10), (200, 30), (6, 6)])
def test_shrinkage_equals_scikit_learn(n: int, d: int) -> None:
    X = np.random.default_rng(n).normal(size=(n, d)) * np.linspace(0.1, 2, d)
    s, level = ledoit_wolf_shrinkage(X)
    assert s == pytest.approx(reference_shrinkage(X, assume_centered=True), abs=1e-12)
    covariance = (1 - s) * X.T @ X / n + s * level * np.eye(d)
    np.testing.assert_allclose(covariance, ledoit_wolf(X, assume_centered=True)[0], atol=1e-12)
    # In coordinates of the span, with the dimension of the whole space.
    U, singular, _ = np.linalg.svd(X, full_matrices=False)
    np.testing.assert_allclose(ledoit_wolf_shrinkage(U * singular, d), (s, level), rtol=1e-9)


@pytest.mark.parametrize("rule", ["cosine", "euclidean"])
@pytest.mark.parametrize("per_class", [2, 3, 30])
def test_projection_changes_no_prediction(per_class: int, rule: str) -> None:
    X, y = samples(0, per_class)
    T, _ = samples(1, 20)
    model = LedoitWolfLDA(rule=rule).fit(X, y)
    means = np.stack([X[y == k].mean(axis=0) for k in range(8)])
    covariance, shrinkage = ledoit_wolf(X - means[y], assume_centered=True)
    assert model.shrinkage_ == pytest.approx(shrinkage)
    whiten = np.linalg.inv(np.linalg.cholesky(covariance))
    Z, M = (T - X.mean(axis=0)) @ whiten.T, (means - X.mean(axis=0)) @ whiten.T
    if rule == "cosine":
        scores = (Z / np.linalg.norm(Z, axis=1)[:, None]) @ (M / np.linalg.norm(M, axis=1)[:, None]).T
    else:
        scores = -((Z[:, None] - M) ** 2).sum(axis=-1)
    np.testing.assert_array_equal(model.predict(T), scores.argmax(axis=1))
    V = model.components_.T
    assert V.shape == (60, 7)
    np.testing.assert_allclose(V.T @ covariance @ V, np.eye(7), atol=1e-9)
    np.testing.assert_allclose(model.class_means_, np.stack([model.embedding_[y == k].mean(0) for k in range(8)]))


def test_errors() -> None:
    X, y = samples(0, 4)
    with pytest.raises(NotApplicable, match="span 7"):
        LedoitWolfLDA(8).fit(X, y)
    with pytest.raises(NotApplicable, match="same mean"):
        LedoitWolfLDA().fit(np.tile([[1.0, 0], [-1, 0]], (4, 1)), [0, 0, 1, 1, 0, 0, 1, 1])


def test_with_one_component_of_three_classes_the_distance_decides() -> None:
    """The cosine of one component is a sign."""
    X = np.random.default_rng(0).normal(0, 0.1, 90)[:, None] + np.repeat([0, 5, 9], 30)[:, None]
    y = np.repeat(["a", "b", "c"], 30)
    assert LedoitWolfLDA().fit(X, y).score(X, y) == 1.0
    assert LedoitWolfLDA().fit(X[:60], y[:60]).score(X[:60], y[:60]) == 1.0


# --- scores of classes

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
