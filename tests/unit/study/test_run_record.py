"""What a run cost: from Snakemake's benchmark files of the planned jobs to a row for each rule."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.study.test_landmarks import STUDY

from mklearn.study.jobs import Jobs
from mklearn.study.plan.plan import plan_study
from mklearn.study.reading import check_study
from mklearn.study.run_record import rule_costs


def test_seconds_and_bytes_of_jobs_that_ran_are_summed_by_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    jobs = Jobs(plan_study(check_study(STUDY)))
    keys = jobs.keys("fit")
    for key, line in zip(keys, ["10.25\t0:00:10", "NA\tNA", "20.5\t0:00:20"], strict=False):
        path = Path(jobs.log("fit", **key)).with_suffix(".tsv")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"s\th:m:s\n{line}\n", encoding="utf-8")
    for name, size in (("predictions", 10), ("model", 5)):
        path = Path(jobs.path("fit", name, **keys[2]))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
    longest = str(Path(jobs.path("fit", **keys[2])).with_suffix(""))
    assert rule_costs(jobs) == [
        {
            "rule": "fit", "title": "Fit and predict", "jobs": 2, "seconds": 30.75, "longest": 20.5,
            "longest_job": longest, "bytes": 15,
        }
    ]  # fmt: skip
