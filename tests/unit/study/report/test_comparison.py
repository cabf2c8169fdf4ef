"""Two studies side by side: paired where the splits are the same, and what differs in their settings."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mklearn.base.statistics import holm
from mklearn.errors import ConfigError
from mklearn.study.evaluation.predictions import Predictions, typed
from mklearn.study.evaluation.summary import summarise
from mklearn.study.report.comparison import StudyTables, _paired_with_itself, compare, same_splits, settings_table

CONFIG: dict[str, Any] = {"study": "s", "methods": {"kfd": {"ridge": [0.1, 1]}}, "seed": 0}


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
            made = {
                "predicted": predicted,
                "predicted_oracle": -1,
                "decision_value": np.nan,
                "nearest": "",
                "distance": 0,
            }
            predictions.append(frame.assign(**place, method=method, repeat=repeat, **made))
            scores.append(place | {
                "study": "s", "method": method, "repeat": repeat, "kernel_set": "k", "selection": "inner_cv",
                "dimension": 1, "metric": "accuracy", "value": right.mean(), "status": "ok", "message": "", "seed": 0,
                "parameters": "{}", "n_train": 20, "n_test": 20, "fit_seconds": 0.1,
            })  # fmt: skip
    table, predicted_table = pd.DataFrame(scores), typed(pd.concat(predictions, ignore_index=True))
    summary = summarise(table, Predictions(predicted_table), reference="average")
    record = {"study": "s", "config": CONFIG | config, "commit": "abc", "utc": "", "versions": {"numpy": "2.0"}}
    return StudyTables(f"results/{chance}", table, predicted_table, summary, record)


def configured(tables: StudyTables, **config: Any) -> StudyTables:
    """The same study with other settings."""
    return replace(tables, record={**tables.record, "config": CONFIG | config})


@pytest.fixture(scope="module")
def first() -> StudyTables:
    return study(1)


@pytest.fixture(scope="module")
def second() -> StudyTables:
    return study(2)


@pytest.fixture(scope="module")
def page(first: StudyTables, second: StudyTables, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compare(first, second, tmp_path_factory.mktemp("page"))[0]


@pytest.fixture(scope="module")
def other_splits() -> StudyTables:
    return study(2, draw=1)


@pytest.fixture(scope="module")
def page_of_other_splits(
    first: StudyTables, other_splits: StudyTables, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    return compare(first, other_splits, tmp_path_factory.mktemp("other"))[0]


def difference_in(path: Path, method: str) -> list[str]:
    """The cells of a method in the first table of the comparison."""
    text = path.with_name("summary.md").read_text(encoding="utf-8")
    block = text[text.index("## The same methods") :]
    (line,) = re.findall(rf"^\| {method} \|(.*)\|$", block[: block.index("\n## ", 5)], flags=re.MULTILINE)
    return [cell.strip().replace("\\", "") for cell in line.split("|")]


@pytest.mark.full
def test_a_method_is_paired_with_itself_as_methods_of_one_study_are(
    first: StudyTables, second: StudyTables, page: Path
) -> None:
    one, other = (frame[frame["method"].eq("kfd")] for frame in (first.scores, second.scores))
    scores = pd.concat([one.assign(method="average"), other])
    predictions = [
        table[table["method"].eq("kfd")].assign(method=name)
        for table, name in ((first.predictions, "average"), (second.predictions, "kfd"))
    ]
    expected = summarise(scores, Predictions(typed(pd.concat(predictions))), reference="average").iloc[1]
    a, b, change, paired, rule = difference_in(page, "kfd")
    low, high = (100 * expected[f"difference_{end}"] for end in ("low", "high"))
    assert (paired, rule) == ("the same splits", "1-NN cosine")
    assert change.replace("−", "-").startswith(f"{100 * expected['difference']:+.1f} [{low:+.1f}, {high:+.1f}]")
    assert [a, b] == [f"{100 * frame['value'].mean():.1f} ± {100 * frame['value'].std():.1f}" for frame in (one, other)]


@pytest.mark.full
def test_methods_compared_with_themselves_are_corrected_for_their_number(tmp_path: Path) -> None:
    names = ("average", "kfd", "svc", "lda")
    both = study(3, methods=names), study(4, methods=names)
    paired = _paired_with_itself(both)
    uncorrected = paired[paired["method"].eq("b") & paired["selection"].eq("inner_cv")]["p_value"]
    path = compare(*both, tmp_path)[0]
    assert uncorrected.min() < 0.05 < holm(uncorrected.to_numpy()).min()
    assert not [name for name in names if re.search("[▲▼]", difference_in(path, name)[2])]


@pytest.mark.full
def test_the_names_of_the_studies_do_not_matter(
    first: StudyTables, second: StudyTables, page: Path, tmp_path: Path
) -> None:
    renamed = replace(
        second, scores=second.scores.assign(study="t"), record={**second.record, "study": "t"},
        summary=second.summary.assign(study="t"),
    )  # fmt: skip
    path = compare(first, renamed, tmp_path)[0]
    assert difference_in(path, "kfd") == difference_in(page, "kfd")
    assert "kfd (B)" in path.read_text(encoding="utf-8")


def test_a_study_equals_itself(first: StudyTables, tmp_path: Path) -> None:
    again = study(1)
    assert all(same_splits(first, again).values())
    path = compare(first, again, tmp_path)[0]
    for method in ("average", "kfd"):
        _, _, change, paired, _ = difference_in(path, method)
        assert change == "0"
        assert paired == "the same predictions"
    assert "What differs" not in path.read_text(encoding="utf-8")


@pytest.mark.full
def test_other_splits_are_not_paired(first: StudyTables, other_splits: StudyTables, page_of_other_splits: Path) -> None:
    assert list(same_splits(first, other_splits).values()) == [False]
    cells = difference_in(page_of_other_splits, "kfd")
    assert cells[3] == "other splits: not paired"
    assert "[" not in cells[2]
    summary = pd.read_csv(page_of_other_splits.with_name("summary.csv")).set_index("method")
    assert summary.loc[["average@b", "kfd@b"], "difference"].isna().all()
    assert summary.loc[["average@a", "kfd@a"], "difference"].notna().all()


@pytest.mark.full
def test_methods_of_one_study_alone_are_shown_and_not_compared(first: StudyTables, tmp_path: Path) -> None:
    path = compare(first, study(2, methods=("average", "new")), tmp_path)[0]
    text = path.read_text(encoding="utf-8")
    assert all(name in text for name in ("average (A)", "average (B)", "kfd (A)", "new (B)"))
    with pytest.raises(ValueError, match="not enough values"):
        difference_in(path, "new")


def test_what_differs_in_the_settings_is_a_table(first: StudyTables, second: StudyTables) -> None:
    second = configured(second, seed=3)
    second = replace(second, record={**second.record, "versions": {"numpy": "2.1"}, "commit": "def"})
    table = settings_table(first, second)
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["seed", "0", "3"], ["version of numpy", "2.0", "2.1"], ["commit", "abc", "def"],
    ]  # fmt: skip
    changed = replace(
        first, record=first.record | {"config": {"methods": {"kfd": {"ridge": [1]}, "new": {"kind": "x"}}}}
    )
    names = {row[0].text: (row[1].text, row[2].text) for row in settings_table(first, changed).rows}
    assert names["methods.kfd.ridge"] == ("[0.1, 1]", "[1]")
    assert names["methods.new.kind"] == ("–", "x")


def test_studies_with_nothing_in_common_are_refused(first: StudyTables, tmp_path: Path) -> None:
    other = replace(first, predictions=first.predictions.assign(dataset="e"), scores=first.scores.assign(dataset="e"))
    with pytest.raises(ConfigError, match="no data set with the same protocol and training size"):
        compare(first, other, tmp_path / "page")
    assert not (tmp_path / "page").exists()


def test_what_a_study_says_of_itself_is_taken(first: StudyTables) -> None:
    """Kills: the first metric of the summary; the first method as reference; the score for the headline's metric."""
    tables = configured(first, evaluation={"choose_by": "r2", "metrics": ["rmse", "r2"]}, final={"metric": "r2"})
    numbers = [tables.summary.assign(metric=name) for name in ("rmse", "r2")]
    assert (found := replace(tables, summary=pd.concat(numbers))).score == found.metric == "r2"
    assert configured(first, final={"metric": "balanced_accuracy"}).metric == "balanced_accuracy"
    assert first.metric == first.score == "accuracy"
    equal = tables.summary.assign(difference=0.0, difference_low=0.0, p_value=[np.nan, 1.0], method=["average", "kfd"])
    for summary in (equal, equal.iloc[::-1]):
        assert replace(tables, summary=summary).reference == "average"
    assert replace(tables, summary=equal.assign(p_value=1.0)).reference == ""
    assert configured(first, evaluation={"reference": "kfd"}).reference == "kfd"


@pytest.mark.full
def test_a_failed_split_of_one_method_leaves_the_others_paired(
    first: StudyTables, second: StudyTables, tmp_path: Path
) -> None:
    kept = ~(first.predictions["method"].eq("average") & first.predictions["repeat"].eq(0))
    first = replace(first, predictions=first.predictions[kept])
    assert same_splits(first, second) == same_splits(second, first) == {("d", "random-p5", 5): True}
    assert difference_in(compare(first, second, tmp_path)[0], "kfd")[3] == "the same splits"


@pytest.mark.full
def test_holms_correction_counts_the_differences_that_are_shown(first: StudyTables, page_of_other_splits: Path) -> None:
    """With other splits in the second study, all that is left is what the page of the first has."""
    shown = pd.read_csv(page_of_other_splits.with_name("summary.csv"), index_col="method")
    own = first.summary.set_index("method")
    assert shown["p_holm"].notna().sum() == 1
    assert shown.at["kfd@a", "p_holm"] == pytest.approx(own.at["kfd", "p_holm"])
