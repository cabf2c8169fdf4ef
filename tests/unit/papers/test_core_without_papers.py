"""The core of mklearn in a folder without the papers: it works, and knows nothing of them."""

import compileall
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mklearn.study.extensions import entry_points, package_of

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


def test_the_default_study_is_planned_to_the_same_jobs(run: Run, repository: Path) -> None:
    code = (
        "import sys; from mklearn.study.jobs import Jobs; from mklearn.study.reading import read_study; "
        "from mklearn.study.plan.plan import plan_study; plan = plan_study(read_study('config.yaml')); "
        "print(*sorted(plan.fits), *sorted(plan.descriptors), *Jobs(plan).keys('distances')); "
        "assert not {'numpy', 'sklearn'} & set(sys.modules)"
    )
    assert "study 'six-views' is valid" in run("-c", RUN, "validate", "config.yaml")
    here = subprocess.run([sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True)
    assert run("-c", code) == here.stdout
    assert len(here.stdout.split()) > 50


def test_a_method_of_a_paper_that_is_not_there_is_a_mistake(run: Run, tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text("study: s\ndatasets: [digits]\nmethods: {m: {kind: mkmmc}, glram: {kind: glram}}\n")
    output = run("-c", RUN, "validate", str(study), code=1)
    assert "methods.m.kind: implementation 'mklearn.papers.mkmmc.mkmmc:MKMMC': No module named" in output
    assert "methods.glram.kind: " in output


def test_papers_are_found_by_entry_points() -> None:
    papers = {point.module for point in entry_points()["studies"] if package_of(point) == "mklearn"}
    assert papers == {f"mklearn.papers.{name}" for name in ("fsvm", "lmkl", "mkl_dr", "mkmmc", "two_d_mmc")}
