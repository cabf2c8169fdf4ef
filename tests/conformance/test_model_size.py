"""A fitted model holds what its predictions need: no kernel among the training samples."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from mklearn.classifiers import FSVC
from mklearn.kernels.transform import StackTransform

pytestmark = pytest.mark.full

READ_BY_PREDICTIONS = {"coefficients_", "embedding_", "dual_coef_", "dual", "eta", "V", "coef_"}
"""Names of arrays with an entry for each training sample or component."""


def arrays(value: Any, name: str = "") -> Iterator[tuple[str, NDArray[Any]]]:
    """The arrays in an object, by name of attribute."""
    if isinstance(value, np.ndarray):
        yield name, value
    elif isinstance(value, list | tuple):
        for each in value:
            yield from arrays(each, name)
    else:
        for key, each in (value if isinstance(value, dict) else getattr(value, "__dict__", {})).items():
            yield from arrays(each, str(key))


def test_training_kernels_are_dropped() -> None:
    X = load_digits(return_X_y=True)[0][:60, :20]
    fitted = StackTransform(["gaussian", {"kind": "polynomial", "psd": "flip"}])
    fitted.fit_transform(X)
    assert not hasattr(fitted, "stack_train_")
    assert all(array.size < 60 * 60 for _, array in arrays(fitted))


def test_pickled_fsvm_has_its_diagnostics_without_the_samples() -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:300], y[:300]
    model = FSVC().fit(X, y)
    loaded = pickle.loads(pickle.dumps(model))
    assert len(pickle.dumps(loaded)) < X.nbytes < sum(fit.Z.nbytes for fit in model._joint_fits)
    np.testing.assert_equal(loaded.diagnostics_, model.diagnostics_)
    np.testing.assert_array_equal(loaded.C0_, model.C0_)
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    fresh = FSVC(power=0.25).fit(X, y)
    assert np.isnan(pickle.loads(pickle.dumps(fresh)).C0_).all()
    assert pickle.loads(pickle.dumps(FSVC(2.0))).C == 2.0
