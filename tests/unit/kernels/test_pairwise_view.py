"""Views of pairwise values: selection of samples, and new samples."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

from mklearn.classifiers import KernelSVC
from mklearn.errors import DataError
from mklearn.kernels import Pairwise, StackTransform, Views
from mklearn.kernels.distances import squared_euclidean

pytestmark = pytest.mark.filterwarnings("ignore::mklearn.kernels.matrices.IdentityLikeKernelWarning")

N = 7
VALUES = np.arange(N * N, dtype=float).reshape(N, N)
TRAIN = np.array([5, 0, 3])


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(n_class=3, return_X_y=True)
    return X[:90] / 16, y[:90]


# --- selection


@pytest.mark.parametrize("rows", [[4, 1], np.array([4, 1]), slice(1, 6, 2), np.arange(N) % 2 == 0])
def test_samples_are_selected_in_rows_and_columns(rows: Any) -> None:
    chosen = np.arange(N)[rows]
    view = Pairwise(VALUES)
    for selected in (view[rows], Views({"d": view})[rows]["d"], Views({"d": view})[rows, ...]["d"]):
        assert selected.shape == (len(chosen), N)
        np.testing.assert_array_equal(selected.among(), VALUES[np.ix_(chosen, chosen)])
        np.testing.assert_array_equal(selected.against(view[TRAIN]), VALUES[np.ix_(chosen, TRAIN)])
        np.testing.assert_array_equal(view[TRAIN].against(selected), VALUES[np.ix_(TRAIN, chosen)])
        np.testing.assert_array_equal(selected.own(), VALUES[chosen, chosen])


def test_a_file_stays_on_disk(tmp_path: Path, digits) -> None:
    X, y = digits
    distances = squared_euclidean(X).astype(np.float32)
    np.save(tmp_path / "d.npy", distances)
    stored = Pairwise(np.load(tmp_path / "d.npy", mmap_mode="r"))
    assert isinstance(stored._values, np.memmap)
    assert isinstance(stored[TRAIN]._values, np.memmap)
    assert not isinstance(stored[TRAIN].among(), np.memmap)
    found, expected = (
        KernelSVC(kernels={"d": {}}).fit(Views({"d": view})[:60], y[:60]).predict(Views({"d": view})[60:])
        for view in (stored, Pairwise(distances))
    )
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [(np.float32, np.float32), (np.float64, np.float64), (np.float16, np.float64), (int, np.float64)],
)
def test_the_dtype_of_kernels(dtype: type, expected: type) -> None:
    distances = np.abs(np.subtract.outer(np.arange(6), np.arange(6))) ** 2
    view = Views({"d": Pairwise(distances.astype(dtype))})
    fitted = StackTransform({"d": {"centre": False}}).fit(view[:4])
    exact = StackTransform({"d": {"centre": False}}).fit(Views({"d": Pairwise(distances.astype(float))})[:4])
    assert fitted.stack_train_.dtype == fitted.transform(view[4:]).dtype == expected
    np.testing.assert_allclose(fitted.stack_train_.matrices, exact.stack_train_.matrices, rtol=1e-6)
    assert np.unique(fitted.stack_train_.matrices).size == 4


# --- new samples


def test_new_samples_against_the_columns_of_training_samples() -> None:
    new = np.random.default_rng(0).random((2, N))
    training = Pairwise(VALUES)[TRAIN]
    rows = Pairwise(new)
    np.testing.assert_array_equal(rows.against(training), new[:, TRAIN])
    np.testing.assert_array_equal(rows[[1]].against(training), new[1:, TRAIN])
    assert rows.own() is None
    assert rows[1:].own() is None


def test_rows_that_stand_for_columns() -> None:
    places = [6, 2, 4]
    rows = Pairwise(VALUES[places], places)
    np.testing.assert_array_equal(rows.among(), VALUES[np.ix_(places, places)])
    np.testing.assert_array_equal(rows.own(), VALUES[places, places])
    np.testing.assert_array_equal(rows[[2, 0]].among(), VALUES[np.ix_([4, 6], [4, 6])])
    np.testing.assert_array_equal(rows[1:].own(), VALUES[[2, 4], [2, 4]])
    np.testing.assert_array_equal(Pairwise(VALUES)[TRAIN].against(rows), VALUES[np.ix_(TRAIN, places)])
    turned = Pairwise(VALUES[::-1], np.arange(N)[::-1])
    np.testing.assert_array_equal(turned.among(), VALUES[::-1, ::-1])


def test_samples_without_any_value() -> None:
    values = VALUES.copy()
    values[[0, 4]] = values[:, [0, 4]] = np.nan
    view = Pairwise(values)
    assert np.flatnonzero(view.lacking()).tolist() == [0, 4]
    assert view[[1, 4, 2]].lacking().tolist() == [False, True, False]
    values[1] = np.nan
    values[1, 6] = 0.5
    assert not view[[1]].lacking().any()
    assert Pairwise(np.full((2, N), np.nan)).lacking().tolist() == [True, True]
    assert not Pairwise(np.zeros((2, 2), dtype=int)).lacking().any()


# --- errors


def test_refuses() -> None:
    for values in (np.zeros(3), np.zeros((2, 2, 2)), np.zeros((0, 3)), 3.0):
        with pytest.raises(DataError, match=r"pairwise values have shape \(.*\); expected samples in rows and in col"):
            Pairwise(values)
    with pytest.raises(DataError, match=r"positions have shape \(3,\) for 2 rows of pairwise values"):
        Pairwise(VALUES[:2], [0, 1, 2])
    for positions in ([0, 7], [-1, 0], [0.0, 1.0], [True, False]):
        with pytest.raises(DataError, match="positions of pairwise values must be integers from 0 to 6"):
            Pairwise(VALUES[:2], positions)
    with pytest.raises(DataError, match="the views have different numbers of samples: d has 7, x has 3"):
        Views({"d": Pairwise(VALUES), "x": np.eye(3)})
    with pytest.raises(DataError, match="stand for no columns: kernels can't be fitted to them"):
        Pairwise(VALUES[:2]).among()
    with pytest.raises(DataError, match="kernel 'd': the rows of these pairwise values stand for no columns"):
        StackTransform({"d": {}}).fit({"d": Pairwise(VALUES[:2])})
    with pytest.raises(DataError, match=r"kernel 'd': the pairwise matrix .* is not symmetric"):
        StackTransform({"d": {}}).fit({"d": Pairwise(VALUES)})


def test_new_samples_are_of_the_kind_that_was_fitted(digits) -> None:
    distances = squared_euclidean(digits[0])
    with pytest.raises(DataError, match=r"view 'd' must be mklearn\.kernels\.Pairwise, as in fit"):
        StackTransform({"d": {}}).fit({"d": Pairwise(distances)}).transform({"d": distances[:3]})
    with pytest.raises(DataError, match="view 'd' must be a table of features, as in fit"):
        StackTransform({"d": {}}).fit({"d": distances}).transform({"d": Pairwise(distances)})
