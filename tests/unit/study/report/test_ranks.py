"""Ranks of methods over data sets: Friedman's test, Nemenyi's critical difference, the page."""

import numpy as np
import pytest
from scipy import stats
from tests.unit.study.report.test_comparison import score_table

from mklearn.study.evaluation.summary import summarise
from mklearn.study.report.ranks import critical_difference, ranks, ranks_of, ranks_part, ranks_table
from mklearn.study.report.results import results_of

METHODS = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
AUC = np.array([
    [0.763, 0.768, 0.771, 0.798], [0.599, 0.591, 0.590, 0.569], [0.954, 0.971, 0.968, 0.967],
    [0.628, 0.661, 0.654, 0.657], [0.882, 0.888, 0.886, 0.898], [0.936, 0.931, 0.916, 0.931],
    [0.661, 0.668, 0.609, 0.685], [0.583, 0.583, 0.563, 0.625], [0.775, 0.838, 0.866, 0.875],
    [1.000, 1.000, 1.000, 1.000], [0.940, 0.962, 0.965, 0.962], [0.619, 0.666, 0.614, 0.669],
    [0.972, 0.981, 0.9751, 0.975], [0.957, 0.978, 0.946, 0.970],
])  # fmt: skip
"""Table 6 of Demsar 2006, with a digit that parts two of voting that print alike and have ranks of their own."""


@pytest.mark.parametrize(
    ("n_methods", "printed"),
    [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (7, 2.949), (8, 3.031), (9, 3.102), (10, 3.164)],
)
def test_critical_values_are_those_of_demsars_table(n_methods: int, printed: float) -> None:
    ranked = np.sqrt(n_methods * (n_methods + 1) / 6)
    assert critical_difference(n_methods, 1) / ranked == pytest.approx(printed, abs=1e-3)


def test_demsars_example() -> None:
    """Kills: ranks of the smallest as best, ties that are not shared, a critical difference of another N or k."""
    found = ranks(METHODS, AUC)
    assert found.critical_difference == pytest.approx(1.25, abs=0.005)
    assert dict(zip(found.methods, found.mean_ranks, strict=True)) == pytest.approx(
        {"C4.5": 3.143, "C4.5+m": 2.000, "C4.5+cf": 2.893, "C4.5+m+cf": 1.964}, abs=5e-4
    )
    assert list(found.mean_ranks) == sorted(found.mean_ranks)
    assert (found.chi_squared, found.p_value) == pytest.approx(stats.friedmanchisquare(*AUC.T))
    np.testing.assert_array_equal(found.scores[:, found.methods.index("C4.5")], AUC[:, 0])
    assert found.cliques() == [(0, 3)], "3.143 - 1.964 is less than 1.25"
    level = ranks(["a", "b", "c"], np.ones((5, 3)))
    assert (level.chi_squared, level.p_value) == (0.0, 1.0)


def test_groups_that_are_not_shown_to_differ() -> None:
    """Kills: groups inside others, and methods apart by more than the critical difference in one."""
    scores = np.tile([5.0, 4.0, 3.0, 2.0, 1.0], (12, 1))
    scores[::2, 1:3] = [3.0, 4.0]
    found = ranks(list("abcde"), scores)
    assert found.mean_ranks.tolist() == [1.0, 2.5, 2.5, 4.0, 5.0]
    assert critical_difference(5, 12) == pytest.approx(2.728 * np.sqrt(5 * 6 / (6 * 12)), abs=1e-3)
    assert found.cliques() == [(0, 2), (1, 3), (3, 4)]


def test_no_pair_differs_unless_friedmans_test_shows_a_difference() -> None:
    found = ranks(list("abcdefghij"), np.random.default_rng(63).integers(0, 100, (5, 10)).astype(float))
    assert found.p_value > 0.05
    assert found.mean_ranks[-1] - found.mean_ranks[0] > found.critical_difference
    assert found.cliques() == [(0, 9)]
    table = ranks_table(found)
    assert {row[-1].text for row in table.rows[1:]} == {"not shown"}


def means(n_sets: int, **methods: float) -> dict[tuple[str, str, str], float]:
    return {(f"set-{k}", "once", name): mean + k / 1000 for k in range(n_sets) for name, mean in methods.items()}


def test_data_sets_are_the_units_and_methods_that_lack_one_are_left_out() -> None:
    """Kills: protocols of one data set counted as several, a method with gaps ranked, small errors ranked last."""
    found = means(5, svm=0.7, fsvm=0.8, rmm=0.75, lda=0.9)
    del found["set-3", "once", "lda"]
    found |= {("set-0", "twice", name): 0.2 for name in ("svm", "fsvm", "rmm")}
    scores = score_table(found)
    results = results_of(scores, summarise(scores, reference="svm"), [], "svm")
    ranked = ranks_of(results)
    assert ranked is not None
    assert ranked.methods == ["fsvm", "rmm", "svm"]
    assert ranked.mean_ranks.tolist() == [1.0, 2.0, 3.0]
    assert ranked.scores[0].tolist() == pytest.approx([0.5, 0.475, 0.45])
    assert ranks_part(results)[0].text == "Left out, as they lack a value: lda."
    errors = scores.assign(metric="rmse")
    ranked = ranks_of(results_of(errors, summarise(errors, reference="svm"), [], "svm", metric="rmse"))
    assert ranked is not None
    assert ranked.methods == ["svm", "rmm", "fsvm"]
    for few in (means(4, svm=0.7, fsvm=0.8, rmm=0.75), means(5, svm=0.7, fsvm=0.8)):
        scores = score_table(few)
        assert ranks_of(results_of(scores, summarise(scores, reference="svm"), [], "svm")) is None


def test_table_figure_and_file_of_ranks() -> None:
    scores = score_table(means(6, svm=0.7, fsvm=0.8, rmm=0.75))
    summary = summarise(scores, reference="svm", titles={"methods": {"fsvm": "F-SVM"}})
    (part,) = ranks_part(results_of(scores, summary, [], "svm"))
    (table,) = part.tables
    assert "Friedman's test: chi-squared 12.00 with 2 degrees of freedom, p = 0.002." in table.note
    assert [cell.text for cell in table.rows[0]] == ["F-SVM", "1.00", "6 of 6", "–"]
    assert [cell.text for cell in table.rows[2]] == ["svm", "3.00", "0 of 6", "worse"]
    assert part.files["ranks.csv"]["mean_rank"].tolist() == [1.0, 2.0, 3.0]
    bars, dots = (layer["data"]["values"] for layer in part.figures[0].draw()["layer"])
    assert [(row["s"], row["x"]) for row in dots] == [("F-SVM", 1), ("rmm", 2), ("svm", 3)]
    assert [(row["from"], row["to"]) for row in bars[1:]] == [(1, 2), (2, 3)]
