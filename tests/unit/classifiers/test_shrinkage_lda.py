"""scikit-learn's shrinkage: the same as there, with a word where it shrinks nothing."""

from __future__ import annotations

import numpy as np
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from mklearn.classifiers.shrinkage_lda import ShrinkageLDA


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


def test_equals_scikit_learn() -> None:
    X, y = samples(4)
    ours, theirs = (
        model(solver="lsqr", shrinkage="auto").fit(X, y) for model in (ShrinkageLDA, LinearDiscriminantAnalysis)
    )
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    assert (ours.status_, ours.message_) == ("ok", "")


def test_shrinkage_0_is_plain_discriminant_analysis() -> None:
    """A study's LDA without shrinkage; a constant and a repeated column too."""
    X, y = samples(30)
    X = np.column_stack([X, np.ones(len(X)), X[:, 0]])
    plain = LinearDiscriminantAnalysis().fit(X[::2], y[::2]).predict(X[1::2])
    found = ShrinkageLDA(solver="lsqr", shrinkage=0.0).fit(X[::2], y[::2]).predict(X[1::2])
    assert np.mean(found != plain) <= 0.02
