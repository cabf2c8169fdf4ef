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


@pytest.mark.parametrize("method", ["kfd", "average"])
def test_a_lost_method_and_a_data_set_that_was_never_read_have_their_rows(
    method: str, study: dict[str, Any], tmp_path: Path
) -> None:
    """A lost fit has a row for each split, a data set of which nothing is known one for each method."""
    scores = study["scores"]
    lost = scores[scores["method"].eq(method)].drop_duplicates(["repeat", "fold"]).assign(
        value=float("nan"), neighbour="", selection="", dimension=pd.NA, status="lost", message=GONE,
        fit_seconds=float("nan"),
    )  # fmt: skip
    unread = lost.iloc[[0]].assign(dataset="unread", n_train=0, n_test=0)
    everywhere = [unread.assign(method=name) for name in scores["method"].unique()]
    frame = pd.concat([*everywhere, lost, scores[scores["method"].ne(method)]], ignore_index=True)
    summary = summarise(frame.astype({"dimension": "Int64"}))
    fits = [fit for fit in study["fits"] if fit.method != method]
    build_report(tmp_path, **study | {"scores": frame, "summary": summary, "fits": fits}, figure_files=False)
    text = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert "unread" in text
    assert GONE in text.replace("\\", "")
    assert set(summary.loc[summary["dataset"].eq("unread"), "method"]) == set(scores["method"])
    read = summary[summary["dataset"].eq("digits")]
    gone, kept = read[read["method"].eq(method)], read[read["method"].ne(method)]
    assert set(gone["status"]) == {"lost"}
    assert set(gone["n_failed"]) == {5}
    assert gone["mean"].isna().all()
    before = summarise(scores).query("method != @method")
    columns = ["mean", "ci_low", *(["difference"] if method == "kfd" else [])]
    pd.testing.assert_frame_equal(*(rows[columns].reset_index(drop=True) for rows in (kept, before)))
    assert kept["difference"].notna().any() == (method == "kfd"), "a lost reference leaves no differences"


def test_what_is_chosen_on_the_test_samples_has_not_failed(study: dict[str, Any]) -> None:
    """The oracle kernel has no value by inner cross-validation, and says why; its repeats are those that it has."""
    scores = study["scores"].copy()
    chosen = scores["method"].eq("kfd") & scores["selection"].eq("inner_cv")
    scores.loc[chosen, ["value", "status", "message"]] = float("nan"), "not_applicable", "an upper bound"
    results = results_of(scores, summarise(scores), [])
    table = result_table(results, results.settings[0])
    titles = [column.title for column in table.columns]
    cells = [
        [row[titles.index(name)].text for name in ("Splits", "Status")] for row in table.rows if row[0].text == "kfd"
    ]
    assert cells == [["5", "not applicable"]] * 2
