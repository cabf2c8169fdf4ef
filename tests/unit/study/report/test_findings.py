"""Findings and the answer in the terminal say what intervals show, and no more."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.unit.study.report.conftest import make_study

from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.summary import summarise
from mklearn.study.report.comparison import beside
from mklearn.study.report.findings import Findings, answer, findings, splits_of
from mklearn.study.report.result_tables import result_table
from mklearn.study.report.results import Results
from mklearn.study.report.wording import in_own_unit
from mklearn.study.specs.final_spec import BEST


def finding(*rows, learned=("mkl",), **more):
    return findings(made_of(*rows, learned=learned, **more))


def made_of(*rows, sizes=(5,), **more):
    """Results of rows (method, neighbour, mean, difference, low, high), the same at each training size."""
    return over_sizes(*([list(rows)] * len(sizes)), sizes=sizes, **more)


def over_sizes(
    *rows_of_size, sizes=None, learned=("mkl",), repeats=6, folds=1, holm=None, majority=math.nan, metric="accuracy",
    neighbour="cosine", **more,
):  # fmt: skip
    names = ["method", "neighbour", "mean", "difference", "difference_low", "difference_high"]
    frame = pd.concat(
        pd.DataFrame(rows, columns=names).assign(train_size=size)
        for size, rows in zip(sizes or range(len(rows_of_size)), rows_of_size, strict=True)
    ).assign(
        dataset="d", dataset_title="Data", protocol="p", kernel_set="k", selection="inner_cv", std=0.01, message="why",
        n_repeats=repeats * folds, p_holm=math.nan if holm is None else holm, majority=majority, published=math.nan,
        n_failed=0, status="ok", fit_seconds=1.0, time_ratio=1.0, value=0.7, metric=metric,
    )  # fmt: skip
    frame = frame.assign(ci_low=frame["mean"] - 0.05, ci_high=frame["mean"] + 0.05)
    frame["method_title"] = frame["method"].replace("average", "the average")
    units = pd.DataFrame({"repeat": np.repeat(range(repeats), folds), "fold": np.tile(range(folds), repeats)})
    units = units.assign(test_part=units["fold"])
    scores = frame.merge(units, how="cross")
    more |= {"learned": learned, "metric": metric_named(metric), "neighbour": neighbour}
    return Results(scores, frame, [], **more)


def texts_of(results):
    return " ".join(cell.text for row in result_table(results, results.settings[0]).rows for cell in row)


NAN = [math.nan] * 3
AVERAGE = ("average", "cosine", 0.7, 0.0, 0.0, 0.0)
WINNER = ("mkl", "cosine", 0.75, 0.05, 0.02, 0.08)
LOSER = ("pca", "cosine", 0.6, -0.1, -0.2, -0.01)
TIE = ("mkl", "cosine", 0.703, 0.003, -0.005, 0.011)
NEAR = ("mkl", "cosine", 0.703, 0.003, -0.005, 0.009)
BETTER = "Better than the average, in points of accuracy: "
BELOW = "the average is below the majority class, so that a gain over it says little."
WON = "mkl (in 2 of 2 settings, mean +5.0)"
RNA = ("rna", "cosine", 0.828, 0.128, -0.02, 0.27)
SVC = ("svc", "", 0.75, 0.05, -0.1, 0.2)
LOWER = ("mkl", "cosine", 0.65, -0.05, -0.08, -0.02)
HIGHER = ("pca", "cosine", 0.8, 0.1, 0.05, 0.2)
LEVEL = ("mkl", "cosine", 0.7, 0.0, -0.005, 0.005)
OPEN, NONE = "No method is shown to be better", "No method gains 1 point over"


@pytest.mark.parametrize(
    ("rows", "more", "start", "weights"),
    [
        ((AVERAGE, TIE), {}, OPEN, "are not shown to pay: at best mkl +0.3 [−0.5, +1.1]"),
        ((AVERAGE, TIE), {"matters": 0.02}, "No method gains 2 points", "did not pay: no gain of 2 points"),
        ((AVERAGE, NEAR), {}, NONE, "did not pay: no gain of 1 point, at best mkl +0.3 [−0.5, +0.9]"),
        ((AVERAGE, NEAR), {"matters": 0.005}, OPEN, "are not shown to pay"),
        ((AVERAGE, WINNER, LOSER), {}, f"{BETTER}mkl +5.0 [+2.0, +8.0].", "paid: mkl"),
        ((AVERAGE, LOSER), {}, f"{NONE} the average (highest: pca −10.0 [−20.0, −1.0]).", ""),
        ((AVERAGE, ("mkl", "cosine", 0.71, 0.01, 0.0, 0.02)), {}, OPEN, "are not shown"),
        ((AVERAGE, ("mkl", "cosine", 0.8, 0.1, *NAN[1:])), {}, "Fewer than 5 splits or test groups allow no", ""),
        ((("mkl", "cosine", *NAN, math.nan),), {}, "No method has a value of accuracy chosen by inner", ""),
        ((("svc", "", 0.9, *NAN),), {}, "There is no comparison with average: it has no accuracy beside", ""),
        ((("svc", "", 0.9, *NAN),), {"reference": ""}, "No method is the reference (evaluation.reference)", ""),
        ((AVERAGE,), {}, "the average is the only method: there is none to compare it with.", ""),
        ((AVERAGE, WINNER), {"majority": 0.69}, BETTER, "paid: mkl"),
        ((AVERAGE, LOSER), {"majority": 0.9}, f"{BELOW} No method is shown to be above it.", ""),
        ((AVERAGE, RNA, SVC, LOSER), {"majority": 0.72}, f"{BELOW} Above that class: rna.", ""),
        ((AVERAGE, LOWER, HIGHER), {"metric": "log_loss"}, "Better than the average: mkl −0.050 [−0.080", "paid"),
        ((AVERAGE, LEVEL), {"metric": "log_loss"}, OPEN, "are not shown"),  # in a unit of its own every gain matters
        ((AVERAGE, WINNER, LOSER), {"sizes": (5, 7)}, f"{BETTER}{WON}. Learned kernel weights paid: {WON}.", "paid"),
        ((AVERAGE, NEAR), {"sizes": (5, 7)}, f"{NONE} the average; highest: mkl (mean +0.3).", "did not pay"),
    ],
)
def test_headline(rows, more, start, weights):
    headline = finding(*rows, **more).headline
    assert headline.startswith(start)
    assert ("Learned kernel weights" in headline) == bool(weights)
    assert weights in headline


def test_headline_and_marks_hold_after_the_correction_for_many_comparisons():
    for holm, mark in ((0.04, True), (0.06, False)):
        results = made_of(AVERAGE, WINNER, holm=holm)
        assert ("▲" in texts_of(results)) is mark
        assert findings(results).headline.startswith(f"{BETTER}mkl") is mark
    assert "mkl +5.0 [+2.0, +8.0] (not after Holm's correction)." in findings(results).headline


def test_a_reference_below_the_majority_class_is_none():
    results = made_of(AVERAGE, WINNER, majority=0.72)
    assert "the average   70.0 ± 1.0  the majority class: 72.0" in answer(results, Findings(""))
    assert "▲" not in texts_of(results), "a difference to a method that is no reference has no mark"


def test_learned_weights_are_compared_with_the_average_whatever_the_reference():
    """Kills: weights that pay because any kernels beat a weak reference."""
    scores = make_study()["scores"]
    by_svc = Results(scores, summarise(scores, reference="svc"), [], "svc", ["mkldr"])
    other_reference = beside(by_svc, "average", ["mkldr", "sdp"], None)
    assert "sdp" in set(other_reference.summary["method"]), "failed fits without a selection count"
    usual, other = findings(replace(other_reference, reference="average")), findings(by_svc, weights=other_reference)
    assert other.headline.partition("Learned")[2] == usual.headline.partition("Learned")[2][:-1] + " over average."
    assert "over" not in usual.headline.partition("Learned")[2]
    without = findings(by_svc, weights=beside(by_svc, "", ["mkldr"], None))
    assert "Learned" not in without.headline, "no method averages the kernels"


def best_of(*methods, method=BEST):
    candidates = [SimpleNamespace(largest=(name, "p", 5)) for name in methods]
    return SimpleNamespace(dataset="d", method=method, given_splits=False, candidates=candidates)


def test_rules_are_not_mixed_and_the_model_is_what_won_by_the_rows_of_the_headline():
    other = ("mkl", "euclidean", 0.9, 0.2, 0.15, 0.25), ("average", "euclidean", 0.7, 0.0, 0.0, 0.0)
    assert finding(AVERAGE, TIE, *other, ("svc", "", 0.8, 0.1, 0.05, 0.15)).headline.startswith(
        f"{BETTER}svc +10.0 [+5.0, +15.0]. Learned kernel weights are not shown to pay: at best mkl"
    )
    worse = ("mkl", "euclidean", 0.6, -0.1, -0.15, -0.05), other[1]
    results = made_of(AVERAGE, WINNER, *worse, ("svc", "", 0.65, -0.05, -0.1, 0.0), neighbour="euclidean")
    found = findings(results, best_of("average", "mkl", "svc"))
    assert "(model.mklearn) is the average, chosen among 3 methods: mean accuracy 70.0 %, by 1-NN E" in found.model


def test_a_method_better_than_the_model_s_by_a_standard_error_is_named():
    """Kills: any higher mean; a verdict beyond the interval; a model chosen on the test samples of one given split."""
    final = best_of("average", method="average")
    for difference, words in {
        (0.05, 0.02, 0.08): "Better than it on the same splits, in points of accuracy: mkl +5.0 [+2.0, +8.0]. To make",
        (0.02, -0.01, 0.05): "Ahead of it, but not shown to be better, on the same splits, in points of accuracy: mkl",
        (0.02, -0.03, 0.07): "",
        (-0.05, -0.08, -0.02): "",
    }.items():
        rivals = made_of(AVERAGE, ("mkl", "cosine", 0.7, *difference), ("pca", "cosine", 0.9, *NAN))
        found = findings(rivals, final, rivals=rivals).model
        assert found.partition("cosine. ")[2].startswith(words)
        assert ("set final: {method: mkl}; only" in found) == bool(words)
    final.given_splits, once = True, made_of(AVERAGE, WINNER, repeats=1)
    assert "{method" not in findings(once, final, rivals=once).model


def test_a_headline_names_three_methods_or_settings_and_counts_the_others():
    rows = [(f"m{k}", "cosine", 0.75 + k / 100, 0.05 + k / 100, 0.02, 0.12) for k in range(6)]
    best = "m5 +10.0 [+2.0, +12.0], m4 +9.0 [+2.0, +12.0], m3 +8.0 [+2.0, +12.0] and 3 more."
    assert finding(AVERAGE, *rows, learned=()).headline == BETTER + best
    assert finding(AVERAGE, *rows, majority=0.701).headline.endswith("Above that class: m5, m4, m3 and 2 more.")
    unjudged = [AVERAGE, ("mkl", "cosine", 0.9, 0.2, math.nan, math.nan)]
    found = findings(over_sizes([AVERAGE, WINNER], *[unjudged] * 5, learned=()))
    assert found.headline.endswith("there: " + "".join(f"Data, training size {k}; " for k in (1, 2, 3)) + "and 2 more.")


def test_failed_splits_are_said_beside_the_mean_and_cost_a_method_the_model():
    results = made_of(AVERAGE, ("good", "cosine", 0.72, 0.02, -0.01, 0.05), ("lucky", "cosine", 0.9, 0.0, -0.1, 0.1))
    lucky = results.summary["method"].eq("lucky")
    results.summary.loc[lucky, ["n_failed", "n_repeats"]] = (5, 1)
    found = findings(results, best_of("good", "lucky"))
    assert "model.mklearn) is good, chosen among 2 methods: mean" in found.model
    assert answer(results, found).count("(5 of 6 splits failed)") == 1


def test_splits_are_named_as_they_were_made():
    made = [made_of(AVERAGE, repeats=repeats, folds=folds) for repeats, folds in ((1, 5), (3, 5), (10, 1), (1, 1))]
    made.append(replace(made[0], score_table=made[0].score_table.assign(test_part=0)))
    assert [splits_of(results.settings[0], results) for results in made] == [
        "by 5-fold cross-validation", "over 3 repeats of 5-fold cross-validation", "over 10 random splits",
        "on one split", "on one split with 5 models",
    ]  # fmt: skip


def test_several_settings_are_counted_and_one_that_is_not_judged_is_named():
    assert "is not excluded for mkl (mean +0.3)" in finding(AVERAGE, TIE, sizes=(5, 7)).headline
    unjudged = [AVERAGE, ("mkl", "cosine", 0.9, 0.2, math.nan, math.nan)]
    for rows in ([unjudged, [AVERAGE, WINNER]], [[AVERAGE, WINNER], unjudged]):
        found = findings(over_sizes(*rows, learned=()))
        assert found.headline == (
            f"{BETTER}mkl +5.0 [+2.0, +8.0]. Not judged, as no difference has an interval there: Data, "
            f"training size {rows.index(unjudged)}."
        )
    found = findings(over_sizes([AVERAGE, LOSER, TIE], [AVERAGE, LOSER], [AVERAGE, LOSER], learned=()))
    assert "is not excluded for mkl (+0.3 in one setting)" in found.headline


def test_one_setting_of_two_is_no_victory():
    for others in ((WINNER, TIE), (WINNER, WINNER, LOWER)):
        found = findings(over_sizes(*([AVERAGE, row] for row in others)))
        assert found.headline.startswith("Better than the average in some settings only: mkl (in ")
        assert "Learned kernel weights paid in some settings only: most often mkl (in " in found.headline
    both = findings(over_sizes([AVERAGE, NEAR], [AVERAGE, TIE]))
    assert "are not shown to pay" in both.headline, "one setting of two leaves a gain open"


def test_errors_of_several_units_have_no_mean():
    small = [
        ("average", "", 0.5, 0.0, 0.0, 0.0), ("few", "", 0.4, -0.1, -0.11, -0.09), ("many", "", 0.6, 0.1, 0.05, 0.2),
    ]  # fmt: skip
    large = [("average", "", 500, 0.0, 0.0, 0.0), ("few", "", 510, 10, -2, 30), ("many", "", 400, -100, -130, 20)]
    found = findings(over_sizes(small, large, metric="rmse"))
    assert found.headline == "Better than the average in some settings only: few (in 1 of 2 settings)."


def test_errors_have_intervals_and_digits_that_suit_their_unit():
    results = made_of(("average", "", 5.8, 0.0, 0.0, 0.0), ("mkl", "", 45.678, -1.6, -2.5, -0.7), metric="rmse")
    *_, title, first, second = answer(results, Findings("")).splitlines()
    assert title == "Data, training size 5, RMSE with its 95 % interval over 6 random splits, 2 methods:"
    assert first.split() == ["the", "average", "5.800", "[5.750,", "5.850]", "the", "reference"]
    assert second.split() == ["mkl", "45.68", "[45.63,", "45.73]", "−1.60", "[−2.50,", "−0.70]"]
    assert result_table(results, results.settings[0]).order == "ascending"
    assert in_own_unit(51234.6, -321.4) + in_own_unit(0.00123, math.nan) == ["51,235", "−321", "0.0012", "–"]
    assert in_own_unit(1.234e-9, 0) == ["1.23e−09", "0"]


def test_rows_without_a_value_come_last_though_r2_may_be_below_any_accuracy():
    results = made_of(("none", "", math.nan, *NAN), ("b", "", -1.5, -0.5, -0.7, -0.3), ("a", "", -3, 0, 0, 0))
    table = result_table(results, results.settings[0])
    assert [row[0].text for row in table.rows] == ["b", "a", "none"]
    assert ["strong" in row[1].kind for row in table.rows] == [True, False, False]


def test_the_answer_in_the_terminal():
    others = [(f"m{k}", "cosine", 0.5 - k / 100, -0.2, -0.3, -0.1) for k in range(4)]
    results = made_of(AVERAGE, WINNER, LOSER, *others, sizes=(5, 7))
    lines = answer(results, Findings("Better than the average: mkl.", "The model is mkl.")).splitlines()
    assert [line[2:15].strip() for line in lines if line.startswith("  ")] == ["mkl", "the average", "pca", "m0", "m1"]
    assert lines[0] == "Better than the average: mkl."
    assert lines[3].split() == ["mkl", "75.0", "±", "1.0", "+5.0", "[+2.0,", "+8.0]"]
    assert "training size 7" in lines[2]
    assert lines[-3:] == ["1 more setting on the page.", "", "The model is mkl."]
    nothing = made_of(("average", "cosine", math.nan, *NAN))
    assert answer(nothing, Findings("No method.")) == "No method.\n"
