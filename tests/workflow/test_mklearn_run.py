"""Commands on a study: `mklearn run` in a checkout, dry runs that change nothing, and mistakes."""

import re
from pathlib import Path

import pytest
from tests.workflow.conftest import SMOKE, Checkout, jobs_by_rule

DRY = ("run", "--dry-run")


@pytest.mark.full
def test_a_dry_run_lists_jobs(checkout: Checkout, disturbed: Checkout) -> None:
    planned = checkout.planned()
    checkout.write(SMOKE, "other.yaml")
    checkout.write({"study": "empty", "datasets": []})
    assert jobs_by_rule(checkout.output("mklearn", *DRY, "--verbose", "other.yaml")) == planned
    assert jobs_by_rule(checkout.output("mklearn", *DRY, "other.yaml")) == planned
    assert "page" not in checkout.output("mklearn", *DRY, "other.yaml", "--", "--until", "fit")
    assert "nonsense" in checkout.output("mklearn", *DRY, "other.yaml", "--", "nonsense", code=1)
    assert not (checkout.folder / "results").exists()
    output = checkout.output("mklearn", "run", "--cores", "1", code=1)
    assert "config.yaml has 1 mistake" in output
    assert "Traceback" not in output
    output = disturbed.output("mklearn", *DRY)
    assert jobs_by_rule(output)["fit"] == 1
    assert "rule fit:" not in output
    assert re.search(r"params have changed[^:]*:\n +fit\n", output)


# --- dry runs

SNAKEMAKES_OWN = (".snakemake/log/", ".snakemake/iocache/")
"""Files that Snakemake writes in a dry run of any Snakefile."""


def listing(folder: Path) -> dict[str, int]:
    """Modification time of each file, and the folders."""
    paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
    times = {name: path.stat().st_mtime_ns if path.is_file() else 0 for name, path in paths.items()}
    return {name: time for name, time in times.items() if not (time and name.startswith(SNAKEMAKES_OWN))}


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
    disturbed.output(*words.split())
    assert listing(disturbed.folder) == before


# --- mistakes


def test_mistakes_and_a_file_that_yaml_can_not_read(checkout: Checkout) -> None:
    """Snakemake's own reader ends with a traceback in the second case; unit tests have more of both."""
    checkout.write("study: smoke\nsead: 1\ndatasets: [digitz]\n")
    output = checkout.output("snakemake", "--cores", "1", "--dry-run", code=1)
    assert "sead: unknown key 'sead'. Did you mean 'seed'?" in output
    assert 'File "' not in output.split("2 mistakes")[1]
    (checkout.folder / "config.yaml").write_bytes("study: größe\n".encode("utf-16"))
    unread = checkout.output("snakemake", "--cores", "1", "--dry-run", code=1)
    assert "save it as UTF-8" in unread.split("mklearn: config.yaml: ")[1]
    assert "Traceback" not in output + unread
