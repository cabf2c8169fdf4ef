"""Pooled Ledoit-Wolf discriminant analysis: against the same in the whole space, and where scikit-learn's fails."""

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf
from sklearn.covariance import ledoit_wolf_shrinkage as reference_shrinkage
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from mklearn.classifiers.ledoit_wolf_lda import LedoitWolfLDA, ledoit_wolf_shrinkage
from mklearn.errors import NotApplicable


def samples(seed: int, per_class: int, c: int = 8, d: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(99).normal(size=(c, d))
    y = np.repeat(np.arange(c), per_class)
    noise = rng.normal(size=(len(y), d)) * np.linspace(0.2, 3, d)
    return 1.2 * centres[y] + noise + 10, y


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


def test_two_samples_per_class_where_class_by_class_estimates_fail() -> None:
    X, y = samples(0, 2, c=40, d=200)
    T, u = samples(1, 10, c=40, d=200)
    assert LedoitWolfLDA().fit(X, y).score(T, u) > 0.5
    with pytest.raises(np.linalg.LinAlgError):
        LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto").fit(X, y)


def test_errors() -> None:
    X, y = samples(0, 4)
    with pytest.raises(NotApplicable, match="within-class"):
        LedoitWolfLDA().fit(X, np.arange(32))
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
