"""The list of failures: what ran and failed, what was lost, what was never run; and what a rerun is for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from tests.workflow.conftest import SMOKE

from mklearn.__main__ import main
from mklearn.study.artefacts import write_table
from mklearn.study.config.reading import read_study
from mklearn.study.engine.failures import empty_fits, failures_of, name_of
from mklearn.study.plan.plan import plan_study
from mklearn.study.specs.table_specs import LostFit, ScoresSpec
from mklearn.study.stages.targets import Targets
from mklearn.study.steps.rows import COLUMNS, blank, fit_of

N_SPLITS = 2
PROTOCOLS = {
    "few": {"kind": "random_per_class", "train_size": 4, "repeats": N_SPLITS},
    "more": {"kind": "random_per_class", "train_size": [6, 8], "repeats": N_SPLITS},
}


class Made:
    """A folder in which all fits of a small study have ended well, as far as their score files say."""

    def __init__(self, folder: Path, **changes: Any) -> None:
        study = SMOKE | {"protocols": PROTOCOLS} | changes
        (folder / "config.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
        self.targets = Targets(plan_study(read_study("config.yaml")))
        self.keys = list(self.targets.plan.fits)
        self.files = dict(zip(self.keys, self.targets.all_of("fit_scores"), strict=True))
        for key in self.keys:
            self.fit(key)

    def fit(self, key: Any, *said: tuple[str, str]) -> None:
        """Write the score rows of a fit: of the last splits with these statuses and messages."""
        spec = self.targets.plan.fits[key].spec
        fits = [fit_of(spec, setting) for setting in spec.settings]
        rows = [blank(fit, repeat, 0, 8, 8) for fit in fits for repeat in range(N_SPLITS)]
        for row, (status, message) in zip(reversed(rows), reversed(said), strict=False):
            row |= {"status": status, "message": message}
        write_table(self.files[key], pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS), {})

    def lose(self, key: Any, outdated: float | None = None, status: str = "lost") -> None:
        """Write a table in which a fit is lost."""
        entry = LostFit(
            position=0, key=key, fits=[], splits=[[(0, 0, 8, 8)]], status=status, reason="killed", log="logs/x.log",
            message="killed; log: logs/x.log", outdated=outdated,
        )  # fmt: skip
        spec = ScoresSpec(study="smoke", lost=[entry]).as_dict()
        write_table(self.targets.path("scores"), pd.DataFrame({"value": [0.5]}), {"spec": spec})


def at(made: Made, key: Any, size: int) -> str:
    """A fit at one training size, as the list calls it."""
    return name_of(made.targets, key, f"{made.targets.plan.fits[key].protocol_id}-p{size}")


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    monkeypatch.chdir(tmp_path)
    return Made(tmp_path)


def listing(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["failed", *arguments]) == 0
    return capsys.readouterr().out


def test_nothing_failed(made: Made, capsys: pytest.CaptureFixture[str]) -> None:
    assert listing(capsys) == "config.yaml (study smoke, 8 fits): nothing failed.\n"
    assert listing(capsys, "--targets") == ""


def test_statuses_that_a_rerun_may_change_are_run_again_and_others_are_not(
    made: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    late, broken, hungry, one_class, inexact = [key for key in made.keys if key[1].startswith("few")] + made.keys[-1:]
    made.fit(late, ("time_limit", "the time was over"), ("time_limit", "the time was over"))
    made.fit(broken, ("failed", "no solution"))
    made.fit(hungry, ("out_of_memory", "memory ran out"), ("not_applicable", "one class"))
    made.fit(one_class, ("not_applicable", "one class only"))
    made.fit(inexact, ("inaccurate", ""))
    assert listing(capsys, "--targets").split() == [made.files[key] for key in (late, broken, hungry)]
    text = listing(capsys)
    again, same = text.split("Would end the same way again")
    assert f"{at(made, late, 4)}: time limit in 2 of 2 splits\n    the time was over\n    log: logs/fit/" in again
    assert f"{at(made, broken, 4)}: failed in 1 of 2 splits" in again
    assert f"{at(made, hungry, 4)}: out of memory in 1 of 2 splits" in again
    assert f"{at(made, hungry, 4)}: not applicable in 1 of 2 splits" in same
    assert f"{at(made, one_class, 4)}: not applicable" in same
    assert f"{at(made, inexact, 8)}: inaccurate in 1 of 2 splits\n    log:" in same
    assert at(made, inexact, 6) not in text


def test_lost_and_missing_fits(made: Made, capsys: pytest.CaptureFixture[str]) -> None:
    lost, missing = made.keys[2:4]
    made.lose(lost, status="out_of_memory")
    for key in (lost, missing):
        os.unlink(made.files[key])
    text = listing(capsys)
    assert f"{name_of(made.targets, lost)}: out of memory in 1 of 1 splits\n    killed\n    log: logs/x.log" in text
    assert text.endswith(f"Not run yet; the plain run makes them:\n  {name_of(made.targets, missing)}\n")
    assert listing(capsys, "--targets").split() == [made.files[lost]]
    made.fit(lost)  # it has been run since, by itself
    assert [failure.status for failure in failures_of(made.targets)] == ["missing"]


def test_a_model_that_failed_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its reason, until it is there; a model whose job was never run, or still runs, is not a failure."""
    monkeypatch.chdir(tmp_path)
    made = Made(tmp_path, final={"method": "best", "protocol": "few", "importances": 1})
    (model,) = made.targets.all_of("final_model")
    log = Path(made.targets.job("final_model").log)
    log.parent.mkdir(parents=True)
    log.write_text("step final_model\n[    1.0 s] reading\n", encoding="utf-8")
    assert "nothing failed" in listing(capsys)
    log.write_text("step final_model\n[    1.0 s] error: no value is known.\n", encoding="utf-8")
    text = listing(capsys)
    assert f"  step final_model: failed\n    no value is known\n    log: {log}\n" in text
    assert listing(capsys, "--targets").split() == [model]
    Path(model).parent.mkdir(parents=True)
    Path(model).touch()
    assert "nothing failed" in listing(capsys)


