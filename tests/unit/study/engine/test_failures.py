"""The list of failures: what ran and failed, what was lost, what was never run; and what a rerun is for."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pandas as pd
import pytest
import yaml
from tests.workflow.conftest import SMOKE

from mklearn.atomic import write_parquet
from mklearn.study.engine.failures import failures_of, report_failed_run
from mklearn.study.evaluation.fit_files import fit_of
from mklearn.study.evaluation.fit_records import SPLIT
from mklearn.study.evaluation.score_table import BLANK, COLUMNS
from mklearn.study.jobs import Jobs
from mklearn.study.plan.plan import plan_study
from mklearn.study.reading import read_study

N_SPLITS = 2
PROTOCOLS = {
    "few": {"kind": "random_per_class", "train_size": 4, "repeats": N_SPLITS},
    "more": {"kind": "random_per_class", "train_size": [6, 8], "repeats": N_SPLITS},
}


class Made:
    """The present folder, in which all fits of a small study have ended well, as far as their score files say."""

    def __init__(self, **changes: Any) -> None:
        study = SMOKE | {"protocols": PROTOCOLS} | changes
        Path("config.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
        self.jobs = Jobs(plan_study(read_study("config.yaml")))
        self.keys = list(self.jobs.plan.fits)
        self.files = dict(zip(self.keys, self.jobs.all_of("fit"), strict=True))
        self.rows: dict[Any, pd.DataFrame] = {}
        for key in self.keys:
            self.fit(key)

    def fit(self, key: Any, *output: tuple[str, str]) -> None:
        spec = self.jobs.plan.fits[key].spec
        fits = [fit_of(spec, setting) for setting in spec.settings]
        rows = [
            BLANK | fit | dict(zip(SPLIT, (repeat, 0, 8, 8, 0, 0), strict=True)) | {"metric": "accuracy"}
            for fit in fits
            for repeat in range(N_SPLITS)
        ]
        for row, (status, message) in zip(reversed(rows), reversed(output), strict=False):
            row |= {"status": status, "message": message}
        Path(self.files[key]).parent.mkdir(parents=True, exist_ok=True)
        for output in ("model", "predictions"):
            Path(self.jobs.path("fit", output, **self.jobs.keys("fit")[self.keys.index(key)])).touch()
        self.rows[key] = pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)

    def collect(self) -> None:
        frames = [self.rows[key] for key, path in self.files.items() if os.path.exists(path)]
        write_parquet(self.jobs.path("evaluate"), pd.concat(frames), {})


@pytest.fixture
def made(here: Path) -> Made:
    return Made()


def test_statuses_and_missing_files_are_one_list_and_those_that_a_rerun_may_change_are_run_again(
    made: Made, mklearn: Callable[..., str]
) -> None:
    late, hungry, one_class, inexact, missing = made.keys[:5]
    made.fit(late, ("time_limit", "the time was over"), ("time_limit", "the time was over"))
    made.fit(hungry, ("out_of_memory", "memory ran out"), ("not_applicable", "one class"))
    made.fit(one_class, ("not_applicable", "one class only"))
    made.fit(inexact, ("inaccurate", ""))
    made.collect()
    os.unlink(made.files[missing])
    log = Path(made.jobs.log("fit", **dict(zip(("dataset", "protocol", "method"), missing, strict=True))))
    log.parent.mkdir(parents=True)
    log.write_text("python fit.py\n[    1.0 s] error: a bug\n", encoding="utf-8")
    text = mklearn("failed")
    for key, words in (
        (late, ": time limit in 2 splits, see logs/fit/"),
        (hungry, ".log: memory ran out"),
        (hungry, ": not applicable in 1 split, see "),
        (one_class, ".log: one class only"),
        (inexact, "inaccurate"),
        (missing, f"missing: a bug, see {log}"),
    ):
        name = made.jobs.plan.fits[key].spec.method.id
        assert any(line.startswith(f"  {name} on") and words in line for line in text.splitlines()), (name, words)
    assert mklearn("failed", "--targets").split() == [made.files[key] for key in (late, hungry, missing)]


def test_a_job_of_another_rule_that_failed(made: Made, mklearn: Callable[..., str]) -> None:
    log = Path(made.jobs.log("evaluate"))
    log.parent.mkdir(parents=True)
    log.write_text("python evaluate.py\n[    1.0 s] error: a.predictions.npz is damaged\n", encoding="utf-8")
    assert f"  evaluate: missing: a.predictions.npz is damaged, see {log}\n" in mklearn("failed")
    assert mklearn("failed", "--targets").split() == [made.jobs.path("evaluate")]
    os.unlink(damaged := made.jobs.all_of("fit", "predictions")[0])
    assert damaged in mklearn("failed", "--targets").split()


def test_a_failed_model(here: Path, mklearn: Callable[..., str], capsys: pytest.CaptureFixture[str]) -> None:
    made = Made(final={"method": "best", "protocol": "few", "importances": 1})
    model, log = made.jobs.path("model"), Path(made.jobs.log("model"))
    log.parent.mkdir(parents=True)
    log.write_text("python model.py\n[    1.0 s] error: no value is known.\n", encoding="utf-8")
    text = mklearn("failed")
    assert f"  model: missing: no value is known, see {log}\n" in text
    assert mklearn("failed", "--targets").split() == [model]
    page = Path(made.jobs.path("page"))
    page.parent.mkdir(parents=True)
    page.touch()
    page.with_name("answer.txt").write_text("A and B are alike.", encoding="utf-8")
    run = MagicMock()  # of Snakemake, all jobs of which but the model have ended well
    job = MagicMock(log=[str(log)], wildcards=[], **{"rule.name": "model"})
    run.scheduler.configure_mock(failed=[job], running=[], open_jobs=[])
    run.dag.needrun_jobs.return_value = [MagicMock(output=[model])]
    report_failed_run(made.jobs, run)
    printed = capsys.readouterr().err
    assert f"the answer, without the final model, which was not made:\nA and B are alike.\n{page}\n" in printed
    run.dag.needrun_jobs.return_value.append(MagicMock(output=made.jobs.all_of("fit", "predictions")[:1]))
    report_failed_run(made.jobs, run)
    assert "the answer" not in capsys.readouterr().err, "it is of other fits"


def test_several_studies_and_mistakes(made: Made, mklearn: Callable[..., str]) -> None:
    Path("other.yaml").write_text(yaml.safe_dump(SMOKE | {"study": "other", "protocols": PROTOCOLS}), encoding="utf-8")
    assert mklearn("failed") == "config.yaml (study smoke, 8 fits): nothing failed.\n"
    assert mklearn("failed", "--targets") == ""
    assert mklearn("failed", "config.yaml", "other.yaml").count("nothing failed.") == 2
    Path(made.jobs.path("evaluate")).parent.mkdir(parents=True)
    Path(made.jobs.path("evaluate")).write_bytes(b"no table")
    os.unlink(made.files[made.keys[0]])
    assert "  1 file was not made yet" in mklearn("failed")
    made.fit(made.keys[0], ("failed", "no solution"))
    made.collect()
    assert mklearn("failed", "--targets", "config.yaml", "other.yaml").split() == [made.files[made.keys[0]]]
    assert "there is no such file" in mklearn("failed", "gone.yaml", code=1)


def test_a_metric_that_a_method_has_no_value_of_is_no_failure(made: Made) -> None:
    key = made.keys[0]
    frame = made.rows[key]
    lacking = frame.assign(metric="log_loss", value=float("nan"), status="not_applicable", message="no probabilities")
    made.rows[key] = pd.concat([frame, lacking], ignore_index=True).astype(COLUMNS)
    made.collect()
    assert list(failures_of(made.jobs)) == []
