"""The table of predictions: what a fit writes, and right or wrong of each sample from it."""

import numpy as np
import pandas as pd
import pytest

from mklearn.study.evaluation.outputs import RulePredictions, SplitRecord
from mklearn.study.evaluation.predictions import COLUMNS, Predictions, common, prediction_table, typed, without

Y = np.array([0, 1, 0, 1, 2])
IDS = np.array(["a", "b", "c", "d", "e"])
FIT = {"dataset": "s", "protocol": "p-2", "train_size": 2, "method": "kfd", "seed": 0}


def rule(labels, components, position):
    nothing = np.zeros(len(labels[0]), dtype=int)
    return RulePredictions(nothing, nothing, np.array(labels), components, position)


def split(repeat, train, test, own=None, fold=0, **rules):
    facts = {"repeat": repeat, "fold": fold}
    return SplitRecord(facts, np.array(train), np.array(test), rules if own is None else {"": own})


@pytest.fixture
def table():
    """Two splits: with one component right on 1 and 2 of 2 samples, with two on 2 and 0."""
    splits = [
        SplitRecord(
            {"repeat": 0, "fold": 0}, np.array([0, 1]), np.array([2, 3]), {"cosine": rule([[0, 0], [0, 1]], [1, 2], 0)}
        ),
        SplitRecord(
            {"repeat": 1, "fold": 0},
            np.array([2, 3]),
            np.array([0, 4]),
            {"cosine": rule([[0, 2], [1, 1]], [1, 2], None)},
        ),
    ]
    return prediction_table(splits, FIT, Y, IDS)


def test_a_row_for_each_test_sample(table):
    assert list(table.columns) == list(COLUMNS)
    assert table["sample"].tolist() == ["c", "d", "a", "e"]
    assert table["true"].tolist() == [0, 1, 0, 2]
    assert table["predicted"].tolist() == [0, 0, pd.NA, pd.NA]  # the choice of the second split failed
    assert table["predicted_oracle"].tolist() == [0, 0, 0, 2]  # one component: 1/2 and 1; two: 1 and 0
    assert set(table["train_size"]) == {2}


def test_a_classifier_chosen_on_the_test_samples_has_its_predictions_there():
    parts = np.array([0, 1]), np.array([2, 4])
    honest, on_test = (
        prediction_table(
            [SplitRecord({"repeat": 0, "fold": 0}, *parts, {"": rule([[0, 1]], [], position)})], FIT, Y, IDS
        )
        for position in (0, None)
    )
    assert honest["predicted"].tolist() == on_test["predicted_oracle"].tolist() == [0, 1]
    assert honest["predicted_oracle"].isna().all()
    assert on_test["predicted"].isna().all()
    keys = {**FIT, "neighbour": "", "selection": "oracle"}
    assert Predictions(on_test).outcomes(keys).values.tolist() == [[1.0, 0.0]]


def test_outcomes_are_by_split_and_sample(table):
    keys = {**FIT, "neighbour": "cosine"}
    found = Predictions(table).outcomes({**keys, "selection": "oracle"})
    assert found.index.tolist() == [(0, 0), (1, 0)]
    assert found.columns.tolist() == ["a", "c", "d", "e"]
    np.testing.assert_array_equal(found.values, [[np.nan, 1, 0, np.nan], [1, np.nan, np.nan, 1]])
    chosen = Predictions(table).outcomes({**keys, "selection": "inner_cv"})
    np.testing.assert_array_equal(chosen.values, [[1, 0]])
    assert Predictions(table).outcomes({**keys, "method": "other", "selection": "oracle"}) is None


def test_outcomes_without_some_splits(table):
    found = Predictions(table).outcomes({**FIT, "neighbour": "cosine", "selection": "oracle"})
    rest = without(found, found.index[:1])
    assert rest.index.tolist() == [(1, 0)]
    assert rest.columns.tolist() == ["a", "e"]
    np.testing.assert_array_equal(rest.values, [[1, 1]])
    assert without(found, found.index) is None


def test_common_outcomes_are_in_the_same_places(table):
    predictions = Predictions(table)
    keys = {**FIT, "neighbour": "cosine"}
    both = predictions.outcomes({**keys, "selection": "oracle"})
    chosen = predictions.outcomes({**keys, "selection": "inner_cv"})
    one, other = common(both, chosen)
    np.testing.assert_array_equal(one, [[1, 0]])
    np.testing.assert_array_equal(other, [[1, 0]])
    one, other = common(both, both)
    np.testing.assert_array_equal(one, both.values)


def test_confusion_counts_what_was_chosen(table):
    expected = np.zeros((3, 3))
    expected[0, 0] = expected[1, 0] = 1
    np.testing.assert_array_equal(Predictions(table).confusion({**FIT, "neighbour": "cosine"}, 3), expected)
    assert Predictions(table).confusion({**FIT, "method": "other", "neighbour": "cosine"}, 3).sum() == 0


def test_the_majority_value_is_of_a_methods_own_splits():
    y = np.array([0, 0, 0, 1, 1, 1, 1])
    ids = np.array(list("abcdefg"))
    tests = [np.array([0, 1, 2, 3]), np.array([3, 4, 5, 6])]
    splits = [split(k, [0, 4], test, rule([y[test]], [], 0)) for k, test in enumerate(tests)]
    frames = [prediction_table(own, FIT | {"method": name}, y, ids)
              for name, own in (("whole", splits), ("partly", splits[:1]))]  # fmt: skip
    for names in (("whole", "partly"), ("partly", "whole")):
        predictions = Predictions(typed(pd.concat(frames)))
        found = {name: predictions.majority_value(FIT | {"method": name, "neighbour": ""}) for name in names}
        assert found == {"whole": pytest.approx((0.25 + 1) / 2), "partly": 0.75}


def test_the_majority_is_of_samples_however_often_they_are_tested():
    y, ids = np.array([0, 0, 1]), np.array(list("abc"))
    tests = [np.array([0, 1, 2]), np.array([2]), np.array([2])]
    splits = [split(k, [0], test, rule([y[test]], [], 0)) for k, test in enumerate(tests)]
    predictions = Predictions(prediction_table(splits, FIT, y, ids))
    assert predictions.majority_value(FIT | {"neighbour": ""}) == pytest.approx((2 / 3 + 0 + 0) / 3)
