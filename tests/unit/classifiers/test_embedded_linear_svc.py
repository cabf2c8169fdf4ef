"""The linear SVM on an embedding: equal to its parts by hand, and its errors."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.svm import LinearSVC

from mklearn.classifiers.embedded_linear_svc import EmbeddedLinearSVC
from mklearn.kernels.transform import StackTransform
from mklearn.subspace.kfd import KernelFDA


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    specs = [{"kind": "gaussian", "bandwidth": b} for b in (0.3, 1.0, 4.0)]
    transform = StackTransform(specs).fit(X[:300])
    K, K_test = transform.stack_train_.as_last_axis(), transform.transform(X[300:900]).as_last_axis()
    return K, y[:300], K_test, y[300:900]


@pytest.mark.parametrize("weights", [None, 1, [3.0, 1.0, 0.0]])
def test_equals_its_steps_computed_separately(digits, weights):
    K, y, K_test, _ = digits
    model = EmbeddedLinearSVC(kernel_weights=weights, ridge=1e-2, C=0.5).fit(K, y)
    embedder = KernelFDA(kernel_weights=weights, ridge=1e-2).fit(K, y)
    centre = embedder.embedding_.mean(axis=0)
    Z, Z_test = embedder.embedding_ - centre, embedder.transform(K_test) - centre
    svc = LinearSVC(C=0.5, random_state=0).fit(Z / np.linalg.norm(Z, axis=1)[:, None], y)
    Z_test /= np.linalg.norm(Z_test, axis=1)[:, None]
    np.testing.assert_allclose(model.decision_function(K_test), svc.decision_function(Z_test), atol=1e-6)
    np.testing.assert_array_equal(model.predict(K_test), svc.predict(Z_test))
    np.testing.assert_allclose(model.kernel_weights_, embedder.kernel_weights_)
