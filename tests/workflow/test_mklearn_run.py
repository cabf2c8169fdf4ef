"""``mklearn run`` and ``mklearn why``: Snakemake on a study, in a checkout and in a folder without one."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from tests.workflow.conftest import SMOKE, Checkout, jobs_by_rule


class EmptyFolder(Checkout):
    """A folder that is no checkout; the code is the repository's."""

    def __init__(self, folder: Path, repository: Path) -> None:
        self.folder, self.repository = folder, repository
        folder.mkdir()

    @property
    def environment(self) -> dict[str, str]:
        return super().environment | {"PYTHONPATH": str(self.repository / "src")}


@pytest.fixture
def empty(tmp_path: Path, repository: Path) -> EmptyFolder:
    return EmptyFolder(tmp_path / "empty", repository)


@pytest.mark.full
def test_why_plans_what_snakemake_plans(checkout: Checkout) -> None:
    planned = checkout.planned()
    assert planned["fit"] == 4
    checkout.write(SMOKE, "other.yaml")
    checkout.write({"study": "empty", "datasets": []})
    assert jobs_by_rule(checkout.said("mklearn", "why", "--verbose", "other.yaml")) == planned
    fits = jobs_by_rule(checkout.said("mklearn", "why", "--verbose", "other.yaml", "--", "fits"))
    assert fits["fit"] == 4
    assert "report" not in fits
    said = checkout.said("mklearn", "run", "--cores", "1", code=1)
    assert "config.yaml has 1 mistake" in said
    assert "Traceback" not in said


@pytest.mark.full
def test_a_summary_says_what_would_run_why_and_how_long(
    checkout: Checkout, finished: Checkout, copy_of: Callable[[Checkout], Checkout]
) -> None:
    said = checkout.said("mklearn", "run", "--dry-run").splitlines()
    assert len(said) <= 14
    assert said[0] == "config.yaml: 14 jobs would run, 4 fits of them"
    assert "  fits by method: average 1, " in "\n".join(said)
    assert said[-4:-2] == ["Why:", "  14 jobs: no file yet"]
    assert re.fullmatch(r"Time: about 0:0\d:\d\d on one core; memory: at most 0\.9 GB a job", said[-2])
    assert not (checkout.folder / "results").exists()
    fits = checkout.said("mklearn", "why", "--", "fits")
    assert "Tables, page and model" not in fits
    assert "nonsense" in checkout.said("mklearn", "why", "--", "nonsense", code=1)

    mine = copy_of(finished)
    mine.edit("src/mklearn/subspace/mkldr.py")
    methods = SMOKE["methods"] | {"average": SMOKE["methods"]["average"] | {"ridge": 0.02}}
    mine.write(SMOKE | {"methods": methods})
    said = mine.said("mklearn", "why").splitlines()
    assert said[0] == "config.yaml: 6 jobs would run, 2 fits of them"
    why = said[said.index("Why:") :]
    assert "  1 job: its code has changed: subspace/mkldr.py" in why
    assert "  1 job: new parameters, or of what they are made from" in why


@pytest.mark.full
def test_a_folder_without_a_checkout(empty: EmptyFolder) -> None:
    """Other workflows lie here: their Snakefile and profile are not read."""
    (empty.folder / "profiles" / "default").mkdir(parents=True)
    (empty.folder / "profiles" / "default" / "config.yaml").write_text("no-such-option: 1\n", encoding="utf-8")
    (empty.folder / "Snakefile").write_text("of another workflow\n", encoding="utf-8")
    by_name = jobs_by_rule(empty.said("mklearn", "why", "--verbose", "smoke"))
    assert by_name["fit"] == 4
    empty.write(SMOKE, "mine.yaml")
    assert jobs_by_rule(empty.said("mklearn", "why", "--verbose", "mine.yaml")) == by_name
    study = yaml.safe_load((empty.repository / "config.yaml").read_text(encoding="utf-8"))
    assert jobs_by_rule(empty.said("mklearn", "why", "--verbose"))["describe"] == len(study["descriptors"])
    assert not (empty.folder / "results").exists()
    empty.write(SMOKE | {"sead": 1}, "mine.yaml")
    said = empty.said("mklearn", "run", "mine.yaml", code=1)
    assert "Did you mean 'seed'?" in said
    assert "Traceback" not in said


@pytest.mark.full
def test_what_one_checkout_has_made_is_up_to_date_elsewhere(finished: Checkout, empty: EmptyFolder) -> None:
    """Keys and triggers do not depend on where the code and the Snakefile lie."""
    for name in ("results", ".snakemake", "config.yaml"):
        copy = shutil.copytree if (finished.folder / name).is_dir() else shutil.copy2
        copy(finished.folder / name, empty.folder / name)
    assert "Nothing to be done" in empty.said("mklearn", "why")
    said = empty.said("mklearn", "explain", "results/smoke/summary.parquet")
    assert "UP TO DATE" in said
    assert empty.answer("failed").strip() == "config.yaml (study smoke, 4 fits): nothing failed."
