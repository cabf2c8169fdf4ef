"""The reliability diagram: bins of probabilities, and whose are shown."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mklearn.study.evaluation.candidates import Candidate
from mklearn.study.evaluation.outputs import RulePredictions, SplitPredictions
from mklearn.study.evaluation.predictions import Predictions, prediction_table
from mklearn.study.evaluation.split import Fitted, rule_result
from mklearn.study.evaluation.sweeps import PredictionOutcome
from mklearn.study.report import frames
from mklearn.study.steps.report import _probabilities

KEYS = {"dataset": "s", "protocol": "p", "train_size": None, "method": "m", "neighbour": "euclidean"}


def test_bins_have_mean_share_and_number_and_one_is_in_the_last() -> None:
    rows = pd.DataFrame({"probability": [0.52, 0.58, 0.95, 1.0, 1.0], "right": [True, False, True, True, False]})
    bins = frames.calibration(rows)
    assert bins[["low", "high", "n"]].to_numpy().tolist() == [[0.5, 0.6, 2], [0.9, 1.0, 3]]
    np.testing.assert_allclose(bins[["probability", "right"]], [[0.55, 0.5], [2.95 / 3, 2 / 3]])


def test_predictions_keep_the_probability_and_whether_it_is_right() -> None:
    """In a table with another method that has none."""
    samples, y, labels = np.arange(3), np.array([0, 1, 0]), np.array([[0, 1, 1]])
    tables = []
    for method, model in (("m", {"predict_proba": np.array([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7]])}), ("other", {})):
        rule = RulePredictions(y, y, labels, [], 0, np.full(3, -1), np.full(3, np.nan), [model])
        splits = [SplitPredictions(0, 0, samples, samples, {"": rule})]
        tables.append(prediction_table(splits, KEYS | {"method": method}, y, samples.astype(str), ["log_loss"]))
    predicted = Predictions(pd.concat(tables, ignore_index=True))
    found = _probabilities(predicted.by_rule(KEYS))
    assert found is not None
    np.testing.assert_allclose(found["probability"], [0.9, 0.6, 0.7], rtol=1e-6)
    assert found["right"].tolist() == [True, True, False]
    assert _probabilities(predicted.by_rule(KEYS | {"method": "other"})) is None


class Contrary:
    """A machine with probabilities beside its labels, which are not of the largest, as an SVC may have them."""

    classes_ = np.array([0, 1, 2])

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return np.tile([0.5, 0.3, 0.2], (len(X), 1))


def test_the_probability_is_that_of_the_predicted_class() -> None:
    y, labels = np.array([0, 1, 2]), np.array([1, 2, 0])
    outcome = PredictionOutcome([Contrary()], [], [], 0.0, 0.0, [labels], [None], np.zeros((3, 1)))
    fitted = Fitted(outcome, np.zeros(0), [], 0.0, 0.0)
    rules = {"": rule_result(fitted, Candidate({}), -1, "", y, y).predictions}
    split, ids = SplitPredictions(0, 0, np.arange(3), np.arange(3), rules), np.array(["a", "b", "c"])
    table = prediction_table([split], KEYS, y, ids, ["accuracy", "log_loss"])
    np.testing.assert_allclose(table["probability"], [0.3, 0.2, 0.5], rtol=1e-6)
