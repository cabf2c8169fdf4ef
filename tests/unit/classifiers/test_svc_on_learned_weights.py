"""Support vector machines on weights of EasyMKL: the learner's weights, then `KernelSVC`."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from mklearn.classifiers import EasyMKL, KernelSVC
from mklearn.kernels.transform import StackTransform
from mklearn.optimize.easy_mkl import easy_mkl_weights

SPECS = [{"kind": "gaussian", "bandwidth": 0.3}, {"kind": "gaussian", "bandwidth": 2.0}, "linear"]


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=5, return_X_y=True)
    transform = StackTransform(SPECS).fit(X[:200])
    K, K_test = transform.stack_train_.as_last_axis(), transform.transform(X[200:]).as_last_axis()
    return np.array(K), y[:200], np.array(K_test), y[200:]


@pytest.mark.parametrize("C_scale", ["variance", "none"])
def test_learns_weights_then_fits_the_machine(digits, C_scale):
    K, y, K_test, y_test = digits
    options = {"C": 3.0, "C_scale": C_scale}
    kernels = np.ascontiguousarray(np.moveaxis(K, -1, 0))
    signs = [np.where(y == code, 1.0, -1.0) for code in range(5)]
    weights = np.mean([easy_mkl_weights(kernels, each, trade_off=0.3).weights for each in signs], axis=0)
    assert np.ptp(weights) > 0.01
    model = EasyMKL(trade_off=0.3, **options).fit(K, y)
    np.testing.assert_allclose(model.kernel_weights_, weights)
    alone = KernelSVC(kernel_weights=weights, **options).fit(K, y)
    np.testing.assert_array_equal(model.predict(K_test), alone.predict(K_test))
    assert model.score(K_test, y_test) > 0.9
