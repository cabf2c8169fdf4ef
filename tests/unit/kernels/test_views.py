"""Views of features and of pairwise values, and stacks of kernels: indexing, new samples, what is refused."""

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.ensemble import BaggingClassifier
from sklearn.inspection import permutation_importance
from sklearn.model_selection import KFold, train_test_split

from mklearn import MultiViewClassifier
from mklearn.classifiers import KernelSVC
from mklearn.errors import DataError
from mklearn.kernels import Pairwise, StackTransform, Views
from mklearn.kernels.distances import squared_euclidean
from mklearn.kernels.stack import KernelStack
from mklearn.kernels.views import as_views

pytestmark = pytest.mark.filterwarnings("ignore::mklearn.kernels.matrices.IdentityLikeKernelWarning")

NAMES = [f"s{number}" for number in range(6)]


def tables() -> dict[str, Any]:
    values = np.arange(12.0).reshape(6, 2)
    frame = pd.DataFrame(values, index=NAMES, columns=["a", "b"])
    return {"array": values, "frame": frame, "sparse": sp.coo_array(values), "text": np.array(NAMES, dtype=object)}


MASK = pd.Series(np.arange(6) > 3, NAMES)
"""A mask with the row labels of the views."""


@pytest.mark.parametrize("rows", [[4, 1], np.array([4, 1]), np.arange(6) > 3, slice(1, 4), 3, pd.Index([0, 5]), MASK,
                                  np.array([4, 1], np.uint8)])  # fmt: skip
