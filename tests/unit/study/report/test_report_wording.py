"""Numbers, colours and findings are written as they should be read."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from skimage.color import deltaE_ciede2000, rgb2lab

from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.report import figures
from mklearn.study.report.answer import answer
from mklearn.study.report.findings import Findings, findings
from mklearn.study.report.frames import results_of
from mklearn.study.report.series import series_of
from mklearn.study.report.tables import result_table
from mklearn.study.report.theme import SCHEMES
from mklearn.study.specs.final_spec import FinalEntry
from mklearn.study.specs.table_specs import ReportFinal


def finding(*rows, learned=("mkl",), **more):
    """Findings of rows; see `made_of`."""
    return findings(made_of(*rows, learned=learned, **more))


def made_of(*rows, sizes=(5,), **more):
    """Results of rows (method, neighbour, mean, difference, low, high), the same at each training size."""
    return over_sizes(*([list(rows)] * len(sizes)), sizes=sizes, **more)


def over_sizes(*rows_of_size, sizes=None, learned=("mkl",), repeats=6, folds=1, holm=None, majority=math.nan, **more):
    """Results of rows for each training size."""
    names = ["method", "neighbour", "mean", "difference", "difference_low", "difference_high"]
    frame = pd.concat(
        pd.DataFrame(rows, columns=names).assign(train_size=size)
        for size, rows in zip(sizes or range(len(rows_of_size)), rows_of_size, strict=True)
    ).assign(
        dataset="d", dataset_title="Data", protocol="p", kernel_set="k", selection="inner_cv", std=0.01, message="why",
        n_repeats=repeats * folds, p_holm=math.nan if holm is None else holm, majority=majority, published=math.nan,
        n_failed=0, status="ok", fit_seconds=1.0, value=0.7, metric=more.get("metric", "accuracy"),
    )  # fmt: skip
    frame = frame.assign(ci_low=frame["mean"] - 0.05, ci_high=frame["mean"] + 0.05)
    frame["method_title"] = frame["method"].replace("average", "the average")
    units = pd.DataFrame({"repeat": np.repeat(range(repeats), folds), "fold": np.tile(range(folds), repeats)})
    scores = frame.merge(units, how="cross")
    return results_of(scores, frame, [], learned=learned, **more)


AVERAGE = ("average", "cosine", 0.7, 0.0, 0.0, 0.0)
WINNER = ("mkl", "cosine", 0.75, 0.05, 0.02, 0.08)
LOSER = ("pca", "cosine", 0.6, -0.1, -0.2, -0.01)
TIE = ("mkl", "cosine", 0.703, 0.003, -0.005, 0.011)


def test_a_tie():
    found = finding(AVERAGE, TIE)
    assert found.headline == (
        "No method is shown to be better than the average; a gain of 1 point or more is not excluded for mkl +0.3 "
        "[−0.5, +1.1]. Learned kernel weights are not shown to pay: at best mkl +0.3 [−0.5, +1.1]."
    )
    assert found.verdicts == ["Not shown to differ: mkl +0.3 [−0.5, +1.1]"]
    assert found.settings == [
        "Highest: mkl (1-NN cosine) with 70.3 ± 1.0 % over 6 random splits, +0.3 points from the average "
        "(95 % interval −0.5 to +1.1: not shown to differ)."
    ]


def test_weights_did_not_pay_only_where_gains_that_matter_are_excluded():
    near = ("mkl", "cosine", 0.703, 0.003, -0.005, 0.009)
    found = finding(AVERAGE, near)
    assert found.headline == (
        "No method gains 1 point over the average (highest: mkl +0.3 [−0.5, +0.9]). "
        "Learned kernel weights did not pay: no gain of 1 point, at best mkl +0.3 [−0.5, +0.9]."
    )
    assert found.verdicts == ["No gain of 1 point: mkl +0.3 [−0.5, +0.9]"]
    assert found.settings[0].endswith("(95 % interval −0.5 to +0.9: no gain of 1 point).")
    assert "did not pay: no gain of 2 points" in finding(AVERAGE, TIE, matters=0.02).headline
    assert "are not shown to pay" in finding(AVERAGE, near, matters=0.005).headline
    both = findings(over_sizes([AVERAGE, near], [AVERAGE, TIE]))
    assert "are not shown to pay" in both.headline, "one setting of two leaves a gain open"


def test_a_clear_winner_and_a_loser():
    found = finding(AVERAGE, WINNER, LOSER)
    assert found.headline == (
        "Better than the average: mkl +5.0 [+2.0, +8.0]. Learned kernel weights paid: mkl +5.0 [+2.0, +8.0]."
    )
    assert found.verdicts == ["Better: mkl +5.0 [+2.0, +8.0]", "Worse: pca −10.0 [−20.0, −1.0]"]
    assert found.settings == [
        "Highest: mkl (1-NN cosine) with 75.0 ± 1.0 % over 6 random splits, +5.0 points from the average "
        "(95 % interval +2.0 to +8.0)."
    ]


def test_the_answer_for_the_terminal():
    others = [(f"method-{k}", "cosine", 0.5 - k / 100, -0.2, math.nan, math.nan) for k in range(4)]
    euclidean = ("mkl", "euclidean", 0.9, 0.2, 0.1, 0.3)
    text = answer(
        made_of(AVERAGE, WINNER, euclidean, LOSER, *others, sizes=(5, 10)),
        Findings("headline " * 20, [], [], "The model is mkl."),
    )
    first, second, *rest = text.splitlines()
    assert max(len(first), len(second)) <= 100
    assert f"{first} {second}".split() == ["headline"] * 20
    assert rest == [
        "",
        "Data, training size 5, accuracy in % over 6 random splits, best 5 of 7 methods:",
        "  mkl           75.0 ± 1.0  +5.0 [+2.0, +8.0]",
        "  the average   70.0 ± 1.0  the reference",
        "  pca           60.0 ± 1.0  −10.0 [−20.0, −1.0]",
        "  method-0      50.0 ± 1.0  −20.0",
        "  method-1      49.0 ± 1.0  −20.0",
        "1 more setting on the page.",
        "",
        "The model is mkl.",
    ]
    five = made_of(AVERAGE, WINNER, LOSER, *others[:2])
    assert "over 6 random splits, 5 methods:" in answer(five, Findings("", [], [], ""))
    nothing = answer(
        made_of(("average", "cosine", math.nan, math.nan, math.nan, math.nan)), Findings("No method.", [], [])
    )
    assert nothing == "No method.\n"


def test_headline_and_marks_hold_after_the_correction_for_many_comparisons():
    for holm, mark in ((0.04, True), (0.06, False)):
        results = made_of(AVERAGE, WINNER, holm=holm)
        text = " ".join(cell.text for row in result_table(results, results.settings[0]).rows for cell in row)
        assert ("▲" in text) is mark
        assert findings(results).headline.startswith("Better than the average: mkl") is mark
    assert findings(results).headline.startswith(
        "No method is shown to be better than the average; a gain of 1 point or more is not excluded for mkl +5.0 "
        "[+2.0, +8.0]; not after Holm's correction."
    )


SHARE = {"majority": 0.72}
RNA = ("rna", "cosine", 0.828, 0.128, -0.02, 0.27)


def test_a_reference_below_the_majority_class_is_none():
    found = finding(AVERAGE, RNA, ("svc", "", 0.75, 0.05, -0.1, 0.2), LOSER, **SHARE)
    assert found.headline == (
        "the average is below the majority class (70.0 % against 72.0 %), and no reference. "
        "Above the majority class: rna 82.8 % [77.8, 87.8]."
    )
    assert found.verdicts == [
        "Above the majority class: rna 82.8 % [77.8, 87.8]",
        "Not shown to differ from the majority class: svc 75.0 % [70.0, 80.0] and the average 70.0 % [65.0, 75.0]",
        "Below the majority class: pca 60.0 % [55.0, 65.0]",
    ]
    assert found.settings[0].endswith("; the average is below the majority class, whose value is 72.0 %.")
    assert finding(AVERAGE, LOSER, majority=0.9).headline.endswith(
        "No method is shown to be above the majority class (highest: the average 70.0 % [65.0, 75.0])."
    )
    results = made_of(AVERAGE, WINNER, **SHARE)
    assert "the average   70.0 ± 1.0  the majority class: 72.0" in answer(results, found)
    text = " ".join(cell.text for row in result_table(results, results.settings[0]).rows for cell in row)
    assert "▲" not in text, "a difference to a method that is no reference has no mark"
    assert "Better than the average" in finding(AVERAGE, WINNER, majority=0.69).headline


def loss_of(*rows):
    results = made_of(*rows)
    metrics = results.all_metrics.assign(metric="log_loss")
    loss = results_of(results.scores, metrics, [], learned=["mkl"], metric="log_loss")
    return replace(loss, settings=results.settings)


def test_a_metric_whose_small_values_are_good():
    rows = AVERAGE, ("mkl", "cosine", 0.65, -0.05, -0.08, -0.02), ("pca", "cosine", 0.8, 0.1, 0.05, 0.2)
    found = findings(loss_of(*rows))
    assert found.headline == (
        "By log loss: Better than the average: mkl −0.050 [−0.080, −0.020]. "
        "Learned kernel weights paid: mkl −0.050 [−0.080, −0.020]."
    )
    assert found.verdicts[1] == "Worse: pca +0.100 [+0.050, +0.200]"
    assert found.settings[0].startswith(
        "Lowest log loss: mkl (1-NN cosine) with 0.650 over 6 random splits, −0.050 from"
    )
    tie = loss_of(AVERAGE, ("mkl", "cosine", 0.7, 0.0, -0.005, 0.005))
    assert findings(tie).headline.startswith(
        "By log loss: No method is shown to be better than the average; a gain is not excluded for mkl 0.000 [−0.005,"
    ), "in a unit of its own every gain matters"


def test_the_model_is_what_won_by_the_rows_of_the_headline():
    entries = [FinalEntry(method=name, protocol="p", train_size=5) for name in ("average", "mkl", "svc")]
    other = ("mkl", "euclidean", 0.6, -0.1, -0.15, -0.05), ("average", "euclidean", 0.7, 0.0, 0.0, 0.0)
    results = made_of(AVERAGE, WINNER, *other, ("svc", "", 0.65, -0.05, -0.1, 0.0), neighbour="euclidean")
    found = findings(results, ReportFinal(dataset="d", chosen=True, entries=entries))
    assert found.model == (
        "The model of this study (model.mklearn) is the average, which has the highest mean accuracy of the 3 that can "
        "be a model: 70.0 %, by 1-NN Euclidean."
    )
    assert found.settings[0].startswith("Highest: the average (1-NN Euclidean)"), "the same rule"
    assert "Worse: mkl" in " ".join(found.verdicts)


def test_a_touching_interval_is_no_difference_and_a_loser_no_winner():
    assert "No method is shown to be better" in finding(AVERAGE, ("mkl", "cosine", 0.71, 0.01, 0.0, 0.02)).headline
    found = finding(AVERAGE, LOSER, learned=())
    assert found.headline == "No method gains 1 point over the average (highest: pca −10.0 [−20.0, −1.0])."
    assert found.settings[0].endswith("the reference itself.")


def test_two_repeats_have_no_verdict():
    nan = math.nan
    found = finding(AVERAGE, ("mkl", "cosine", 0.8, 0.1, nan, nan), repeats=2)
    assert found.headline == (
        "Fewer than 5 splits allow no verdict: the numbers below show what happened, not whether any method differs "
        "from the average."
    )
    assert found.settings == [
        "Highest: mkl (1-NN cosine) with 80.0 ± 1.0 % over 2 random splits, +10.0 points from the average; "
        "fewer than 5 splits have no interval."
    ]


def test_a_failed_selection_is_said():
    nan = math.nan
    found = finding(AVERAGE, ("mkl", "cosine", nan, nan, nan, nan))
    assert found.settings == [
        "Highest: the average (1-NN cosine) with 70.0 ± 1.0 % over 6 random splits, the reference itself. "
        "No value by inner cross-validation: mkl (why)."
    ]
    assert "No method has an accuracy" in finding(("mkl", "cosine", nan, nan, nan, nan)).headline
    assert "no comparison" in finding(("svc", "", 0.9, nan, nan, nan)).headline
    assert "no value under the same rule" in finding(AVERAGE, ("svc", "", 0.9, nan, nan, nan)).settings[0]


@pytest.mark.parametrize(
    ("repeats", "folds", "words"),
    [
        (1, 5, "by five-fold cross-validation"),
        (3, 5, "over 3 repeats of five-fold cross-validation"),
        (10, 1, "over 10 random splits"),
        (1, 1, "on one split"),
    ],
)
def test_splits_are_named_as_they_were_made(repeats, folds, words):
    assert f" % {words}, the reference itself." in finding(AVERAGE, repeats=repeats, folds=folds).settings[0]


def test_rules_are_not_mixed():
    """The best by the second rule is in the table, and no headline is made of it; a classifier stands beside all."""
    other = ("mkl", "euclidean", 0.9, 0.2, 0.15, 0.25), ("average", "euclidean", 0.7, 0.0, 0.0, 0.0)
    found = finding(AVERAGE, TIE, *other, ("svc", "", 0.8, 0.1, 0.05, 0.15))
    assert found.headline.startswith(
        "Better than the average: svc +10.0 [+5.0, +15.0]. Learned kernel weights are not shown to pay: at best mkl"
    )
    assert found.settings[0].startswith("Highest: svc with 80.0")


def test_several_settings_are_counted():
    found = finding(AVERAGE, WINNER, LOSER, sizes=(5, 7))
    assert found.headline == (
        "Better than the average: mkl (better in 2 of 2 settings, +5.0 on average). "
        "Learned kernel weights paid: mkl (better in 2 of 2 settings, +5.0 on average)."
    )
    assert found.verdicts == [
        "Better: mkl (better in 2 of 2 settings, +5.0 on average)",
        "Worse: pca (worse in 2 of 2 settings, −10.0 on average)",
    ]
    tie = finding(AVERAGE, TIE, sizes=(5, 7))
    assert tie.headline.startswith(
        "No method is shown to be better than the average; a gain of 1 point or more is not excluded for mkl (+0.3 on "
    )
    assert tie.verdicts == ["Not shown to differ: mkl (+0.3 on average)"]


def test_a_setting_that_is_not_judged_is_named_and_one_value_is_no_average():
    """As three sites, each left out in turn, have no interval: kills their absence from the headline in silence."""
    unjudged = [AVERAGE, ("mkl", "cosine", 0.9, 0.2, math.nan, math.nan)]
    for rows in ([unjudged, [AVERAGE, WINNER]], [[AVERAGE, WINNER], unjudged]):
        found = findings(over_sizes(*rows, learned=()))
        place = rows.index(unjudged)
        assert found.headline.startswith("Better than the average: mkl +5.0 [+2.0, +8.0].")
        assert found.headline.endswith(f"has an interval there: Data, training size {place}.")
        assert "average)" not in found.headline
        assert found.verdicts == ["Better: mkl +5.0 [+2.0, +8.0]"]
    found = findings(over_sizes([AVERAGE, WINNER, LOSER], [AVERAGE, WINNER]))
    assert "Worse: pca (worse in 1 of 1 setting, −10.0 in one setting)" in found.verdicts


def test_one_setting_of_two_is_no_victory():
    """Better in half of the settings, and better in most but worse in one: neither beats the reference."""
    worse = ("mkl", "cosine", 0.65, -0.05, -0.08, -0.02)
    for others, verdict in {
        (WINNER, TIE): "better in some settings",
        (WINNER, WINNER, worse): "better in some settings and worse in others",
    }.items():
        found = findings(over_sizes(*([AVERAGE, row] for row in others)))
        assert found.headline.startswith("Better than the average in some settings only: mkl (better in ")
        assert "Learned kernel weights paid in some settings only: most often mkl (better in " in found.headline
        assert [text.split(":")[0] for text in found.verdicts] == [verdict.capitalize()]


def test_the_headline_names_every_method_that_is_better():
    winners = [(name, "cosine", 0.75, 0.05, 0.02, 0.08) for name in "abcde"]
    found = finding(AVERAGE, *winners, learned=())
    each = [f"{name} +5.0 [+2.0, +8.0]" for name in "abcde"]
    assert found.headline == f"Better than the average: {', '.join(each[:3])}, d and e."
    assert found.verdicts == [f"Better: {', '.join(each[:4])} and {each[4]}"]


# Machado, Oliveira and Fernandes (2009), full severity, on linear RGB.
DEFICIENCIES = {
    "none": np.eye(3),
    "protanopia": np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
    "deuteranopia": np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
    "tritanopia": np.array([[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]]),
}


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_colours_stay_apart(scheme, deficiency):
    codes = [scheme.neutral, *scheme.colours]
    rgb = np.array([[int(code[i : i + 2], 16) / 255 for i in (1, 3, 5)] for code in codes])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ DEFICIENCIES[deficiency].T, 0, 1)
    lab = rgb2lab(np.where(seen <= 0.0031308, 12.92 * seen, 1.055 * seen ** (1 / 2.4) - 0.055)[None])[0]
    distance = deltaE_ciede2000(lab[:, None], lab[None])
    assert distance[np.triu_indices(len(codes), 1)].min() > (15 if deficiency == "none" else 10)


def test_series_are_unique_and_the_reference_is_neutral():
    frame = pd.DataFrame(
        {"dataset": "d", "method": ["kfd", "kfd", "average", "other"], "kernel_set": ["gb", "phog", "all", "all"],
         "method_title": ["KFD", "KFD", "Average", "Average"]}
    )  # fmt: skip
    series = series_of(frame, "average")
    assert series.labels == ("Average", "KFD · gb", "KFD · phog", "Average (other)")
    assert series.colours(SCHEMES[0])[0] == SCHEMES[0].neutral
    elsewhere = pd.concat([frame, frame[2:].assign(dataset="e", kernel_set="other")])
    assert series_of(elsewhere, "average").labels == series.labels, "one name on data sets with other kernels"
    numbers = [str(i) for i in range(30)]
    many = series_of(pd.DataFrame({"dataset": "d", "method": numbers, "kernel_set": "k", "method_title": numbers}), "0")
    looks = set(zip(many.colours(SCHEMES[0]), map(tuple, many.dashes()), strict=True))
    assert len(looks) == 30


def test_failed_splits_are_said_beside_the_mean_and_cost_a_method_the_model():
    results = made_of(AVERAGE, ("good", "cosine", 0.72, 0.02, -0.01, 0.05), ("lucky", "cosine", 0.9, 0.0, -0.1, 0.1))
    lucky = results.all_metrics["method"].eq("lucky")
    results.all_metrics.loc[lucky, ["n_failed", "n_repeats"]] = (5, 1)
    final = ReportFinal(
        dataset="d", chosen=True,
        entries=[FinalEntry(protocol="p", train_size=5, method=name) for name in ("good", "lucky")],
    )  # fmt: skip
    found = findings(results, final)
    assert "lucky (1-NN cosine) with 90.0 ± 1.0 % over 6 random splits (5 of 6 splits failed)" in found.settings[0]
    assert "model.mklearn) is good, which has the highest mean accuracy of the 1 without a failed split" in found.model
    assert "lucky" in (text := answer(results, found))
    assert text.count("(5 of 6 splits failed)") == 1


def test_without_a_reference_none_is_spoken_of():
    rows = [(name, "cosine", mean, math.nan, math.nan, math.nan) for name, mean in (("a", 0.7), ("b", 0.8))]
    found = finding(*rows, reference="")
    assert found.headline.startswith("No method is the reference")
    assert found.settings == ["Highest: b (1-NN cosine) with 80.0 ± 1.0 % over 6 random splits."]
    assert finding(AVERAGE).headline == "the average is the only method: there is none to compare it with."


def test_errors_of_several_units_have_no_mean():
    """Kills: an order by the mean over settings, in which the target with the largest numbers decides."""
    small = [
        ("average", "", 0.5, 0.0, 0.0, 0.0), ("few", "", 0.4, -0.1, -0.11, -0.09), ("many", "", 0.6, 0.1, 0.05, 0.2),
    ]  # fmt: skip
    large = [("average", "", 500, 0.0, 0.0, 0.0), ("few", "", 510, 10, -2, 30), ("many", "", 400, -100, -130, 20)]
    results = over_sizes(small, large, metric="rmse", score="rmse")
    found = findings(results)
    assert found.headline == "Better than the average in some settings only: few (better in 1 of 2 settings)."
    assert found.verdicts == [
        "Better in some settings: few (better in 1 of 2 settings)", "Worse: many (worse in 1 of 2 settings)",
    ]  # fmt: skip


def test_rows_without_a_value_come_last_though_r2_may_be_below_any_accuracy():
    results = made_of(
        ("none", "", math.nan, *[math.nan] * 3), ("b", "", -1.5, -0.5, -0.7, -0.3), ("a", "", -3, 0, 0, 0)
    )
    table = result_table(results, results.settings[0])
    assert [row[0].text for row in table.rows] == ["b", "a", "none"]
    assert ["strong" in row[1].kind for row in table.rows] == [True, False, False]


def test_a_band_holds_its_mean_though_r2_is_negative():
    curve = pd.DataFrame({"label": ["a"] * 2, "train_size": [5, 10], "mean": [-0.5, 0.02], "std": [0.1, 0.1]})
    chart = figures.lines(
        curve,
        series_of(made_of(AVERAGE).summary, "average"),
        "train_size",
        {"title": "n"},
        title="",
        metric=metric_named("r2"),
    )
    rows = chart["data"]["values"]
    assert [row["low"] for row in rows] == pytest.approx([-60, -8])
    assert all(row["low"] < row["y"] < row["high"] for row in rows)
