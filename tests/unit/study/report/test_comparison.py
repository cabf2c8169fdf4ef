"""Pairs, ranks and two studies side by side: differences, Friedman's, Nemenyi's and Wilcoxon's tests, common splits."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.unit.study.evaluation.test_summary import row
from tests.unit.study.report.conftest import bare_study

from mklearn.errors import ConfigError
from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.predictions import Predictions, typed
from mklearn.study.evaluation.summary import summarise
from mklearn.study.report.comparison import (
    StudyTables,
    compare,
    differences_table,
    pair_differences,
)
from mklearn.study.report.published import published_section
from mklearn.study.report.ranks import (
    cliques,
    critical_difference,
    friedman,
    least_apart,
    ranks,
    ranks_part,
    ranks_table,
    scores_of,
)
from mklearn.study.report.results import Results
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


def results_of(scores: pd.DataFrame, metric: str = "accuracy") -> Results:
    summary = summarise(scores, reference="svm", titles={"methods": TITLES})
    return Results(scores, summary, [], "svm", metric=metric_named(metric))


def table_of(comparison: Comparison, scores: pd.DataFrame) -> Table:
    results = results_of(scores)
    return differences_table(comparison, pair_differences(comparison, results, None), results)


def texts(table: Table) -> dict[str, list[str]]:
    return {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}


def test_wins_are_counted_on_common_sets_by_the_first_protocol_that_both_have():
    """Kills: a pair compared across protocols, the last protocol for the first, and a protocol that is not named."""
    found = pair_differences(WINS, results_of(score_table(MEANS)), None)
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
        pair_differences(Comparison(title="x", pairs=pairs), results_of(scores), None)
        for pairs in ([["fsvm", "svm"], ["fsvm", "rmm"]], [["fsvm", "svm"]])
    )
    np.testing.assert_allclose(one["p_holm"], one["p_value"])
    assert (one["p_value"] < 0.5).all()
    np.testing.assert_allclose(both["p_holm"], np.minimum(1, 2 * both["p_value"]))


def test_wilcoxons_test_over_data_sets_by_hand():
    """Seven data sets with gains of one sign: the smallest two-sided p is 2 / 2^7; of two tests Holm doubles it.

    On another data set all are level, but for rounding.
    """
    gains = [0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.02]
    means = {(f"set-{k}", "once", "svm"): 0.5 for k in range(7)}
    means |= {(f"set-{k}", "once", "fsvm"): 0.5 + gain for k, gain in enumerate(gains)}
    means |= {(f"set-{k}", "once", "rmm"): 0.5 - gain for k, gain in enumerate(gains)}
    means |= {("level", "once", method): 0.5 + 1e-15 * (method == "fsvm") for method in TITLES}
    comparison = Comparison(title="x", pairs=[["fsvm", "svm"], ["rmm", "svm"]])
    rows = texts(table_of(comparison, score_table(means)))
    assert rows["p of Wilcoxon's test, by Holm's method"] == ["0.02, 0.03", "0.02, 0.03"]
    assert rows["Above, level, below"] == ["7, 1, 0", "0, 1, 7"]
    several = score_table({(name, protocol, method): value for (name, _, method), value in means.items()
                           for protocol in ("one", "two")})  # fmt: skip
    assert "p of Wilcoxon's test, by Holm's method" not in texts(table_of(comparison, several))


def test_pairs_open_a_section_though_no_value_is_published():
    scores = score_table({("faces", "c50", method): 0.5 for method in TITLES})
    results = results_of(scores)
    pairs = [Comparison(title="Pairs", pairs=[["fsvm", "svm"]]), Comparison(title="No value", pairs=[["svm", "lda"]])]
    section, alerts = published_section(results, bare_study("x").model_copy(update={"comparisons": pairs}))
    assert (section.title, alerts) == ("Pairs of methods", [])
    ((table,),) = [part.tables for part in section.parts]
    assert (table.caption, "▲ and ▼ mark intervals that exclude 0" in table.note) == ("Pairs", True)


# --- two studies


def study(chance: int, *, methods: tuple[str, ...] = ("average", "kfd"), draw: int = 0, **config: Any) -> StudyTables:
    """Six splits of forty samples with two classes; a method is right by chance, the splits are those of ``draw``."""
    rng, splits = np.random.default_rng(chance), np.random.default_rng(draw)
    tested = [splits.permutation(40)[:20] for _ in range(6)]
    scores, predictions = [], []
    place = {"dataset": "d", "protocol": "random-p5", "train_size": 5, "fold": 0, "neighbour": "cosine"}
    for method in methods:
        for repeat, samples in enumerate(tested):
            right = rng.random(20) < 0.8
            frame = pd.DataFrame({"sample": [f"s{k:02}" for k in samples], "true": samples % 2})
            predicted = np.where(right, samples % 2, 1 - samples % 2)
            made = {"predicted_oracle": 0, "decision_value": np.nan}
            predictions.append(frame.assign(**place, method=method, repeat=repeat, predicted=predicted, **made))
            scores.append(row(method, repeat, right.mean(), selection="inner_cv", dimension=1, n_train=20, **place))
    table, predicted_table = pd.DataFrame(scores), typed(pd.concat(predictions, ignore_index=True))
    summary = summarise(table, Predictions(predicted_table), reference="average")
    config = {"evaluation": {"neighbours": ["cosine"], "metrics": ["accuracy"], "choose_by": "accuracy"}} | config
    return StudyTables(f"results/{chance}", table, predicted_table, summary, "average", config)


@pytest.fixture(scope="module")
def first() -> StudyTables:
    return study(1)


def cells(first: StudyTables, second: StudyTables, method: str) -> list[str]:
    (own,) = [line for line in compare(first, second).rows if line[1].text.startswith(method)]
    return [cell.text for cell in own[2:]]


def test_a_method_is_paired_with_itself_as_methods_of_one_study_are(first: StudyTables) -> None:
    second = study(2)
    one, other = (tables.scores[tables.scores["method"].eq("kfd")] for tables in (first, second))
    predictions = [
        tables.predictions[tables.predictions["method"].eq("kfd")].assign(method=name)
        for tables, name in ((first, "average"), (second, "kfd"))
    ]
    scores = pd.concat([one.assign(method="average"), other])
    expected = summarise(scores, Predictions(typed(pd.concat(predictions))), reference="average").iloc[1]
    low, high = (100 * expected[f"difference_{end}"] for end in ("low", "high"))
    renamed = replace(second, scores=second.scores.assign(study="t"))
    for again in (second, renamed):
        a, b, change = cells(first, again, "kfd")
        difference = f"{100 * expected['difference']:+.1f} [{low:+.1f},\u00a0{high:+.1f}]"
        assert change.replace("−", "-").startswith(difference)
        assert [a, b] == [f"{100 * own['value'].mean():.1f} ± {100 * own['value'].std():.1f}" for own in (one, other)]


def test_methods_compared_with_themselves_are_corrected_for_their_number() -> None:
    names = ("average", "kfd", "svc", "lda")
    both = study(3, methods=names), study(4, methods=names)
    alone = {name: [only(tables, name) for tables in both] for name in names}
    assert [name for name in names if set("▲▼") & set(cells(*alone[name], name)[2])]
    assert not [name for name in names if set("▲▼") & set(cells(*both, name)[2])]


def only(tables: StudyTables, method: str) -> StudyTables:
    frames = (tables.scores, tables.predictions)
    scores, predictions = (frame[frame["method"].eq(method)] for frame in frames)
    return replace(tables, scores=scores, predictions=predictions)


def test_a_metric_in_a_unit_of_its_own_is_no_percentage(first: StudyTables) -> None:
    one, other = (
        replace(
            tables,
            scores=tables.scores.assign(metric="rmse"),
            summary=tables.summary.assign(metric="rmse"),
            config={"evaluation": {"metrics": ["rmse"], "choose_by": "rmse"}},
        )
        for tables in (first, study(2))
    )
    assert [column.title for column in compare(one, other).columns[2:]] == ["A", "B", "B − A"]
    assert all(float(text.split()[0]) < 1 for text in cells(one, other, "kfd")[:2])


def test_other_splits_are_not_paired_and_a_failed_one_is_left_out(first: StudyTables) -> None:
    a, b, change = cells(first, study(2, draw=1), "kfd")
    assert "[" not in change
    assert float(change.replace("−", "-")) == pytest.approx(float(b.split()[0]) - float(a.split()[0]), abs=0.11)
    kept = ~(first.predictions["method"].eq("average") & first.predictions["repeat"].eq(0))
    assert "[" in cells(replace(first, predictions=first.predictions[kept]), study(2), "kfd")[2]


def test_methods_of_one_study_alone_are_not_compared_and_equal_ones_level(first: StudyTables) -> None:
    assert [cells(first, study(1), method)[2] for method in ("average", "kfd")] == ["0", "0"]
    second = study(2, methods=("average", "new"))
    assert cells(first, second, "new")[0] == cells(first, second, "new")[2] == "–"
    assert cells(first, second, "kfd")[1:] == ["–", "–"]


def test_studies_with_nothing_in_common_are_refused(first: StudyTables) -> None:
    other = replace(first, predictions=first.predictions.assign(dataset="e"), scores=first.scores.assign(dataset="e"))
    with pytest.raises(ConfigError, match=r"data sets need the same name.* has d; .* has e$"):
        compare(first, other)


def test_metric_reference_and_rule_of_a_study_are_those_that_it_was_run_with(first: StudyTables) -> None:
    """Kills: the first metric of the summary; the first method as reference; the metric that chose parameters."""
    numbers = pd.concat([first.summary.assign(metric=name) for name in ("r2", "rmse")])
    evaluation = {"metrics": ["rmse", "r2"], "choose_by": "r2", "neighbours": ["cosine", "euclidean"]}
    for final, named, metric in ((None, None, "rmse"), ({"metric": "r2"}, None, "r2"), (None, "r2", "r2")):
        config = {"evaluation": evaluation, "final": final}
        results = replace(first, summary=numbers, config=config, reference="kfd").results(named)
        assert (results.metric.kind, results.reference, results.neighbour) == (metric, "kfd", "euclidean")
    assert first.results().metric.kind == "accuracy"
    for act in (first.results, lambda name: compare(first, first, name)):
        with pytest.raises(ConfigError, match=r"no metric 'acuracy'\. Did you mean 'accuracy'\? Valid: accuracy"):
            act("acuracy")


# --- ranks

METHODS = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
AUC = np.array([
    [0.763, 0.768, 0.771, 0.798], [0.599, 0.591, 0.590, 0.569], [0.954, 0.971, 0.968, 0.967],
    [0.628, 0.661, 0.654, 0.657], [0.882, 0.888, 0.886, 0.898], [0.936, 0.931, 0.916, 0.931],
    [0.661, 0.668, 0.609, 0.685], [0.583, 0.583, 0.563, 0.625], [0.775, 0.838, 0.866, 0.875],
    [1.000, 1.000, 1.000, 1.000], [0.940, 0.962, 0.965, 0.962], [0.619, 0.666, 0.614, 0.669],
    [0.972, 0.981, 0.9751, 0.975], [0.957, 0.978, 0.946, 0.970],
])  # fmt: skip
"""Table 6 of Demsar 2006, with a digit that parts two of voting that print alike and have ranks of their own."""


def test_demsars_example() -> None:
    """Kills: ranks of the smallest as best, ties that are not shared, a critical difference of another N or k."""
    found = ranks(pd.DataFrame(AUC, columns=METHODS))
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)
    mean_ranks = found.mean()
    assert mean_ranks.to_dict() == pytest.approx(
        {"C4.5": 3.143, "C4.5+m": 2.000, "C4.5+cf": 2.893, "C4.5+m+cf": 1.964}, abs=5e-4
    )
    assert mean_ranks.is_monotonic_increasing
    assert friedman(found) == pytest.approx(stats.friedmanchisquare(*AUC.T))
    assert cliques(mean_ranks, least_apart(found)) == [(0, 3)], "3.143 - 1.964 is less than 1.25"
    assert friedman(ranks(pd.DataFrame(np.ones((5, 3))))) == (0.0, 1.0)


def test_groups_that_are_not_shown_to_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kills: groups inside others, and methods apart by more than the critical difference in one."""
    scores = np.tile([5.0, 4.0, 3.0, 2.0, 1.0], (12, 1))
    scores[::2, 1:3] = [3.0, 4.0]
    found = ranks(pd.DataFrame(scores, columns=list("abcde")))
    assert found.mean().tolist() == [1.0, 2.5, 2.5, 4.0, 5.0]
    assert critical_difference(5, 12) == pytest.approx(2.728 * np.sqrt(5 * 6 / (6 * 12)), abs=1e-3)
    assert cliques(found.mean(), least_apart(found)) == [(0, 2), (1, 3), (3, 4)]
    assert cliques([1.0, 2.0, 3.0], 1.0) == [], "methods differ from the critical difference on"
    monkeypatch.setattr("mklearn.study.report.ranks.least_apart", lambda ranked: 1.5)
    assert ranks_table(found).rows[1][-1].text == "worse"


