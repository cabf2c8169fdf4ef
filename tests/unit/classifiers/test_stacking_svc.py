"""Late fusion equals its steps by hand: out-of-fold scores, temperatures, logistic regression."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from mklearn.base.folds import inner_folds
from mklearn.classifiers import KernelSVC, StackingSVC
from mklearn.errors import DataError, NotApplicable
from mklearn.optimize.calibration import fit_inverse_temperature

N = 90


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("groups", [None, np.arange(N) // 3 % 20], ids=["samples", "groups"])
def test_equals_its_steps_by_hand(n_classes: int, groups: np.ndarray | None) -> None:
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    X = X + np.random.default_rng(0).normal(scale=9, size=X.shape)
    folds = inner_folds(y[:N], 5, 0, groups)
    assert groups is None or not any(np.isin(groups[test], groups[train]).any() for train, test in folds)
    features, new, views = [], [], {"left": X[:, :20], "right": X[:, 20:]}
    for view in views.values():
        K = view @ view[:N].T

        def scores(train: np.ndarray, rows: np.ndarray, K: np.ndarray = K) -> np.ndarray:
            machine = KernelSVC(C=2.0).fit(K[np.ix_(train, train)], y[train])
            decision = machine.decision_function(K[np.ix_(rows, train)])
            return np.stack([-decision, decision], axis=1) if n_classes == 2 else decision

        left_out, outputs = np.empty((N, n_classes)), scores(np.arange(N), np.arange(N, len(K)))
        for train, test in folds:
            left_out[test] = scores(train, test)
        beta = fit_inverse_temperature(left_out, y[:N])
        clipped = np.minimum(1, np.ptp(left_out, axis=1).max() / np.ptp(outputs, axis=1, keepdims=True))
        features.append(softmax(beta * left_out, axis=1))
        new.append(softmax(beta * outputs * clipped, axis=1))
    last = LogisticRegression(C=10, tol=1e-8, max_iter=10_000).fit(np.hstack(features), y[:N])

    linear = {"kind": "linear", "centre": False, "normalise": "none"}
    model = StackingSVC(kernels={name: linear | {"view": name} for name in views}, C=2.0)
    model.fit({name: view[:N] for name, view in views.items()}, y[:N], groups=groups)
    found = model.predict_proba({name: view[N:] for name, view in views.items()})
    np.testing.assert_allclose(found, last.predict_proba(np.hstack(new)), atol=1e-4)
    sizes = np.abs(last.coef_).sum(axis=0).reshape(2, -1).sum(axis=1)
    np.testing.assert_allclose(model.kernel_weights_, sizes / sizes.sum(), atol=1e-3)


def test_groups_and_classes_that_can_not_be_left_out() -> None:
    X, y = load_digits(n_class=2, return_X_y=True)
    model = StackingSVC(kernels="linear")
    with pytest.raises(NotApplicable, match="two training groups of each class"):
        model.fit(X[:20], y[:20], groups=y[:20])
    with pytest.raises(DataError, match="groups have shape"):
        model.fit(X[:20], y[:20], groups=y[:19])
    with pytest.raises(NotApplicable, match="class 1 has one"):
        model.fit(X[:20], np.arange(20) < 1)
