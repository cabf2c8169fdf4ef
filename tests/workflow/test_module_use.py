"""The workflow as a module of another Snakefile, with a prefix and a rule overridden, as docs/studies.md says."""

import re
from pathlib import Path

import pytest
from tests.unit.test_documentation import blocks
from tests.workflow.conftest import SMOKE, Checkout

from mklearn.study.engine import session
from mklearn.study.engine.session import lock

pytestmark = pytest.mark.full
STUDY = SMOKE | {
    "datasets": {"digits": {"per_class": 8}},
    "descriptors": {"blocks": SMOKE["descriptors"]["blocks"]},
    "methods": {"average": SMOKE["methods"]["average"]},
    "protocols": {"folds": {"kind": "k_fold", "folds": 2}},
}


@pytest.fixture
def outer(tmp_path: Path, repository: Path) -> Checkout:
    """A workflow with a study and the Snakefile of the page."""
    (text,) = blocks(repository / "docs" / "studies.md", "text")
    text = text.replace("path/to/mklearn", str(repository)).replace("results/photos", "results/smoke")
    (tmp_path / "Snakefile").write_text(text, encoding="utf-8")
    made = Checkout.of(tmp_path)
    (tmp_path / "src").symlink_to(repository / "src")
    made.write({"mklearn": STUDY})
    return made


def test_a_rule_of_the_other_workflow_reads_what_the_study_makes(outer: Checkout) -> None:
    said = outer.said("snakemake", "--cores", "2", "--dry-run")
    (asked,) = re.findall(r"rule mk_fit:.*?resources: ([^\n]*)", said, flags=re.DOTALL)
    assert "mem_mb=16000" in asked
    assert "runtime=120" in asked
    outer.said("snakemake", "--cores", "2")
    assert (outer.folder / "summary.parquet").read_bytes()[:4] == b"PAR1"
    assert outer.planned() == {}


def test_two_runs_of_the_other_workflow_can_not_use_one_folder(outer: Checkout) -> None:
    """Kills: a page without `onstart`, with which nothing is locked."""
    lock(outer.folder / "results")
    try:
        said = outer.said("snakemake", "--cores", "1", code=1)
    finally:
        session._open_locks.pop().close()
    assert "another run uses results" in said
    assert not list((outer.folder / "results").rglob("*.npz"))
