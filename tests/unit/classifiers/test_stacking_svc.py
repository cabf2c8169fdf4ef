"""Late fusion equals its steps by hand: machines of scikit-learn, out-of-fold probabilities, logistic regression."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from mklearn.base.folds import inner_folds
from mklearn.classifiers import StackingSVC
from mklearn.errors import DataError, NotApplicable

N = 90


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("groups", [None, np.arange(N) // 3 % 20], ids=["samples", "groups"])
def test_equals_its_steps_by_hand(n_classes: int, groups: np.ndarray | None) -> None:
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    X, labels = X + np.random.default_rng(0).normal(scale=9, size=X.shape), np.array(["b", "a", "c"])[y]
    views = [X[:, :20], X[:, 20:]]
    model = StackingSVC(kernels="gaussian", C=2.0)
    model.fit({str(k): view[:N] for k, view in enumerate(views)}, labels[:N], groups=groups)
    folds = inner_folds(labels[:N], 5, 0, groups)
    assert groups is None or not any(np.isin(groups[test], groups[train]).any() for train, test in folds)

    features, new = [], []
    for view in views:
        squared = ((view[:, None] - view[:N]) ** 2).sum(axis=2)
        K = np.exp(-squared / squared[:N].sum() * N * (N - 1))  # the bandwidth is the mean squared distance

        def scores(train: np.ndarray, rows: np.ndarray, K: np.ndarray = K) -> np.ndarray:
            own = K[np.ix_(train, train)]
            C = 2.0 / (np.trace(own) / len(own) - own.mean())
            machines = OneVsRestClassifier(SVC(kernel="precomputed", C=C)).fit(own, labels[train])
            decision = machines.decision_function(K[np.ix_(rows, train)])
            return np.stack([-decision, decision], axis=1) if n_classes == 2 else decision

        left_out = np.empty((N, n_classes))
        for train, test in folds:
            left_out[test] = scores(train, test)
        wanted = np.eye(n_classes)[np.unique(labels[:N], return_inverse=True)[1]] * N / (N + 1)
        wanted += 1 / (N + 1) / n_classes
        loss = lambda b, s=left_out, t=wanted: -(t * log_softmax(np.exp(b) * s, axis=1)).mean()  # noqa: E731
        beta = np.exp(minimize_scalar(loss, bounds=(-5, 8), method="bounded", options={"xatol": 1e-8}).x)
        outputs = scores(np.arange(N), np.arange(N, len(K)))
        widest = np.ptp(left_out, axis=1).max() / np.ptp(outputs, axis=1, keepdims=True)
        features.append(softmax(beta * left_out, axis=1))
        new.append(softmax(beta * outputs * np.minimum(1, widest), axis=1))
    last = LogisticRegression(C=10, tol=1e-8, max_iter=10_000).fit(np.hstack(features), labels[:N])
    rest = {str(k): view[N:] for k, view in enumerate(views)}
    np.testing.assert_allclose(model.predict_proba(rest), last.predict_proba(np.hstack(new)), atol=2e-3)
    sizes = np.abs(last.coef_).sum(axis=0).reshape(2, -1).sum(axis=1)
    np.testing.assert_allclose(model.kernel_weights_, sizes / sizes.sum(), atol=2e-3)


def test_groups_and_classes_that_can_not_be_left_out() -> None:
    X, y = load_digits(n_class=2, return_X_y=True)
    model = StackingSVC(kernels="linear")
    with pytest.raises(NotApplicable, match="two training groups of each class"):
        model.fit(X[:20], y[:20], groups=y[:20])
    with pytest.raises(DataError, match="groups have shape"):
        model.fit(X[:20], y[:20], groups=y[:19])
    with pytest.raises(NotApplicable, match="class 1 has one"):
        model.fit(X[:20], np.arange(20) < 1)
