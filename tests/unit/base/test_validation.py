"""Arrays that a conversion to floats would change are refused by estimators and kernels."""

from __future__ import annotations

import numpy as np
import pytest

from mklearn.errors import DataError
from mklearn.kernels.checks import as_float_matrix
from mklearn.subspace.pca import PCA

X = np.arange(12.0).reshape(4, 3)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (np.ma.masked_array(X, X > 5), "is a masked array"),
        (2**53 + X.astype(np.int64), "integers of 2\\*\\*53 or more"),
        (-(2**62) - X.astype(np.int64), "integers of 2\\*\\*53 or more"),
        (2**63 + X.astype(np.uint64), "integers of 2\\*\\*53 or more"),
        (X * 1j, "[cC]omplex"),
    ],
    ids=["mask", "2**53", "-2**62", "unsigned", "complex"],
)
def test_what_floats_do_not_hold(values: np.ndarray, sentence: str) -> None:
    with pytest.raises(DataError, match=f"X.* {sentence}"):
        as_float_matrix(values, "X")
    with pytest.raises(DataError, match=sentence):
        PCA().fit(values)


def test_integers_that_floats_hold() -> None:
    values = 2**53 - 1 - X.astype(np.int64)
    np.testing.assert_array_equal(as_float_matrix(values, "X").astype(np.int64), values)
    PCA().fit(values)