def test_rows_of_every_view(rows: Any) -> None:
    views = Views(tables())
    expected = np.arange(12.0).reshape(6, 2)[np.atleast_1d(rows) if not isinstance(rows, slice) else rows]
    turned = rows.iloc[::-1] if rows is MASK else rows
    for chosen in (views[turned], views[turned, ...]):
        np.testing.assert_array_equal(chosen["array"], expected)
        np.testing.assert_array_equal(chosen["frame"].to_numpy(), expected)
        np.testing.assert_array_equal(chosen["sparse"].toarray(), expected)
        assert list(chosen["text"]) == [NAMES[int(value) // 2] for value in expected[:, 0]] == list(chosen.index)
        assert chosen.shape == (len(chosen), 7) == (len(expected), 7)


def test_scikit_learn_splits_them() -> None:
    views = Views(tables())
    train, test = train_test_split(views, test_size=2, random_state=0)
    assert sorted([*train.index, *test.index]) == NAMES
    assert (len(train), len(test), repr(test)) == (4, 2, "Views(2 samples: array (2), frame (2), sparse (2), text (1))")
    assert [len(test) for _, test in KFold(3).split(views)] == [2, 2, 2]
    for same in (pickle.loads(pickle.dumps(views)), copy.deepcopy(views)):
        np.testing.assert_array_equal(same["array"], views["array"])


def test_what_counts_as_views() -> None:
    values = tables()
    assert as_views({"a": values["array"]}).names == ("a",)
    assert as_views([values["array"], values["sparse"]]).names == ("0", "1")
    levels = pd.concat({"x": values["frame"], "y": values["frame"]}, axis=1)
    found = as_views(levels)
    assert (found.names, list(found["y"].columns), list(found.index)) == (("x", "y"), ["a", "b"], NAMES)
    for one_table in (
        values["array"],
        values["frame"],
        values["sparse"],
        values["sparse"].todok(),
        [[1.0, 2.0]],
        [1.0, 2.0],
        [],
        "text",
    ):
        assert as_views(one_table) is None


def test_refuses_tables() -> None:
    values = tables()
    for wrong, message in (
        ({}, "no views"),
        (values["frame"], "a dict or a list of tables"),
        (Views(values), "a dict or a list of tables"),
        ({"a": values["array"], "b": np.zeros((5, 1))}, "different numbers of samples: a has 6, b has 5"),
        ({"a": np.zeros((6, 0))}, r"view 'a' has shape \(6, 0\)"),
        ({"a": values["frame"], "b": values["frame"].iloc[::-1]}, "'a' and 'b' have .* order, b = b.loc.a.index.$"),
        ({"a": values["frame"], "b": values["frame"].set_axis(range(6))}, "same labels or, if row k is .*reset_index"),
        ({"1": values["array"], 1: values["array"]}, "different as text"),
    ):
        with pytest.raises(DataError, match=message):
            Views(wrong)
    views = Views(values)
    with pytest.raises(DataError, match="no view 'colour'; available: 'array', 'frame'"):
        views["colour"]
    with pytest.raises(DataError, match="not one table of numbers"):
        np.asarray(views)
    for rows in ([0.0, 1.0], ["array"], np.ones((6, 2), dtype=bool), [True, False], [[1, 2], [3, 4]]):
        with pytest.raises(DataError, match="can't select samples: expected positions"):
            views[rows]
    assert "frame" in views
    assert "colour" not in views


def test_what_makes_an_array_of_views_says_what_to_do() -> None:
    y = np.arange(60) % 2
    rng = np.random.default_rng(0)
    tables = {"a": pd.DataFrame(rng.normal(size=(60, 2)) + 2 * y[:, None]), "b": pd.DataFrame(rng.normal(size=(60, 2)))}
    views, model = Views(tables), MultiViewClassifier().fit(tables, y)
    with pytest.raises(DataError, match=r"permutation_importance .* two column levels"):
        permutation_importance(model, views, y)
    with pytest.raises(DataError, match=r"(?s)BaggingClassifier.*columns"):
        BaggingClassifier(MultiViewClassifier()).fit(views, y)
    found = permutation_importance(model, pd.concat(tables, axis=1), y, n_repeats=3, random_state=0).importances_mean
    assert found.argmax() < 2


# --- pairwise values

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


@pytest.mark.parametrize(("whole", "m"), [(False, 3), (False, 4), (True, 3), (True, 4)])
def test_a_square_matrix_of_new_samples_is_not_among_them(whole: bool, m: int) -> None:
    """4 training samples: rows of 4 new ones are a square matrix, and yet their values of their own are not known."""
    X = np.random.default_rng(0).random((4 + m, 3))
    K = X @ X.T
    unit = K / np.sqrt(np.outer(np.diagonal(K), np.diagonal(K)))
    transform = StackTransform({"k": {"kind": "precomputed", "normalise": "unit_diagonal", "centre": False}})
    if whole:
        transform.fit(Views({"k": Pairwise(K)})[:4])
        rows = transform.transform(Views({"k": Pairwise(K.copy())})[4:])
        np.testing.assert_allclose(rows[0], unit[4:, :4])
        turned = transform.transform(Views({"k": Pairwise(K[::-1], np.arange(4 + m)[::-1])}))
        np.testing.assert_allclose(turned[0], unit[::-1, :4])
        transform.fit(Views({"k": Pairwise(K)})[3:7])
        np.testing.assert_allclose(transform.transform(Views({"k": Pairwise(K.copy())}))[0], unit[:, 3:7])
    else:
        transform.fit(Views({"k": Pairwise(K[:4, :4])}))
        with pytest.raises(DataError, match="needs their similarity to themselves"):
            transform.transform(Views({"k": Pairwise(K[4:, :4])}))


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


def test_refuses_pairwise_values() -> None:
    with pytest.raises(DataError, match="sparse matrix; pass a dense array"):
        Pairwise(sp.eye_array(3))
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
    with pytest.raises(DataError, match="are not among their columns: can't fit kernels to them"):
        Pairwise(VALUES[:2]).among()
    with pytest.raises(DataError, match="kernel 'd': the rows of these pairwise values are not among their columns"):
        StackTransform({"d": {}}).fit({"d": Pairwise(VALUES[:2])})
    with pytest.raises(DataError, match=r"kernel 'd': the pairwise matrix .* is not symmetric"):
        StackTransform({"d": {}}).fit({"d": Pairwise(VALUES)})


def test_new_samples_are_of_the_kind_that_was_fitted(digits) -> None:
    distances = squared_euclidean(digits[0])
    with pytest.raises(DataError, match=r"view 'd' must be mklearn\.kernels\.Pairwise, as in fit"):
        StackTransform({"d": {}}).fit({"d": Pairwise(distances)}).transform({"d": distances[:3]})
    with pytest.raises(DataError, match="view 'd' must be a table of features, as in fit"):
        StackTransform({"d": {}}).fit({"d": distances}).transform({"d": Pairwise(distances)})


# --- stacks


@pytest.fixture
def matrices() -> np.ndarray:
    A = np.random.default_rng(0).standard_normal((3, 6, 4))
    return A @ A.transpose(0, 2, 1)


def test_axes_round_trip_without_a_copy(matrices: np.ndarray) -> None:
    stack = KernelStack(matrices, ["a", "b", "c"])
    X = stack.as_last_axis()
    assert X.shape == (6, 6, 3)
    np.testing.assert_array_equal(X[1, 2], matrices[:, 1, 2])
    again = KernelStack.from_last_axis(X)
    assert np.shares_memory(again.matrices, matrices)
    assert all(matrix.flags.c_contiguous for matrix in again)
    # what scikit-learn's cross-validation does to a pairwise input
    index = np.array([0, 2, 5])
    sliced = KernelStack.from_last_axis(X[np.ix_(index, index)])
    np.testing.assert_array_equal(sliced.matrices, matrices[:, index][:, :, index])
    assert all(matrix.flags.c_contiguous for matrix in sliced)
    assert KernelStack.from_last_axis(matrices[0]).shape == (1, 6, 6)


def test_behaves_like_a_sequence(matrices: np.ndarray) -> None:
    stack = KernelStack(list(matrices), ["a", "b", "c"])
    assert len(stack) == 3
    assert len(list(stack)) == 3
    np.testing.assert_array_equal(stack["b"], stack[1])
    np.testing.assert_array_equal(stack[-1], matrices[2])
    combined = 0.2 * matrices[0] - matrices[1] + 3 * matrices[2]
    np.testing.assert_allclose(stack.combine([0.2, -1.0, 3.0]), combined)
    assert (stack.n_rows, stack.n_columns, stack.dtype) == (6, 6, np.float64)
    assert repr(stack) == "KernelStack(3 kernels, 6 x 6, float64)"
    with pytest.raises(IndexError):
        stack[3]
    with pytest.raises(DataError, match="no kernel 'd'"):
        stack["d"]


def test_matrices_are_read_only_and_the_callers_array_is_not(matrices: np.ndarray) -> None:
    stack = KernelStack(matrices)
    with pytest.raises(ValueError, match="read-only"):
        stack.matrices[0, 0, 0] = 1
    matrices[0, 0, 0] = 1
    single = KernelStack(matrices.astype(np.float32))
    assert single.dtype == single.combine([1, 1, 1]).dtype == np.float32
    assert KernelStack(np.ones((1, 2, 2), dtype=int)).dtype == np.float64


def test_refuses_stacks(matrices: np.ndarray) -> None:
    with pytest.raises(DataError, match="at least one kernel"):
        KernelStack(np.empty((0, 3, 3)))
    with pytest.raises(DataError, match="2 ids were given for 3"):
        KernelStack(matrices, ["a", "b"])
    with pytest.raises(DataError, match="unique; given twice: 'a'"):
        KernelStack(matrices, ["a", "a", "b"])
    with pytest.raises(DataError, match=r"expected \(n_samples, n_train, n_kernels\)"):
        KernelStack.from_last_axis(np.ones(3))
    stack = KernelStack(matrices, ["a", "b", "c"])
    matrices = matrices.copy()
    matrices[1, 0, 1] += 1
    with pytest.raises(DataError, match="kernel 'b' is not symmetric"):
        KernelStack(matrices, ["a", "b", "c"]).require_training()
    with pytest.raises(DataError, match="2 kernel weights were given for 3"):
        stack.combine([1, 1])
