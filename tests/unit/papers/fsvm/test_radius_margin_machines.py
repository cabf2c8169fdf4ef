"""RMMSVC, RSVMPlus and RSVMPlusMu."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.svm import SVC

from mklearn.classifiers import FSVC
from mklearn.papers.fsvm import RMMSVC, RSVMPlus, RSVMPlusMu

WINE = load_wine(return_X_y=True)
IRIS = load_iris(return_X_y=True)


def unit(X):
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    X = X - X.mean(axis=0)
    return X / np.sqrt((X**2).sum(axis=1).mean())


def pair():
    X, y = IRIS
    return X[50:], y[50:]


@pytest.mark.parametrize("C", [0.3, 8.0, 512.0])
def test_rmm_without_a_bound_is_the_svm(C):
    X, y = pair()
    infinite, named, svm = RMMSVC(C, B=np.inf), RMMSVC(C, B="inf"), FSVC(C, power=0.0)
    outputs = [machine.fit(X, y).outputs(X) for machine in (infinite, named, svm)]
    np.testing.assert_array_equal(outputs[0], outputs[1])
    np.testing.assert_allclose(outputs[0], outputs[2], atol=1e-9)
    reference = SVC(kernel="linear", C=C, tol=1e-6).fit(unit(X), y).decision_function(unit(X))
    np.testing.assert_allclose(infinite.decision_function(X), reference, atol=1e-2)


@pytest.mark.parametrize("B", [1.01, 1.5, 2.5])
def test_rmm_bounds_the_outputs_of_the_training_samples(B):
    X, y = WINE
    found = RMMSVC(8.0, B=B).fit(X, y)
    free = RMMSVC(8.0, B="inf").fit(X, y)
    for column, (first, second) in enumerate(found.pairs_):
        rows = np.isin(y, (first, second))
        assert np.abs(found.outputs(X[rows])[:, column]).max() == pytest.approx(B, rel=1e-4)
        assert np.abs(free.outputs(X[rows])[:, column]).max() > B
    assert (found.objectives_ > free.objectives_).all()


def test_r_svm_plus_shrinks_the_diameter():
    X, y = pair()
    diameters = []
    for lam in (0.01, 1.0, 100.0):
        w = RSVMPlus(8.0, lam=lam).fit(X, y).coef_[0] * np.ptp(X, axis=0)
        Z = unit(X) * w
        diameters.append(((Z[:, None] - Z[None]) ** 2).sum(axis=-1).max())
    assert diameters[0] > diameters[1] > diameters[2]


def test_r_svm_plus_mu_uses_few_features():
    X, y = WINE
    found = RSVMPlusMu(0.5).fit(X, y)
    shares = np.abs(found.coef_ * np.ptp(X, axis=0))
    shares /= shares.max(axis=1, keepdims=True)
    assert ((shares < 1e-4).mean(axis=1) > 0.2).all()
    assert ((np.abs(RSVMPlus(0.5).fit(X, y).coef_ * np.ptp(X, axis=0)) > 1e-4).all(axis=1)).all()
