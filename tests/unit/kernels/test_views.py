"""Views are indexed together as scikit-learn indexes, and say what is wrong with tables."""

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.ensemble import BaggingClassifier
from sklearn.inspection import permutation_importance
from sklearn.model_selection import KFold, train_test_split

from mklearn import MultiViewClassifier
from mklearn.errors import DataError
from mklearn.kernels.views import Views, as_views

NAMES = [f"s{number}" for number in range(6)]


def tables() -> dict[str, Any]:
    values = np.arange(12.0).reshape(6, 2)
    frame = pd.DataFrame(values, index=NAMES, columns=["a", "b"])
    return {"array": values, "frame": frame, "sparse": sp.coo_array(values), "text": np.array(NAMES, dtype=object)}


@pytest.mark.parametrize("rows", [[4, 1], np.array([4, 1]), np.arange(6) % 2 == 0, slice(1, 4), 3, pd.Index([0, 5])])
def test_rows_of_every_view(rows: Any) -> None:
    views = Views(tables())
    expected = np.arange(12.0).reshape(6, 2)[np.atleast_1d(rows) if not isinstance(rows, slice) else rows]
    for chosen in (views[rows], views[rows, ...]):
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


def test_refuses() -> None:
    values = tables()
    for wrong, message in (
        ({}, "no views"),
        ({"a": values["array"], "b": np.zeros((5, 1))}, "different numbers of samples: a has 6, b has 5"),
        ({"a": np.zeros((6, 0))}, r"view 'a' has shape \(6, 0\)"),
        ({"a": values["frame"], "b": values["frame"].iloc[::-1]}, "'a' and 'b' have different labels"),
        ({"1": values["array"], 1: values["array"]}, "different as text"),
    ):
        with pytest.raises(DataError, match=message):
            Views(wrong)
    views = Views(values)
    with pytest.raises(DataError, match="no view 'colour'; available: 'array', 'frame'"):
        views["colour"]
    with pytest.raises(DataError, match="not one table of numbers"):
        np.asarray(views)
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
