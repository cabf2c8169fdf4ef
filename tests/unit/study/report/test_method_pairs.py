"""Tables of pairs of methods: differences, ranked protocols, numbers of data sets, Wilcoxon's test, the page."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.unit.study.evaluation.test_summary import row
from tests.unit.study.report.conftest import report_spec

from mklearn.study.evaluation.summary import summarise
from mklearn.study.report.comparison import _signed_rank_p, differences_table, pair_differences, pair_tables
from mklearn.study.report.published import published_section
from mklearn.study.report.results import results_of
from mklearn.study.report.tables import Table
from mklearn.study.specs.table_specs import Comparison

TITLES = {"fsvm": "F-SVM", "svm": "SVM", "rmm": "RMM"}


def score_table(means: dict[tuple[str, str, str], float], splits: int = 5) -> pd.DataFrame:
    """Scores with these means by data set, protocol and method; splits differ by a point, alike in all methods."""
    rows = [
        row(method, 0, mean + 0.01 * (fold - (splits - 1) / 2), selection=selection, fold=fold, dataset=dataset,
            protocol=protocol, train_size=None, kernel_set="", neighbour="", n_train=90, n_test=10)
        for (dataset, protocol, method), mean in means.items()
        for fold in range(splits)
        for selection in ("dimension", "inner_cv")
    ]  # fmt: skip
    return pd.DataFrame(rows).astype({"dimension": "Int64", "train_size": "Int64"})


MEANS = {
    ("a", "folds", "fsvm"): 0.80, ("a", "folds", "svm"): 0.79, ("a", "once", "fsvm"): 0.70,
    ("a", "once", "svm"): 0.75, ("a", "once", "rmm"): 0.60, ("b", "folds", "fsvm"): 0.60,
    ("b", "once", "fsvm"): 0.50, ("b", "once", "svm"): 0.50, ("b", "once", "rmm"): 0.51,
    ("c", "once", "svm"): 0.90, ("c", "released", "fsvm"): 0.99, ("c", "released", "svm"): 0.10,
}  # fmt: skip
WINS = Comparison(
    title="Wins", pairs=[["fsvm", "svm"], ["fsvm", "rmm"]], protocols=["folds", "once"], published=[9, 7],
    published_of=11,
)  # fmt: skip


def table_of(comparison: Comparison, scores: pd.DataFrame) -> Table:
    summary = summarise(scores, reference="svm", titles={"methods": TITLES})
    results = results_of(scores, summary, [], "svm")
    return differences_table(comparison, pair_differences(comparison, scores, None), results)


def texts(table: Table) -> dict[str, list[str]]:
    return {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}


def test_wins_are_counted_on_common_sets_by_the_first_protocol_that_both_have():
    """Kills: a pair compared across protocols, the last protocol for the first, and a protocol that is not named."""
    found = pair_differences(WINS, score_table(MEANS), None)
    pairs = found.set_index(["pair", "dataset"])
    assert pairs["protocol"].to_dict() == {(0, "a"): "folds", (0, "b"): "once", (1, "a"): "once", (1, "b"): "once"}
    np.testing.assert_allclose(pairs["difference"], [0.01, 0.0, 0.1, -0.01], atol=1e-12)
    assert pairs.loc[(1, "a"), ["mean", "other_mean"]].tolist() == pytest.approx([0.7, 0.6])
    table = table_of(WINS, score_table(MEANS))
    assert [column.title for column in table.columns] == ["Setting", "F-SVM − SVM", "F-SVM − RMM"]
    rows = texts(table)
    assert list(rows)[:2] == ["a", "b"]
    assert rows["Above, level, below"] == ["1, 1, 0", "1, 0, 1"]
    assert rows["Above in the paper"] == ["9 of 11", "7 of 11"]
    assert rows["Mean difference"] == ["+0.50", "+4.50"]
    assert rows["Lowest difference"] == ["0.00", "−1.00"], "the worst case"
    assert table.rows[0][2].below == "70.0 against 60.0"
    assert "p of Wilcoxon's test, by Holm's method" not in rows, "of two data sets there is none"


def test_without_protocols_every_setting_has_a_row_and_a_method_that_lacks_one_a_dash():
    comparison = Comparison(title="All", pairs=[["fsvm", "svm"], ["rmm", "svm"]])
    rows = texts(table_of(comparison, score_table(MEANS)))
    assert list(rows)[:5] == ["a, folds", "a, once", "b, once", "c, released", "Above, level, below"]
    assert rows["a, folds"][1] == "–"
    assert rows["Above, level, below"] == ["2, 1, 1", "1, 0, 1"]


def test_holms_method_corrects_for_the_pairs_of_a_row():
    """The intervals of a difference that splits share are narrow: its p-value is doubled by a second pair."""
    means = {(name, "once", method): value for name in "ab" for method, value in
             {"fsvm": 0.8, "svm": 0.75, "rmm": 0.75}.items()}  # fmt: skip
    scores = score_table(means)
    noise = np.random.default_rng(0).normal(0, 0.02, len(scores))
    scores["value"] += np.where(scores["method"] == "fsvm", noise, 0)
    both, one = (
        pair_differences(Comparison(title="x", pairs=pairs), scores, None)
        for pairs in ([["fsvm", "svm"], ["fsvm", "rmm"]], [["fsvm", "svm"]])
    )
    np.testing.assert_allclose(one["p_holm"], one["p_value"])
    assert (one["p_value"] < 0.5).all()
    np.testing.assert_allclose(both["p_holm"], np.minimum(1, 2 * both["p_value"]))


def test_wilcoxons_test_over_data_sets_by_hand():
    """Seven data sets with gains of one sign: the smallest two-sided p is 2 / 2^7; of two tests Holm doubles it."""
    gains = [0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.02]
    means = {(f"set-{k}", "once", "svm"): 0.5 for k in range(7)}
    means |= {(f"set-{k}", "once", "fsvm"): 0.5 + gain for k, gain in enumerate(gains)}
    means |= {(f"set-{k}", "once", "rmm"): 0.5 - gain for k, gain in enumerate(gains)}
    comparison = Comparison(title="x", pairs=[["fsvm", "svm"], ["rmm", "svm"]])
    rows = texts(table_of(comparison, score_table(means)))
    assert rows["p of Wilcoxon's test, by Holm's method"] == ["0.02, 0.03", "0.02, 0.03"]
    assert rows["Above, level, below"] == ["7, 0, 0", "0, 0, 7"]
    several = score_table({(name, protocol, method): value for (name, _, method), value in means.items()
                           for protocol in ("one", "two")})  # fmt: skip
    assert "p of Wilcoxon's test, by Holm's method" not in texts(table_of(comparison, several))


@pytest.mark.parametrize("published", [{"published": [1]}, {"published": [1], "published_of": 3}])
def test_published_counts_are_one_for_each_pair_of_a_total(published):
    with pytest.raises(ValueError, match="one number for each of the pairs, and their total"):
        Comparison(title="x", pairs=[["fsvm", "svm"], ["fsvm", "rmm"]], **published)


def test_pairs_open_a_section_though_no_value_is_published():
    scores = score_table({("faces", "c50", method): 0.5 for method in TITLES})
    results = results_of(scores, summarise(scores, reference="svm"), [], "svm")
    tables = pair_tables([Comparison(title="Pairs", pairs=[["fsvm", "svm"]])], results, scores, None)
    section, alerts = published_section(results, report_spec("x", reference="svm"), tables)
    assert (section.title, alerts) == ("Pairs of methods", [])
    assert [list(part.tables) for part in section.parts] == [tables]
    assert "▲ and ▼ mark intervals that exclude 0" in tables[0].note


def test_differences_of_rounding_are_level_for_wilcoxons_test_too():
    """As for the numbers of data sets above it. Kills: ranks of differences of 1e-16."""
    gains = [0.02, 0.03, 0.04, 0.05, 0.06, 0.07]
    own = pd.DataFrame({"dataset": list("abcdefgh"), "difference": [*gains, 0.0, 0.0]})
    rounded = own.assign(difference=[*gains, 1e-16, 1e-16])
    assert _signed_rank_p(own) == _signed_rank_p(rounded)
