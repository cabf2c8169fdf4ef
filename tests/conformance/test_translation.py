"""A constant that is added to a view changes nothing, by default: features in other units of temperature, say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

from mklearn.nearest_neighbour import nearest_neighbour_predictions
from mklearn.subspace import MKLDR, ConvexMKLDR, KernelFDA, LeaveOneOutMKL

KERNELS = [
    {"kind": "gaussian", "columns": slice(0, 32)},
    {"kind": "linear", "columns": slice(0, 32)},
    {"kind": "linear", "columns": slice(32, 64)},
]


@pytest.mark.parametrize("estimator", [KernelFDA, MKLDR, ConvexMKLDR, LeaveOneOutMKL])
def test_a_constant_added_to_a_view_changes_no_prediction(estimator: Any) -> None:
    X, y = load_digits(return_X_y=True)
    moved = X + np.where(np.arange(64) < 32, 50.0, -200.0)
    train, test = np.arange(150), np.arange(150, 500)
    embedded = []
    for features in (X, moved):
        model = estimator(kernels=KERNELS).fit(features[train], y[train])
        embedded.append((model.transform(features[train]), model.transform(features[test])))
    first, second = (nearest_neighbour_predictions(Z, y[train], Z_test, "cosine") for Z, Z_test in embedded)
    assert np.mean(first == y[test]) > 0.8
    np.testing.assert_array_equal(first, second)
