"""The core of mklearn in a folder without the papers: it works, and knows nothing of them."""

from __future__ import annotations

import compileall
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mklearn.cards import REGISTRY, own_entries
from mklearn.contract.extensions import entry_points, own_registries, package_of

pytestmark = pytest.mark.full

RUN = "from mklearn.__main__ import main; import sys; sys.exit(main(sys.argv[1:]))"
Run = Callable[..., str]


@pytest.fixture(scope="module")
def run(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run Python where mklearn is a checkout without its papers; return what it prints."""
    folder = tmp_path_factory.mktemp("core")
    shutil.copytree(
        repository / "src" / "mklearn", folder / "src" / "mklearn",
        ignore=lambda path, names: {"__pycache__", "papers"} if path.endswith("mklearn") else {"__pycache__"},
    )  # fmt: skip
    compileall.compile_dir(folder / "src", quiet=2)  # else each command would do it
    shutil.copytree(repository / "workflow", folder / "workflow")
    for name in ("Snakefile", "config.yaml"):
        shutil.copy(repository / name, folder)

    def call(*arguments: str, code: int = 0) -> str:
        environment = os.environ | {"PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == code, done.stdout[-3000:] + done.stderr[-3000:]
        assert "Traceback" not in done.stderr, done.stderr
        return done.stdout + done.stderr

    assert str(folder) in call("-c", "import mklearn; print(mklearn.__file__)")
    return call


def of_papers(sort: str) -> set[str]:
    """Return the kinds of a sort that papers bring."""
    return set(own_entries(sort)) - set(json.loads(REGISTRY.read_text(encoding="utf-8"))[sort])


@pytest.mark.parametrize("sort", ["methods", "descriptors"])
def test_no_paper_is_listed(sort: str, run: Run) -> None:
    listed = run("-c", RUN, "list", sort)
    kinds = {part.split(":")[0] for part in listed.split("\n\n")}
    if sort == "methods":
        kinds = {line.split()[0] for line in listed.splitlines() if line.startswith("  ")}
    assert of_papers(sort)
    assert kinds == ({*own_entries(sort)} - of_papers(sort)) | ({"table"} if sort == "descriptors" else set())


def test_the_default_study_is_planned_to_the_same_jobs(run: Run, repository: Path) -> None:
    """With the same keys: results of the core do not depend on which papers there are."""
    code = (
        "import sys; from mklearn.study.config.reading import read_study; "
        "from mklearn.study.plan.plan import plan_study; plan = plan_study(read_study('config.yaml')); "
        "print(*sorted(plan.fits), *sorted(plan.descriptors), *sorted(plan.pairwise)); "
        "assert not {'numpy', 'sklearn'} & set(sys.modules)"
    )
    assert "study 'digits' is valid" in run("-c", RUN, "validate", "config.yaml")
    here = subprocess.run([sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True)
    assert run("-c", code) == here.stdout
    assert len(here.stdout.split()) > 50


def test_parts_of_the_core_take_those_of_papers_where_they_are(run: Run) -> None:
    """A machine of the F-SVM paper is one of kernel PCA, of which the core knows the class only."""
    code = (
        "from mklearn.study.config.registry import registered; "
        "schema = registered('methods')['kernel_pca_classifier'].model_json_schema(); "
        "print(*sorted(schema['properties']['machine']['discriminator']['mapping']))"
    )
    here = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert set(here) - set(run("-c", code).split()) == {"rmm_svc", "r_svm_plus", "r_svm_plus_mu"}


def test_papers_are_found_by_entry_points_alone() -> None:
    """All five have studies; none is named by a module of the core."""
    papers = {point.module for point in entry_points()["studies"] if package_of(point) == "mklearn"}
    assert papers == {f"mklearn.papers.{name}" for name in ("fsvm", "lmkl", "mkl_dr", "mkmmc", "two_d_mmc")}
    assert {point.module for point in own_registries("methods")} < papers
    core = [path for path in REGISTRY.parent.rglob("*.py") if "papers" not in path.relative_to(REGISTRY.parent).parts]
    assert not [path for path in core if "mklearn.papers." in path.read_text(encoding="utf-8")]
