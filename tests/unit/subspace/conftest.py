"""Real data that tests of several embeddings share."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import StandardScaler

from mklearn.kernels.transform import StackTransform


@pytest.fixture(scope="session")
def wine() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.fixture(scope="session")
def digits() -> tuple[NDArray[Any], ...]:
    """Twenty samples of each digit: kernels on all pixels (0), on rows of them (1 to 4) and on noise (5 to 7)."""
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    X = np.hstack([X, rng.normal(size=(len(y), 20))])
    train = np.concatenate([rng.choice(np.flatnonzero(y == k), 20, replace=False) for k in range(10)])
    test = np.setdiff1d(np.arange(len(y)), train)
    scale = {"kind": "gaussian", "normalise": "centred_trace"}
    specs = [
        {"id": "pixels", "columns": list(range(64)), **scale},
        *({"id": f"rows {r}", "columns": list(range(16 * r, 16 * r + 16)), **scale} for r in range(4)),
        {"id": "noise 2", "columns": [64, 65], "bandwidth": 4.0, **scale},
        *({"id": f"noise {k}", "columns": list(range(64, 64 + k)), **scale} for k in (6, 20)),
    ]
    transform = StackTransform(specs).fit(X[train])
    return transform.stack_train_.as_last_axis(), y[train], transform.transform(X[test]).as_last_axis(), y[test]
