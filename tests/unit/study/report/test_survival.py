"""Sections of survival times, and of metrics within groups of samples: values and intervals by hand."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, t
from tests.unit.study.report.conftest import make_numbers_study, make_study
from tests.unit.study.report.test_findings import AVERAGE, WINNER, made_of

from mklearn.study.data.samples import SampleSet
from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.report.groups import groups_section, values_by_group
from mklearn.study.report.page import build_report
from mklearn.study.report.records import data_set_of
from mklearn.study.report.results import Results
from mklearn.study.report.survival import THIRDS, round_times, separation, survival_section, tables, thirds
from mklearn.survival.kaplan_meier import survival_interval
from mklearn.survival.times import signed_times


def exponential(n: int, bias: float = 0.0) -> pd.DataFrame:
    """Return predictions of the true survival at the median of times whose rates are known, plus a bias."""
    rng = np.random.default_rng(0)
    rate = np.repeat([0.2, 1.0, 5.0], n // 3)
    time, censored = rng.exponential(1 / rate), rng.exponential(4.0, size=n)
    y = signed_times(np.minimum(time, censored), time <= censored)
    survival = np.exp(-rate * np.median(y[y > 0])) + bias
    return pd.DataFrame({"repeat": 0, "fold": 0, "true": y, "predicted": rate, "decision_value": survival})


def test_intervals_agree_with_the_printed_ones_of_a_textbook() -> None:
    """Remission of leukaemia with 6-MP (Freireich et al. 1963), log-log intervals as in Kalbfleisch and Prentice."""
    y = np.array([6, 6, 6, -6, 7, -9, 10, -10, -11, 13, 16, -17, -19, -20, 22, 23, -25, -32, -32, -34, -35])
    time, event = abs(y), y > 0
    ends = survival_interval(time, event, [6, 7, 10, 13, 16, 22, 35]).T
    printed = [0.620, 0.952, 0.563, 0.923, 0.503, 0.889, 0.432, 0.849, 0.368, 0.805, 0.268, 0.747, 0.188, 0.680]
    np.testing.assert_allclose(ends.ravel(), printed, atol=5e-4)
    np.testing.assert_allclose(survival_interval(time, event, [5, 36]), [[0.025 ** (1 / 21), 0], [1, 0.680]], atol=5e-4)
    low, high = survival_interval([1, 2, 3], [True] * 3, [2, 3])
    assert (low[1], high[1], high[0] < 1) == (0.0, high[0], True)


def test_thirds_are_within_splits_and_equal_risks_stay_together() -> None:
    rows = pd.DataFrame({"true": [1, -2, 3, 10, 20, 30, -40], "predicted": [1, 2, 3, 100, 50, 90, 90]})
    rows = rows.assign(repeat=0, fold=[0] * 3 + [1] * 4, decision_value=np.nan)
    rows = pd.concat([rows, rows.assign(repeat=1, predicted=-rows["predicted"])])
    low, middle, high = thirds(rows)
    assert [sorted(part["time"]) for part in (low, middle, high)] == [[1, 20], [2, 30, 40], [3, 10]]
    assert [part["events"] for part in (low, middle, high)] == [2, 1, 2]
    assert low["horizon"] == 10  # the median of 1, 3, 10, 20 and 30
    at_risk, _ = tables("Data", {"mine": [low, middle, high]}, round_times(40))
    assert [column.title for column in at_risk.columns[2:]] == ["0", "10", "20", "30", "40"]
    assert [[cell.text for cell in row[1:]] for row in at_risk.rows] == [
        ["low", "2", "1", "1", "0", "0"], ["middle", "3", "2", "2", "2", "1"], ["high", "2", "1", "0", "0", "0"],
    ]  # fmt: skip
    assert [round_times(end) for end in (3524, 0.9, 60)] == [[0, 1e3, 2e3, 3e3], [0, 0.25, 0.5, 0.75], [0, 20, 40, 60]]


@pytest.mark.parametrize(("bias", "side"), [(0.0, "yes"), (0.3, "no: above"), (-0.3, "no: below"), (np.nan, "–")])
def test_predictions_are_compared_with_intervals_of_what_is_observed(bias: float, side: str) -> None:
    rows = thirds(exponential(600, bias=bias))
    assert [row["side"] for row in rows] == [side] * 3
    for row, rate in zip(rows, (0.2, 1.0, 5.0), strict=True):
        assert row["ci_low"] < np.exp(-rate * row["horizon"]) < row["ci_high"]
    assert all(row["ci_high"] - row["ci_low"] < 0.16 for row in rows)


@pytest.mark.parametrize(("low", "high", "verdict", "change"), [
    ((0.9, 0.8, 0.95), (0.5, 0.4, 0.6), "KRR separates low from high risk at", "+40.0 [+25.9, +51.2] points."),
    ((0.5, 0.4, 0.6), (0.7, 0.6, 0.75), "KRR predicts risks in the wrong order at", "−20.0 [−31.2, −5.9] points."),
    ((0.5, 0.4, 0.6), (0.62, 0.5, 0.65), "It is not decided whether KRR separates low", "−12.0 [−22.4, +3.6] points."),
])  # fmt: skip
def test_sentence_says_no_more_than_the_interval(low: Any, high: Any, verdict: str, change: str) -> None:
    rows = pd.DataFrame([low, high], columns=["observed", "ci_low", "ci_high"]).assign(third=["low", "high"], horizon=5)
    sentence = separation("KRR", rows.to_dict("records"))
    assert (sentence.startswith(verdict), sentence.partition("difference of ")[2]) == (True, change)


def test_the_section_is_of_survival_times_only(tmp_path: Path) -> None:
    study = make_numbers_study()
    for other, metric in ((study, "r2"), (make_study(repeats=2), "accuracy")):
        results = Results(other["scores"], other["summary"], other["fits"], metric=metric_named(metric))
        assert (bool(results.settings), survival_section(results).parts) == (True, [])
    shown = (exponential(90), exponential(90).assign(predicted=0.0))
    fits = [replace(fit, predicted=None, survival=rows) for fit, rows in zip(study["fits"], shown, strict=True)]
    results = Results(study["scores"], study["summary"], fits, metric=metric_named("r2"))
    with_groups: Any = SimpleNamespace(by_rule=lambda keys: exponential(90).assign(group="g", sample=range(90)))
    assert not groups_section(results, with_groups, None).parts
    build_report(tmp_path, **study | {"fits": fits})
    text = (tmp_path / "summary.md").read_text()
    assert ("## Survival by predicted risk" in text, "## Predicted and true numbers" in text) == (True, False)
    assert len(list((tmp_path / "figures").glob("survival-*.svg"))) == 1  # the other method predicts equal risks
    rows = survival_section(results).parts[0].figures[0].draw()["data"]["values"]
    assert [(row["c"], row["y"], row["high"]) for row in rows if row["x"] == 0] == [(c, 1, 1) for c in THIRDS]
    assert all(row["low"] <= row["y"] <= row["high"] for row in rows)


def test_signed_times_are_shown_as_events_and_medians() -> None:
    data = SampleSet(list("abcd"), np.array([1.0, -4.0, 3.0, -9.0]), tables={"x": np.eye(4)}, survival=True)
    record = data_set_of({"spec": {"dataset": "d"}, "inputs": {}}, "Data", data, [])
    assert record.note.strip() == "2 events; median time 3.5, of events 2."


# --- groups


def predictions(groups: str, true: Any, *wrong: list[int]) -> pd.DataFrame:
    """Return predictions that are too large by 2, in each repeat for the samples at other positions."""
    frame = pd.DataFrame({"sample": range(len(groups)), "group": [*groups], "true": true})
    repeats = (frame["true"] + 2 * frame["sample"].isin(positions) for positions in wrong)
    return pd.concat([frame.assign(repeat=k, predicted=predicted) for k, predicted in enumerate(repeats)])


def test_samples_count_once_by_their_mean_over_repeats() -> None:
    of_classes = predictions("ssssssssuu", np.arange(10) % 2, [0, 1], [0, 2])
    values = values_by_group(of_classes, metric_named("macro_f1"))  # the accuracy in its place
    exact = binomtest(6, 8).proportion_ci(method="exact")
    assert values.loc["s"].tolist() == ["accuracy", 8, 2, 0.75, pytest.approx(exact.low), pytest.approx(exact.high)]
    of_numbers = predictions("sssssu", np.arange(6.0), [0, 1], [0, 2]).assign(value_r2=0.5)
    high = 2 * np.sqrt(0.4 + t.ppf(0.975, 4) * np.std([1.0, 0.5, 0.5, 0.0, 0.0], ddof=1) / np.sqrt(5))
    rmse, r2 = (values_by_group(of_numbers, metric_named(name)) for name in ("rmse", "r2"))
    assert rmse.loc["s"].tolist()[3:] == pytest.approx([2 * np.sqrt(0.4), 0.0, high])
    assert r2.loc["u"].tolist()[3:] == pytest.approx([0.5, np.nan, np.nan], nan_ok=True)


@pytest.mark.parametrize("n_more", [0, 34])
def test_section_shows_the_best_method_beside_the_reference(n_more: int) -> None:
    groups = "sssssuuvvvvv" + "".join(chr(1000 + k) * 5 for k in range(n_more))
    true = [k % 2 if group != "v" else 0 for k, group in enumerate(groups)]
    wrong = {"mkl": ([0], [0, 5]), "average": ([0, 5, 7], [0, 1, 7])}
    tables = {name: predictions(groups, true, *positions) for name, positions in wrong.items()}
    by_rule: Any = SimpleNamespace(by_rule=lambda keys: tables[keys["method"]])
    section = groups_section(made_of(AVERAGE, WINNER), by_rule, None)
    assert section.lead == f"mkl is ahead of the average in 2 of {3 + n_more} groups, and behind in 0."
    texts = {row[0].text: [cell.text for cell in row[1:]] for row in section.parts[0].tables[0].rows}
    assert len(section.parts[-1].files["groups.csv"]) == 2 * (3 + n_more)
    if n_more:
        assert (len(texts), "u" in texts) == (10, False)  # five at each end, none of fewer than five samples
    else:
        assert texts == {
            "s": ["5", "80.0 [28.4, 99.5]", "70.0 [20.9, 97.7]"],
            "u": ["2", "1.5 of 2 right", "1.5 of 2 right"],
            "v": ["5", "5 of 5 right, one class", "4 of 5 right, one class"],
        }
    tables = {
        name: rows.query("group != 's'").assign(group=lambda frame: frame["sample"].astype("str"))
        for name, rows in tables.items()
    }
    assert bool(groups_section(made_of(AVERAGE, WINNER), by_rule, None).parts) == (n_more == 0)  # 7 or 177 single ones


@pytest.mark.parametrize(("chosen", "texts"), [((), []), (("mkl",), [""])])
def test_methods_without_chosen_predictions_have_no_groups(chosen: tuple[str, ...], texts: list[str]) -> None:
    rows = predictions("sssssuuuuu", np.arange(10) % 2, [0])
    lost = rows.assign(predicted=pd.NA)
    by_rule: Any = SimpleNamespace(by_rule=lambda keys: rows if keys["method"] in chosen else lost)
    parts = groups_section(made_of(AVERAGE, WINNER), by_rule, None).parts
    assert [part.text for part in parts if part.tables] == texts
