"""What a run cost: from Snakemake's benchmark files of the planned jobs to rows that say what is not known."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from tests.unit.study.test_landmarks import STUDY
from tests.workflow.conftest import SMOKE

from mklearn.study.config.reading import check_study
from mklearn.study.plan.plan import plan_study
from mklearn.study.stages.order import STAGES
from mklearn.study.stages.stage import StudyFiles
from mklearn.study.steps.stage_costs import COSTLY, stage_costs

HEADER = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"


def files_of(study: dict[str, Any]) -> StudyFiles:
    return StudyFiles(plan_study(check_study(study)), STAGES)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StudyFiles:
    """A study with landmarks on three blocks of samples, and dense kernels, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return files_of(STUDY)


def finish(files: StudyFiles, rule: str, text: str, **wildcards: str) -> None:
    path = Path(files.job(rule, **wildcards).benchmark)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def row(seconds: float) -> str:
    return f"{HEADER}{seconds}\t0:00:01\tNA\tNA\tNA\tNA\tNA\tNA\tNA\tNA\n"


def costs(files: StudyFiles) -> dict[str, dict[str, Any]]:
    return {row["stage"]: row for row in stage_costs(files)}


def test_the_jobs_behind_the_scores_are_counted_by_stage(files: StudyFiles) -> None:
    found = costs(files)
    assert list(found) == [stage for stage in COSTLY if stage not in ("resize", "learn", "project")]
    assert {stage: row["jobs"] for stage, row in found.items()} == {
        "read": 1, "describe": 2 + 2 * 3, "pairwise": 4, "split": 1, "landmarks": 2,
        "moments": 2 * 3, "fit": 4,
    }  # fmt: skip


def test_features_that_only_landmarks_need_are_described_in_blocks_alone() -> None:
    methods = {"m": {"kind": "mkl_dr", "landmarks": 30}}
    assert costs(files_of(STUDY | {"methods": methods, "rows_per_block": 70}))["describe"]["jobs"] == 6
    assert costs(files_of(STUDY | {"methods": methods, "rows_per_block": 200}))["describe"]["jobs"] == 2


def test_seconds_and_bytes_are_summed_by_stage(files: StudyFiles) -> None:
    wildcards = [dict(zip(("dataset", "protocol", "method"), key, strict=True)) for key in files.plan.fits]
    for number, names in enumerate(wildcards, start=1):
        finish(files, "fit", row(10.25 * number), **names)
    for name, size in (("fit_scores", 10), ("fit_model", 5)):
        path = Path(files.path(name, **wildcards[0]))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
    longest = Path(files.path("fit_scores", **wildcards[-1])).with_suffix("")
    assert costs(files)["fit"] == {
        "stage": "fit", "title": "Fit and evaluate", "jobs": 4, "known": 4, "seconds": 102.5, "longest": 41.0,
        "longest_job": str(longest),
        "bytes": 15,
    }  # fmt: skip


@pytest.mark.parametrize("text", [None, "", HEADER, f"{HEADER}NA\n", "a line\n", "\0"])
def test_what_has_no_benchmark_is_not_known(files: StudyFiles, text: str | None) -> None:
    one, other, *_ = (dict(zip(("dataset", "protocol", "method"), key, strict=True)) for key in files.plan.fits)
    finish(files, "fit", row(4.0), **one)
    if text is not None:
        finish(files, "fit", text, **other)
    found = costs(files)
    assert (found["fit"]["jobs"], found["fit"]["known"], found["fit"]["seconds"]) == (4, 1, 4.0)
    kernels = found["pairwise"]
    assert (kernels["known"], kernels["seconds"], kernels["longest"], kernels["longest_job"]) == (0, None, None, None)


def test_jobs_of_another_study_do_not_count(files: StudyFiles) -> None:
    other = files_of(SMOKE)
    for dataset, protocol, method in other.plan.fits:
        finish(other, "fit", row(math.pi), dataset=dataset, protocol=protocol, method=method)
    assert costs(other)["fit"]["known"] == 4
    assert costs(files)["fit"]["known"] == 0
