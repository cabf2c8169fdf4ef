"""Two studies side by side: paired where the splits are the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.unit.study.evaluation.test_summary import row

from mklearn.errors import ConfigError
from mklearn.study.evaluation.predictions import Predictions, typed
from mklearn.study.evaluation.summary import summarise
from mklearn.study.report.comparison import StudyTables, compare


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
            made = dict.fromkeys(("predicted_oracle", "distance"), 0) | {"decision_value": np.nan, "nearest": ""}
            predictions.append(frame.assign(**place, method=method, repeat=repeat, predicted=predicted, **made))
            scores.append(row(method, repeat, right.mean(), selection="inner_cv", dimension=1, n_train=20, **place))
    table, predicted_table = pd.DataFrame(scores), typed(pd.concat(predictions, ignore_index=True))
    summary = summarise(table, Predictions(predicted_table), reference="average")
    compared = {"reference": "average", "neighbour": "cosine"}
    return StudyTables(f"results/{chance}", table, predicted_table, summary, compared, config)


@pytest.fixture(scope="module")
def first() -> StudyTables:
    return study(1)


def cells(first: StudyTables, second: StudyTables, method: str) -> list[str]:
    """The texts of a method's row: A, B, B − A."""
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
        replace(tables, scores=tables.scores.assign(metric="rmse"), summary=tables.summary.assign(metric="rmse"))
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
    with pytest.raises(ConfigError, match="no data set with the same protocol and training size"):
        compare(first, other)


def test_metric_reference_and_rule_of_a_study_are_those_that_it_was_run_with(first: StudyTables) -> None:
    """Kills: the first metric of the summary; the first method as reference; the score for the headline's metric."""
    numbers = pd.concat([first.summary.assign(metric=name) for name in ("rmse", "r2")])
    tables = replace(first, summary=numbers, config={"evaluation": {"choose_by": "r2"}, "final": {"metric": "rmse"}})
    results = replace(tables, compared={"reference": "kfd", "neighbour": "euclidean"}).results()
    assert (results.score.kind, results.metric.kind) == ("r2", "rmse")
    assert (results.reference, results.neighbour) == ("kfd", "euclidean")
    assert first.results().metric.kind == first.score == "accuracy"