def test_no_pair_differs_unless_friedmans_test_shows_a_difference() -> None:
    scores = np.random.default_rng(63).integers(0, 100, (5, 10)).astype(float)
    found = ranks(pd.DataFrame(scores, columns=list("abcdefghij")))
    assert friedman(found)[1] > 0.05
    assert np.ptp(found.mean()) > critical_difference(10, 5)
    assert cliques(found.mean(), least_apart(found)) == [(0, 9)]
    table = ranks_table(found)
    assert {row[-1].text for row in table.rows[1:]} == {"not shown"}


def means(n_sets: int, **methods: float) -> dict[tuple[str, str, str], float]:
    return {(f"set-{k}", "once", name): mean + k / 1000 for k in range(n_sets) for name, mean in methods.items()}


def test_data_sets_are_the_units_and_methods_that_lack_one_are_left_out() -> None:
    """Kills: protocols of one data set counted as several, a method with gaps ranked, small errors ranked last."""
    found = means(5, svm=0.7, fsvm=0.8, rmm=0.75, lda=0.9)
    del found["set-3", "once", "lda"]
    found |= {("set-0", "twice", name): 0.2 for name in ("svm", "fsvm", "rmm")}
    results = results_of(score_table(found))
    averaged = scores_of(results)
    assert averaged is not None
    assert averaged.iloc[0].to_dict() == pytest.approx({"SVM": 0.45, "F-SVM": 0.5, "RMM": 0.475})
    assert ranks(averaged).mean().to_dict() == {"F-SVM": 1.0, "RMM": 2.0, "SVM": 3.0}
    assert ranks_part(results)[0].text == "Left out, as they lack a value: lda."
    errors = results.summary_table.assign(metric="mae", mean=lambda rows: rows["mean"] * 1e-12)
    small = replace(results, metric=metric_named("mae"), summary_table=errors)
    for of_errors in (small, results_of(score_table(found).assign(metric="rmse"), "rmse")):
        smallest_first = scores_of(of_errors)
        assert smallest_first is not None
        assert ranks(smallest_first).mean().to_dict() == {"SVM": 1.0, "RMM": 2.0, "F-SVM": 3.0}
    for few in (means(4, svm=0.7, fsvm=0.8, rmm=0.75), means(5, svm=0.7, fsvm=0.8)):
        assert scores_of(results_of(score_table(few))) is None


def test_table_and_figure_of_ranks() -> None:
    (part,) = ranks_part(results_of(score_table(means(6, svm=0.7, fsvm=0.8, rmm=0.75))))
    (table,) = part.tables
    assert "Friedman's test: chi-squared 12.00 with 2 degrees of freedom, p = 0.002." in table.note
    assert [cell.text for cell in table.rows[0]] == ["F-SVM", "1.00", "6 of 6", "–"]
    assert [cell.text for cell in table.rows[2]] == ["SVM", "3.00", "0 of 6", "worse"]
    bars, dots = (layer["data"]["values"] for layer in part.figures[0].draw()["layer"])
    assert [(row["s"], row["x"]) for row in dots] == [("F-SVM", 1), ("RMM", 2), ("SVM", 3)]
    assert [(row["from"], row["to"]) for row in bars[1:]] == [(1, 2), (2, 3)]
