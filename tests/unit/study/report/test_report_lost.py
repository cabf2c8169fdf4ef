"""Summary and report of a study with lost fits: a method, a whole data set, the method that all are compared with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from mklearn.study.evaluation.summary import summarise
from mklearn.study.report.build import build_report
from mklearn.study.report.frames import results_of
from mklearn.study.report.tables import result_table

GONE = "killed by signal 9 (SIGKILL); log: logs/fit/x.log"


def without(scores: pd.DataFrame, method: str) -> pd.DataFrame:
    """The scores with a method's rows replaced by those of a lost fit."""
    rows = scores[scores["method"].eq(method)].drop_duplicates(["repeat", "fold"])
    lost = rows.assign(value=float("nan"), neighbour="", selection="", dimension=None, status="lost", message=GONE,
                       fit_seconds=float("nan"))  # fmt: skip
    lost["dimension"] = lost["dimension"].astype("Int64")
    return pd.concat([lost, scores[scores["method"].ne(method)]], ignore_index=True)


def written(study: dict[str, Any], scores: pd.DataFrame, folder: Path) -> tuple[pd.DataFrame, str]:
    summary = summarise(scores)
    fits = [fit for fit in study["fits"] if (scores["method"].eq(fit.method) & scores["status"].eq("ok")).any()]
    build_report(folder, **study | {"scores": scores, "summary": summary, "fits": fits}, figure_files=False)
    return summary, (folder / "summary.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def lost(study: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> tuple[pd.DataFrame, str]:
    """Summary and report of a study with a lost method and, before it, a data set that was never read.

    It has one row for each method, as nothing is known of its splits.
    """
    scores = without(study["scores"], "kfd")
    other = scores.query("status == 'lost'").iloc[[0]].assign(dataset="unread", n_train=0, n_test=0)
    rows = [other.assign(method=method) for method in scores["method"].unique()]
    return written(study, pd.concat([*rows, scores], ignore_index=True), tmp_path_factory.mktemp("lost"))


@pytest.mark.full
def test_a_lost_method_has_its_row_and_all_others_theirs(study: dict[str, Any], lost: tuple[pd.DataFrame, str]) -> None:
    before = summarise(study["scores"])
    summary, text = lost
    summary = summary[summary["dataset"].eq("digits")]
    kept = [frame[frame["method"].ne("kfd")].reset_index(drop=True) for frame in (summary, before)]
    pd.testing.assert_frame_equal(*kept)
    gone = summary[summary["method"].eq("kfd")]
    assert set(gone["status"]) == {"lost"}
    assert set(gone["n_failed"]) == {5}
    assert gone["mean"].isna().all()
    assert GONE in text.replace("\\", "")


@pytest.mark.full
def test_a_lost_reference_leaves_no_differences(study: dict[str, Any], tmp_path: Path) -> None:
    summary, text = written(study, without(study["scores"], "average"), tmp_path)
    assert summary["difference"].isna().all()
    assert summary.loc[summary["method"].ne("average"), "mean"].notna().any()
    assert GONE in text.replace("\\", "")


def test_a_data_set_that_was_never_read_has_its_rows(study: dict[str, Any], lost: tuple[pd.DataFrame, str]) -> None:
    """And no card, no figure."""
    summary, text = lost
    assert set(summary.loc[summary["dataset"].eq("unread"), "method"]) == set(study["scores"]["method"])
    assert set(summary.loc[summary["dataset"].eq("unread"), "n_failed"]) == {1}
    assert "unread" in text


def test_what_is_chosen_on_the_test_samples_has_not_failed(study: dict[str, Any]) -> None:
    """The oracle kernel has no value by inner cross-validation, and says why; its repeats are those that it has."""
    scores = study["scores"].copy()
    chosen = scores["method"].eq("kfd") & scores["selection"].eq("inner_cv")
    scores.loc[chosen, ["value", "status", "message"]] = float("nan"), "not_applicable", "an upper bound"
    results = results_of(scores, summarise(scores), [])
    table = result_table(results, results.settings[0])
    rows = [row for row in table.rows if row[0].text == "kfd"]
    assert len(rows) > 1
    titles = [column.title for column in table.columns]
    for row in rows:
        assert row[titles.index("Splits")].text == "5"
        assert row[titles.index("Status")].text.startswith("not applicable")
