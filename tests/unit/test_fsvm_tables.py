"""The published tables of F-SVM say what their numbers say, and their numbers are those of the summary."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="module")
def script(import_from_docs):
    return import_from_docs("fsvm_tables")


def test_the_page_is_that_of_the_published_numbers(script):
    accuracy, difference, sets, bias = script.read_tables()
    assert (script.FOLDER / "tables.md").read_text(encoding="utf-8") == script.page(accuracy, difference, sets, bias)


def test_the_numbers_are_those_of_the_summary(script):
    accuracy, difference, sets, bias = script.read_tables()
    summary = pd.read_csv(script.FOLDER / "summary.csv")
    summary = summary[summary["metric"] == "accuracy"]
    optimistic = summary["protocol"] == script.OPTIMISTIC
    chosen = summary[np.where(optimistic, summary["selection"] == "oracle", summary["selection"] == "inner_cv")]
    by_cell = chosen.set_index(["dataset", "protocol", "method"])
    for row in accuracy.itertuples():
        assert row.accuracy == pytest.approx(
            100 * by_cell.loc[(row.dataset, row.protocol, row.method), "mean"], abs=1e-3
        )
    of_svm = difference[difference["reference"] == "svm"]
    for row in of_svm.itertuples():  # the study's own reference: the same intervals
        found = by_cell.loc[(row.dataset, row.protocol, row.method)]
        expected = [100 * found[name] for name in ("difference", "difference_low", "difference_high")]
        assert [row.difference, row.low, row.high] == pytest.approx(expected, abs=1e-3)
    means = difference.groupby(["reference", "method"])["difference"].mean()
    for row in sets.itertuples():
        assert row.mean == pytest.approx(means[row.reference, row.method], abs=1e-3)
    np.testing.assert_allclose(bias["bias"], bias["test"] - bias["inner"], atol=1e-3)
    assert set(bias["dataset"]) == {"breast", "german", "heart", "ionosphere", "pima", "sonar"}
    assert (bias["bias"] >= -1e-9).all(), "on each test set the best value of the same grid"


def test_wins_are_counted_on_common_sets_and_repeats(script):
    """By hand: five repeats where both have them, else the first; kills a count of one protocol against the other."""
    rows = [
        ("a", "folds", "fsvm", 80.0), ("a", "folds", "svm", 79.0), ("a", "once", "fsvm", 70.0),
        ("a", "once", "svm", 75.0), ("b", "folds", "fsvm", 60.0), ("b", "once", "fsvm", 50.0),
        ("b", "once", "svm", 50.0), ("c", "once", "svm", 90.0), ("c", "released", "fsvm", 99.0),
        ("c", "released", "svm", 1.0), ("b", "once", "rmm", 51.0),
    ]  # fmt: skip
    found = script.wins(pd.DataFrame(rows, columns=["dataset", "protocol", "method", "accuracy"]))
    found = found[found["method"] != "alternating"].set_index("other")
    assert found.loc["svm", ["sets", "above", "level", "below", "mean", "published"]].tolist() == [2, 1, 1, 0, 0.5, 9]
    assert found.loc["rmm", ["sets", "above", "level", "below", "published"]].tolist() == [1, 0, 0, 1, 7]
    assert found.loc["rbf-r-svm-plus-mu", "sets"] == 0


def test_wilcoxon_over_sets_by_hand(script):
    """Seven sets with gains of one sign: the smallest two-sided p is 2 / 2^7; of two tests Holm doubles it."""
    rows = [
        {"reference": "svm", "method": method, "difference": gain, "low": gain - 1, "high": gain + 1}
        for method, sign in (("fsvm", 1), ("semi", -1))
        for gain in sign * np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 2.0])
    ]
    found = script.over_sets(pd.DataFrame(rows)).set_index("method")
    assert found["p_value"].tolist() == pytest.approx([2 / 2**7] * 2)
    assert found["p_holm"].tolist() == pytest.approx([4 / 2**7] * 2)
    assert found.loc["fsvm", ["sets", "above", "below"]].tolist() == [7, 1, 0]
    assert found.loc["semi", "mean"] == pytest.approx(-4.1 / 7)
