"""Parsing the Snakefile changes nothing: not in a dry run, and not for any other command that runs no job."""

from pathlib import Path

import pytest
from tests.workflow.conftest import Checkout

from mklearn.study.provenance import file_digest

SNAKEMAKES_OWN = (".snakemake/log/", ".snakemake/iocache/")
"""What Snakemake itself writes in a dry run, with any Snakefile."""


def listing(folder: Path) -> dict[str, tuple[int, str]]:
    """Modification time and digest of each file, and the folders."""
    names = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
    return {
        name: (0, "") if path.is_dir() else (path.stat().st_mtime_ns, file_digest(path))
        for name, path in names.items()
        if path.is_dir() or not name.startswith(SNAKEMAKES_OWN)
    }


@pytest.fixture(scope="module")
def disturbed(finished: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A finished study after a kill and an edit: with a lock of Snakemake's, and something to do."""
    checkout = finished.copy(tmp_path_factory.mktemp("disturbed") / "copy")
    locks = checkout.folder / ".snakemake" / "locks"
    (locks / "0.output.lock").write_text("results/smoke/scores.parquet\n", encoding="utf-8")
    checkout.edit("src/mklearn/subspace/mkldr.py")
    return checkout


@pytest.mark.parametrize(
    "words",
    [
        "snakemake --cores 1 --dry-run",
        pytest.param("mklearn run --dry-run", marks=pytest.mark.full),
        pytest.param("mklearn failed", marks=pytest.mark.full),
    ],
)
def test_nothing_is_changed(disturbed: Checkout, words: str) -> None:
    before = listing(disturbed.folder)
    disturbed.said(*words.split())
    assert listing(disturbed.folder) == before
