"""The workflow as a module of another Snakefile, as docs/studies.md says."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.test_documentation import blocks
from tests.workflow.conftest import SMOKE, Checkout, jobs_by_rule

from mklearn.study.engine import session
from mklearn.study.engine.session import lock

pytestmark = pytest.mark.full


@pytest.fixture
def outer(tmp_path: Path, repository: Path) -> Checkout:
    """A workflow with the study and the Snakefile of the page."""
    (text,) = blocks(repository / "docs" / "studies.md", "text")
    text = text.replace("path/to/mklearn", str(repository)).replace("results/photos", "results/smoke")
    (tmp_path / "Snakefile").write_text(text, encoding="utf-8")
    made = Checkout.of(tmp_path)
    (tmp_path / "src").symlink_to(repository / "src")
    made.write({"mklearn": SMOKE})
    return made


def test_a_rule_of_the_other_workflow_reads_what_the_study_makes(outer: Checkout) -> None:
    said = outer.said("snakemake", "--quiet", "host", "--cores", "1", "--dry-run")
    jobs = jobs_by_rule(said)
    assert jobs.pop("keep_summary") == 1
    assert jobs == outer.planned("results/smoke/summary.parquet")
    assert jobs["fit"] == 4  # a protocol of two training sizes and two repeats


def test_two_runs_of_the_other_workflow_can_not_use_one_folder(outer: Checkout) -> None:
    """Kills: a page without `onstart`, with which nothing is locked."""
    lock(outer.folder / "results")
    try:
        said = outer.said("snakemake", "--cores", "1", code=1)
    finally:
        session._open_locks.pop().close()
    assert "another run uses results" in said
    assert not list((outer.folder / "results").rglob("*.npz"))
