"""What accuracy costs: training times beside accuracies, the sentence about the fastest methods, and the figure."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.unit.study.report.conftest import read, report_spec

from mklearn.study.report.accuracy_for_time import accuracy_for_time, labels, sentence
from mklearn.study.report.figure_names import FigureNames
from mklearn.study.report.figures_of_times import accuracy_by_time
from mklearn.study.report.frames import Results, results_of, training_times
from mklearn.study.report.gallery import panels
from mklearn.study.report.tables import result_table
from mklearn.study.report.wording import times_as_long

pytestmark = pytest.mark.full

NAN = math.nan
SPLITS = 6


def made_of(*rows: tuple[Any, ...], **more: Any) -> Results:
    """Results of rows (method, neighbour, mean, difference, low, high, seconds), the same seconds in each split."""
    names = ["method", "neighbour", "mean", "difference", "difference_low", "difference_high", "fit_seconds"]
    frame = pd.DataFrame(rows, columns=names).assign(
        dataset="d", dataset_title="Data", protocol="p", train_size=5, kernel_set="k", selection="inner_cv", std=0.01,
        metric="accuracy", message="", status="ok", n_repeats=SPLITS, n_failed=0, p_holm=NAN, dimension=None,
        published=NAN,
    )  # fmt: skip
    frame = frame.assign(ci_low=frame["mean"] - 0.01, ci_high=frame["mean"] + 0.01, **more)
    frame["method_title"] = frame["method"].replace("average", "the average")
    splits = frame.merge(pd.DataFrame({"repeat": range(SPLITS), "fold": 0}), how="cross").assign(value=frame["mean"][0])
    splits.loc[splits["mean"].isna(), "value"] = NAN
    return results_of(splits, frame.drop(columns="fit_seconds"), [])


AVERAGE = ("average", "cosine", 0.7, 0.0, 0.0, 0.0, 2.0)
RIDGE = ("ridge", "", 0.699, -0.001, -0.004, 0.002, 0.08)
SVC = ("svc", "", 0.68, -0.02, -0.03, -0.01, 0.04)
WINNER = ("mkl", "cosine", 0.75, 0.05, 0.02, 0.08, 40.0)
TIE = ("mkl", "cosine", 0.703, 0.003, -0.005, 0.011, 24.0)
SLOW = ("slow", "cosine", 0.699, -0.001, -0.004, 0.002, 2.4)


def said(*rows: tuple[Any, ...], **more: Any) -> str:
    results = made_of(*rows, **more)
    return sentence(accuracy_for_time(results), results)


def test_the_fastest_that_is_not_distinguishable_is_named_with_what_the_highest_takes() -> None:
    assert said(AVERAGE, RIDGE, SVC, TIE) == (
        "The fastest method not shown to differ from the average is ridge (−0.1 [−0.4, +0.2] points), in 4 % of the "
        "reference's training time; the highest, mkl (+0.3 [−0.5, +1.1] points), takes 12 times the reference's."
    )
    assert said(AVERAGE, SVC, (*TIE[:-1], 1.94)) == (
        "The fastest method not shown to differ from the average is mkl (+0.3 [−0.5, +1.1] points), in about the "
        "reference's training time."
    )
    assert said(AVERAGE, SVC, (*RIDGE[:-1], 0.01)).endswith(", in 0.5 % of the reference's training time.")


def test_the_fastest_that_is_better_is_named_with_a_faster_one_that_is_not_distinguishable() -> None:
    better = "The fastest method better than the average is mkl (+5.0 [+2.0, +8.0] points), in 20 times the reference's"
    assert said(AVERAGE, RIDGE, SVC, WINNER) == (
        f"{better} training time; ridge (−0.1 [−0.4, +0.2] points), not shown to differ from the reference, takes 4 % "
        "of the reference's."
    )
    assert said(AVERAGE, SVC, WINNER, SLOW) == f"{better} training time."
    higher = ("mkl-2", "cosine", 0.76, 0.06, 0.01, 0.09, 100.0)
    assert said(AVERAGE, SVC, WINNER, higher) == (
        f"{better} training time; the highest, mkl-2 (+6.0 [+1.0, +9.0] points), takes 50 times the reference's."
    )


def test_nothing_is_said_beyond_the_intervals() -> None:
    """Only worse methods, no interval, no reference, a reference without a time, and two methods."""
    assert said(AVERAGE, SVC, (*SVC[:1], "cosine", *SVC[2:])) == ""
    without = [(*row[:4], NAN, NAN, row[6]) for row in (RIDGE, SVC, TIE)]
    assert said(AVERAGE, *without) == ""
    assert said(RIDGE, SVC, TIE) == ""
    assert said((*AVERAGE[:-1], NAN), RIDGE, SVC, TIE) == ""
    assert said(AVERAGE, RIDGE) == ""
    every = "Every method not shown to differ from the average takes more training time."
    assert said(AVERAGE, SLOW, SVC) == every
    nominal = said(AVERAGE, RIDGE, WINNER, p_holm=0.2)
    assert nominal.startswith("The fastest method not shown to differ from the average is ridge")


def test_rules_are_not_mixed() -> None:
    """Under the second rule the fastest method is another one; nothing is said of it."""
    other = [("average", "euclidean", 0.7, 0.0, 0.0, 0.0, 1.0), ("quick", "euclidean", 0.7, 0.0, -0.01, 0.01, 0.001)]
    assert said(AVERAGE, RIDGE, SVC, *other) == said(AVERAGE, RIDGE, SVC)


def score(method: str, repeat: int, seconds: float, neighbour: str = "cosine", **more: Any) -> dict[str, Any]:
    return {
        "dataset": "d", "protocol": "p", "train_size": None, "repeat": repeat, "fold": 0, "method": method,
        "label": method, "kernel_set": "k", "neighbour": neighbour, "selection": "inner_cv", "dimension": 1,
        "value": 0.5, "status": "ok", "fit_seconds": seconds,
    } | more  # fmt: skip


def test_times_are_divided_by_the_reference_s_on_the_same_split_under_the_same_rule() -> None:
    euclidean = [score("average", 0, 5.0, "euclidean"), score("mkl", 0, 30.0, "euclidean")]
    scores = pd.DataFrame([
        *euclidean, score("average", 0, 2.0), score("average", 1, 4.0), score("mkl", 0, 20.0), score("mkl", 1, 20.0),
        score("mkl", 2, 20.0), score("mkl", 1, 99.0, selection="iteration"), score("ridge", 0, 1.0, ""),
        score("ridge", 1, 0.0, ""), score("mkl", 1, 77.0, status="failed", value=None),
        score("oracle", 1, 8.0, selection="dimension"), score("oracle", 1, 8.0, selection="dimension", dimension=2),
    ]).astype({"train_size": "Int64"})  # fmt: skip
    times = training_times(scores, "average").set_index(["method", "neighbour", "repeat"])
    assert len(times) == 10, "one row for each fit and rule"
    for place, (seconds, ratio) in {
        ("mkl", "cosine", 0): (20.0, 10.0), ("mkl", "cosine", 1): (20.0, 5.0), ("mkl", "cosine", 2): (20.0, NAN),
        ("mkl", "euclidean", 0): (30.0, 6.0), ("ridge", "", 0): (1.0, 0.5), ("ridge", "", 1): (1e-4, 2.5e-5),
        ("oracle", "cosine", 1): (8.0, 2.0), ("average", "euclidean", 0): (5.0, 1.0),
    }.items():  # fmt: skip
        assert times.loc[place, ["seconds", "ratio"]].tolist() == pytest.approx([seconds, ratio], nan_ok=True), place


def test_the_result_table_shows_the_ratio_beside_the_difference() -> None:
    results = made_of(AVERAGE, RIDGE, TIE, (*WINNER[:2], NAN, NAN, NAN, NAN, NAN))
    table = result_table(results, results.settings[0])
    heads = [column.title for column in table.columns]
    place = heads.index("Time, × reference")
    assert heads[place - 1].startswith("Difference")
    assert {row[0].text: (row[place].text, row[heads.index("Fit, s")].text) for row in table.rows} == {
        "mkl": ("12 ×", "24"), "the average": ("1 ×", "2.0"), "ridge": ("0.04 ×", "0.08"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("ratio", "text"), [(NAN, "–"), (0.0371, "0.037 ×"), (1, "1 ×"), (12.4, "12 ×"), (12345, "12,000 ×")]
)
def test_a_ratio_has_two_digits(ratio: float, text: str) -> None:
    assert times_as_long(ratio) == text


def test_the_figure_has_a_point_for_each_method_and_names_the_reference_the_plain_and_the_best() -> None:
    results = made_of(AVERAGE, RIDGE, SVC, TIE, SLOW, ("average", "euclidean", 0.71, 0, 0, 0, 1.0))
    rows = accuracy_for_time(results)
    named = labels(rows, results, ["svc", "ridge"])
    assert set(named) == {"the average", "ridge", "svc", "mkl"}
    assert "slow" in labels(rows[rows["label"].isin(["the average", "slow", "svc"])], results, [])
    chart = accuracy_by_time(rows, results.series, labels=named, title="t")
    points = {row["s"]: row for row in chart["data"]["values"]}
    assert len(points) == len(chart["data"]["values"]) == 5
    assert points["mkl"] == {"s": "mkl", "x": 24.0, "y": 70.3, "low": 69.3, "high": 71.3, "d": 0.3, "r": 12.0}
    texts = [layer for layer in chart["layer"] if layer["mark"].get("type") == "text"]
    lines = [layer["encoding"]["y"]["value"] for layer in texts]
    assert lines == sorted(set(lines)), "each name has a line of its own"
    assert [layer["data"]["values"][0]["s"] for layer in texts] == ["svc", "ridge", "mkl", "the average"]
    assert max(lines) < min(chart["layer"][0]["encoding"]["y"]["scale"]["range"]), "names stand above the plot"


def test_two_methods_have_no_figure() -> None:
    def slugs(*rows: tuple[Any, ...]) -> list[str]:
        none = pd.DataFrame(columns=["z", "dataset_title", "metric"])
        results = made_of(*rows)
        costs = accuracy_for_time(results)
        found = panels(results, report_spec("demo"), none, costs, [], [], FigureNames())
        return [panel.slug for panel in found if panel.section == "accuracy-for-time" and not panel.problem]

    assert slugs(AVERAGE, RIDGE) == []
    assert slugs(AVERAGE, RIDGE, SVC) == ["accuracy-for-time-data-training-size-5"]


def test_the_page_has_the_sentence_below_both_figures(study: dict[str, Any], report: Path) -> None:
    html, text = read(report)
    results = results_of(study["scores"], study["summary"], study["fits"])
    expected = sentence(accuracy_for_time(results), results)
    assert "uniform average" in expected
    end = html.index(expected.replace("'", "&#39;"))
    figures = re.findall(r'<figure class="([a-z-]+)"', html[:end])
    assert figures == ["difference", "accuracy-for-time"]
    assert f" {expected}\n" in text.replace("\\", "")
