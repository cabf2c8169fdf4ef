"""Summary and report of a study with lost fits: a method, a whole data set, the method that all are compared with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.unit.study.report.conftest import make_study

from mklearn.study.evaluation.summary import summarise
from mklearn.study.report.build import build_report

GONE = "killed by signal 9 (SIGKILL); log: logs/fit/x.log"


@pytest.fixture(scope="module")
def study() -> dict[str, Any]:
    return make_study(repeats=3)


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


def test_a_lost_method_has_its_row_and_all_others_theirs(study: dict[str, Any], tmp_path: Path) -> None:
    before = summarise(study["scores"])
    summary, text = written(study, without(study["scores"], "kfd"), tmp_path)
    kept = [frame[frame["method"].ne("kfd")].reset_index(drop=True) for frame in (summary, before)]
    pd.testing.assert_frame_equal(*kept)
    lost = summary[summary["method"].eq("kfd")]
    assert set(lost["status"]) == {"lost"}
    assert set(lost["n_failed"]) == {3}
    assert lost["mean"].isna().all()
    assert GONE in text.replace("\\", "")


def test_a_lost_reference_leaves_no_differences(study: dict[str, Any], tmp_path: Path) -> None:
    summary, text = written(study, without(study["scores"], "average"), tmp_path)
    assert summary["difference"].isna().all()
    assert summary.loc[summary["method"].ne("average"), "mean"].notna().any()
    assert GONE in text.replace("\\", "")


def test_a_data_set_that_was_never_read_has_its_rows(study: dict[str, Any], tmp_path: Path) -> None:
    """One row for each method, as nothing is known of the splits; and no card, no figure."""
    scores = study["scores"]
    other = without(scores, "kfd").query("status == 'lost'").iloc[[0]].assign(dataset="unread", n_train=0, n_test=0)
    rows = [other.assign(method=method) for method in scores["method"].unique()]
    summary, text = written(study, pd.concat([*rows, scores], ignore_index=True), tmp_path)
    assert set(summary.loc[summary["dataset"].eq("unread"), "method"]) == set(scores["method"])
    assert set(summary.loc[summary["dataset"].eq("unread"), "n_failed"]) == {1}
    assert "unread" in text


def test_what_is_chosen_on_the_test_samples_has_not_failed(study: dict[str, Any], tmp_path: Path) -> None:
    """The oracle kernel has no value by inner cross-validation, and says why; its repeats are those that it has."""
    scores = study["scores"].copy()
    chosen = scores["method"].eq("kfd") & scores["selection"].eq("inner_cv")
    scores.loc[chosen, ["value", "status", "message"]] = float("nan"), "not_applicable", "an upper bound"
    _, text = written(study, scores, tmp_path)
    lines = (line.split(" | ") for line in text.splitlines() if line.startswith("| kfd | "))
    rows = [line for line in lines if len(line) > 10]  # of the result tables
    assert len(rows) > 1
    for row in rows:
        assert row[9] == "3"
        assert row[11].startswith("not applicable")
