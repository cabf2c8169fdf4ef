"""What a run cost: from Snakemake's benchmark files of the planned jobs to a row for each rule."""

from pathlib import Path

import pytest

from mklearn.study.run_record import rule_cost


def test_seconds_of_jobs_that_ran_are_summed_by_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, line in {"a": "10.25\t0:00:10", "b": "NA\tNA", "c": "20.5\t0:00:20"}.items():
        path = Path(f"logs/fit/data/{name}.tsv")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"s\th:m:s\n{line}\n", encoding="utf-8")
    assert rule_cost("fit", [f"data/{name}" for name in "abcd"]) == {
        "rule": "fit", "title": "Fit and predict", "jobs": 2, "seconds": 30.75, "longest": 20.5,
        "longest_job": "data/c",
    }  # fmt: skip
    assert rule_cost("read", ["data"]) is None
