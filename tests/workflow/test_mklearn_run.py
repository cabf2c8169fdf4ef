"""``mklearn run``: Snakemake on a study, in a checkout and in a folder without one."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from tests.workflow.conftest import SMOKE, Checkout, jobs_by_rule

DRY = ("run", "--dry-run")


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
def test_a_dry_run_says_what_would_run_and_why(
    checkout: Checkout, finished: Checkout, copy_of: Callable[[Checkout], Checkout]
) -> None:
    planned = checkout.planned()
    checkout.write(SMOKE, "other.yaml")
    checkout.write({"study": "empty", "datasets": []})
    assert jobs_by_rule(checkout.said("mklearn", *DRY, "--verbose", "other.yaml")) == planned
    said = checkout.said("mklearn", *DRY, "other.yaml").splitlines()
    said = said[said.index("13 jobs would run:") :]
    assert len(said) <= 12
    assert "fit 4 Missing output files (digits random " in " ".join(" ".join(said).split())
    assert "page" not in checkout.said("mklearn", *DRY, "other.yaml", "--", "--until", "fit")
    assert "nonsense" in checkout.said("mklearn", *DRY, "other.yaml", "--", "nonsense", code=1)
    assert not (checkout.folder / "results").exists()
    said = checkout.said("mklearn", "run", "--cores", "1", code=1)
    assert "config.yaml has 1 mistake" in said
    assert "Traceback" not in said

    mine = copy_of(finished)
    mine.edit("src/mklearn/subspace/mkldr.py")
    said = mine.said("mklearn", *DRY).splitlines()
    assert "4 jobs would run:" in said
    assert any(re.match(r"  fit +1  Params have changed \(digits random mkl-lda", line) for line in said)


@pytest.mark.full
def test_a_folder_without_a_checkout(empty: EmptyFolder) -> None:
    (empty.folder / "profiles" / "default").mkdir(parents=True)
    (empty.folder / "profiles" / "default" / "config.yaml").write_text("no-such-option: 1\n", encoding="utf-8")
    (empty.folder / "Snakefile").write_text("of another workflow\n", encoding="utf-8")
    by_name = jobs_by_rule(empty.said("mklearn", *DRY, "--verbose", "smoke"))
    assert by_name["fit"] == 4
    empty.write(SMOKE, "mine.yaml")
    assert jobs_by_rule(empty.said("mklearn", *DRY, "--verbose", "mine.yaml")) == by_name
    study = yaml.safe_load((empty.repository / "config.yaml").read_text(encoding="utf-8"))
    assert jobs_by_rule(empty.said("mklearn", *DRY, "--verbose"))["describe"] == len(study["descriptors"])
    assert not (empty.folder / "results").exists()
    empty.write(SMOKE | {"sead": 1}, "mine.yaml")
    said = empty.said("mklearn", "run", "mine.yaml", code=1)
    assert "Did you mean 'seed'?" in said
    assert "Traceback" not in said
