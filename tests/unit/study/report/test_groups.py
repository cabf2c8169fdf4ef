"""Metrics within groups of samples: values and intervals by hand, and the section of the page."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, t
from tests.unit.study.report.test_findings import AVERAGE, WINNER, made_of

from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.report.groups import groups_section, values_by_group


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
