"""Arrays and labels that a conversion would change, or that have no order, are refused; the lines of warnings."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mklearn import MultiViewRegressor
from mklearn.checks import as_float_matrix
from mklearn.classifiers import KernelSVC, LedoitWolfLDA
from mklearn.errors import DataError
from mklearn.papers.mkl_dr.kernel_ensembles import KernelSAMME
from mklearn.subspace import MKLDR, MMC, ConvexMKLDR
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
        (pd.DataFrame({"a": X[:, 0], "b": 2**53 + np.arange(4)}), "integers of 2\\*\\*53 or more"),
        ((2**53 + X.astype(np.int64)).tolist(), "integers of 2\\*\\*53 or more"),
        (pd.DataFrame({"a": X[:, 0], "day": pd.date_range("2020", periods=4)}), "a column of dtype datetime64"),
    ],
    ids=["mask", "2**53", "-2**62", "unsigned", "complex", "frame", "list", "dates"],
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


@pytest.mark.parametrize("estimator", [PCA(), MMC(), LedoitWolfLDA(), ConvexMKLDR()], ids=repr)
@pytest.mark.parametrize("scale", [1e100, 1e200, 1e-155, 1e-300])
def test_values_whose_squares_are_no_numbers(estimator: Any, scale: float) -> None:
    values = np.random.default_rng(0).normal(size=(12, 3))
    y = np.repeat([0, 1], 6)
    values = (values @ values.T)[..., None] if hasattr(estimator, "kernels") else values
    with pytest.raises(DataError, match=r"X has the largest absolute value \S+: .* rescale X to values from 1e-60"):
        estimator.fit(values * scale, y)
    fitted = estimator.fit(values * 1e40, y)
    assert np.isfinite(fitted.transform(values * 1e-100)).all()
    with pytest.raises(DataError, match="rescale X"):
        fitted.transform(values * 1e100)


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ([b"a", b"b"], r"y has dtype \|S1: expected class labels as text or whole numbers"),
        (np.array([b"a", b"b"], dtype=object), "y has labels of types bytes"),
        (["a", 1], "y has labels of types int, str: expected all of one type"),
        (np.array(["a", 1], dtype=object), "y has labels of types int, str"),
        (["a", None], "y has missing labels"),
        (pd.Series(["a", pd.NA]), "y has missing labels"),
        (np.array([0.0, np.nan]), "y has missing labels"),
        (np.array(["2020", "NaT"], dtype="M8[Y]"), "y has missing labels"),
        (np.array([0, 1j]), "y has dtype complex128"),
        (np.ma.masked_array([0, 1], [False, True]), "y is a masked array"),
        (np.zeros(2, dtype=[("a", "i4")]), "y has dtype"),
        ([{}, {}], "y must hold class labels"),
        ([[0], [0, 1]], "y is not a regular array"),
        ("ab", r"y has shape \(\)"),
    ],
)
def test_labels_of_no_class(labels: Any, sentence: str) -> None:
    values = np.random.default_rng(0).normal(size=(2, 3))
    with pytest.raises(DataError, match=sentence):
        MMC().fit(values, labels)


@pytest.mark.parametrize("dtype", ["Float64", "double[pyarrow]"])
def test_types_of_pandas_with_missing_values_are_numbers_in_views_too(dtype: str) -> None:
    rng = np.random.default_rng(0)
    plain = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc"))
    y = (plain["a"] > 0).to_numpy()
    table = plain.astype(dtype)
    expected = KernelSVC(kernels="gaussian").fit({"u": plain}, y).decision_function({"u": plain})
    np.testing.assert_array_equal(
        KernelSVC(kernels="gaussian").fit({"u": table}, y).decision_function({"u": table}), expected
    )
    columns = [{"columns": ["a", "b"]}]
    assert KernelSVC(kernels=columns).fit(table, y).score(table, y) > 0.9
    targets = table[["a", "b"]].mask(plain["c"] > 1)
    assert MultiViewRegressor(kernels="linear").fit({"u": table}, targets).predict({"u": table}).shape == (40, 2)


def test_text_and_a_single_value_are_no_target() -> None:
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(30, 3)), rng.normal(size=(30, 2)), np.ones(30)
    with pytest.raises(DataError, match="y must hold numbers: they are text"):
        MultiViewRegressor().fit(X, pd.Series(["1", "2"] * 15, dtype=object))
    y[2:, 0], weights[0] = np.nan, 0
    for targets in (y, y[:, 0]):
        with pytest.raises(DataError, match="fewer than two samples of positive weight"):
            MultiViewRegressor().fit(X, targets, sample_weight=weights)


NOISE = np.random.default_rng(0).normal(size=(60, 5))
CLASSES = np.repeat([0, 1, 2], 20)
SHIFTED = NOISE + 0.3 * CLASSES[:, None]
KERNELS = np.exp(-((SHIFTED[:, None] - SHIFTED) ** 2).sum(axis=-1)[..., None] / [1.0, 5.0, 25.0])


@pytest.mark.parametrize(
    "call",
    [
        lambda: MKLDR(graph="lpp", beta_step="central_path", ridge=0.1).fit(KERNELS),
        lambda: MKLDR(graph="lpp", ridge=0.1).fit_transform(KERNELS),
        lambda: MKLDR(kernels=["gaussian", "linear"], landmarks=20, beta_step="central_path", ridge=1.0).fit(
            SHIFTED, CLASSES
        ),
        lambda: KernelSAMME(kernels=["gaussian"]).fit(NOISE[:, :3], np.arange(60) % 4),
        lambda: MultiViewRegressor().fit(np.concatenate([NOISE, NOISE[:1]]), np.arange(61.0)),
        lambda: KernelSVC(kernels=[{"kind": "gaussian", "bandwidth": 1e-3}]).fit(NOISE, CLASSES),
    ],
    ids=["kernels", "fit_transform", "landmarks", "boosting", "repeated samples", "identity"],
)
def test_a_warning_is_at_the_line_of_the_user(call: Callable[[], object], recwarn: pytest.WarningsRecorder) -> None:
    call()
    assert {each.filename for each in recwarn} == {__file__}