@pytest.mark.full
def test_an_outdated_result_is_lost_until_it_is_made_anew(made: Made) -> None:
    key = made.keys[0]
    made.lose(key, outdated=os.stat(made.files[key]).st_mtime)
    assert [failure.status for failure in failures_of(made.targets)] == ["lost"]
    os.utime(made.files[key], (2e9, 2e9))
    assert failures_of(made.targets) == []


@pytest.mark.full
def test_many_reasons_are_cut_and_damaged_files_named(made: Made, capsys: pytest.CaptureFixture[str]) -> None:
    Path(made.files[made.keys[0]]).write_bytes(b"no table")
    Path(made.targets.path("scores")).parent.mkdir(parents=True)
    Path(made.targets.path("scores")).write_bytes(b"no table")
    text = listing(capsys)
    assert "not a readable Parquet file" in text
    assert made.files[made.keys[0]] in listing(capsys, "--targets")


@pytest.mark.full
def test_several_studies_and_mistakes(made: Made, capsys: pytest.CaptureFixture[str]) -> None:
    Path("other.yaml").write_text(yaml.safe_dump(SMOKE | {"study": "other", "protocols": PROTOCOLS}), encoding="utf-8")
    text = listing(capsys, "config.yaml", "other.yaml")
    assert text.count("nothing failed.") == 2
    made.fit(made.keys[0], ("failed", "no solution"))
    assert listing(capsys, "--targets", "config.yaml", "other.yaml").split() == [made.files[made.keys[0]]]
    assert main(["failed", "gone.yaml"]) == 1
    assert "there is no such file" in capsys.readouterr().err


def test_a_fit_of_which_every_split_failed_has_no_result(made: Made) -> None:
    some, every = made.keys[:2]
    n = len(made.targets.plan.fits[every].settings) * N_SPLITS
    made.fit(some, ("failed", "no solution"))
    made.fit(every, *[("failed", "no solution")] * n)
    (empty,) = empty_fits(made.targets)
    assert empty.scores == made.files[every]
    assert (empty.status, empty.reason) == ("failed", "no solution")


def test_a_metric_that_a_method_has_no_value_of_is_no_failure(made: Made) -> None:
    """Kills: a fit with its accuracy in every split among those that would fail again."""
    key = made.keys[0]
    frame = pd.read_parquet(made.files[key])
    lacking = frame.assign(metric="log_loss", value=float("nan"), status="not_applicable", message="no probabilities")
    write_table(made.files[key], pd.concat([frame, lacking], ignore_index=True).astype(COLUMNS), {})
    assert failures_of(made.targets) == []
