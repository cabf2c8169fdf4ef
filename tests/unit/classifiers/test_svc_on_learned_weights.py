"""Support vector machines on weights of convex MKL-DR and EasyMKL: the learner's weights, then `KernelSVC`."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from mklearn.classifiers import ConvexMKLDRSVC, EasyMKL, KernelSVC
from mklearn.kernels.specs import StackTransform
from mklearn.optimize.easy_mkl import easy_mkl_weights
from mklearn.subspace import ConvexMKLDR

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
    dr = ConvexMKLDR(p=1.5, ridge=0.1).fit(K, y).kernel_weights_
    kernels = np.ascontiguousarray(np.moveaxis(K, -1, 0))
    easy = [easy_mkl_weights(kernels, np.where(y == code, 1.0, -1.0), trade_off=0.3).weights for code in range(5)]
    for model, weights in (
        (ConvexMKLDRSVC(p=1.5, ridge=0.1, **options), dr), (EasyMKL(trade_off=0.3, **options), np.mean(easy, axis=0)),
    ):  # fmt: skip
        model.fit(K, y)
        np.testing.assert_allclose(model.kernel_weights_, weights)
        assert np.ptp(weights) > 0.01
        alone = KernelSVC(kernel_weights=weights, **options).fit(K, y)
        np.testing.assert_array_equal(model.predict(K_test), alone.predict(K_test))
        assert model.score(K_test, y_test) > 0.9
