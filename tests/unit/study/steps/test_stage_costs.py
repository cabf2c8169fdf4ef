"""What a run cost: from Snakemake's benchmark files of the planned jobs to a row for each stage."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.study.test_landmarks import STUDY

from mklearn.study.config.reading import check_study
from mklearn.study.plan.plan import plan_study
from mklearn.study.stages.order import STAGES
from mklearn.study.stages.stage import StudyFiles
from mklearn.study.steps.stage_costs import stage_costs


def test_seconds_and_bytes_of_jobs_that_ran_are_summed_by_stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = StudyFiles(plan_study(check_study(STUDY)), STAGES)
    jobs = files.jobs("fit")
    for job, line in zip(jobs, ["10.25\t0:00:10", "NA\tNA", "20.5\t0:00:20"], strict=False):
        path = Path(job.benchmark)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"s\th:m:s\n{line}\n", encoding="utf-8")
    for name, size in (("scores", 10), ("model", 5)):
        path = Path(jobs[2].outputs[name])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
    longest = str(Path(jobs[2].outputs["scores"]).with_suffix(""))
    assert stage_costs(files) == [
        {
            "stage": "fit", "title": "Fit and evaluate", "jobs": 2, "known": 2, "seconds": 30.75, "longest": 20.5,
            "longest_job": longest, "bytes": 15,
        }
    ]  # fmt: skip
