"""The SVC on features side by side: its units, and what its parameters change."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_digits
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mklearn.classifiers.gaussian_svc import gaussian_svc

TRAIN, TEST = slice(0, 100), slice(100, 300)
DIGITS, Y = load_digits(return_X_y=True)
X = DIGITS[:, DIGITS[TRAIN].std(axis=0) > 0]


@pytest.mark.parametrize("bandwidth", [0.25, 4.0])
def test_machines_are_those_of_scikit_learn(bandwidth: float) -> None:
    Z = StandardScaler().fit(X[TRAIN]).transform(X)
    distances = squareform(pdist(Z[TRAIN], "sqeuclidean"))
    gamma = 1 / (bandwidth * pdist(Z[TRAIN], "sqeuclidean").mean())
    kernel = np.exp(-gamma * distances)
    variance = kernel.diagonal().mean() - kernel.mean()
    machines = OneVsRestClassifier(SVC(C=10 / variance, gamma=gamma)).fit(Z[TRAIN], Y[TRAIN])
    model = gaussian_svc(C=10, bandwidth=bandwidth).fit(X[TRAIN], Y[TRAIN])
    assert np.mean(model.predict(X[TEST]) == machines.predict(Z[TEST])) > 0.99
