"""The core of mklearn in a folder without the papers: it works, and knows nothing of them."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.workflow.conftest import Checkout

from mklearn.study.extensions import entry_points, package_of

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def core(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout without its papers."""
    made = Checkout(tmp_path_factory.mktemp("core") / "checkout", repository)
    shutil.rmtree(made.folder / "src" / "mklearn" / "papers")
    return made


def test_the_default_study_is_planned_to_the_same_jobs(core: Checkout, repository: Path) -> None:
    code = (
        "import sys; from mklearn.study.jobs import Jobs; from mklearn.study.reading import read_study; "
        "from mklearn.study.plan.plan import plan_study; plan = plan_study(read_study('config.yaml')); "
        "print(*sorted(plan.fits), *sorted(plan.descriptors), *Jobs(plan).keys('distances')); "
        "assert not {'numpy', 'sklearn'} & set(sys.modules)"
    )
    assert "study 'six-views' is valid" in core.output("mklearn", "validate", "config.yaml")
    here, there = (
        subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True).stdout
        for folder, environment in ((repository, None), (core.folder, core.environment))
    )
    assert here == there
    assert len(here.split()) > 50


def test_a_method_of_a_paper_that_is_not_there_is_a_mistake(core: Checkout) -> None:
    core.write("study: s\ndatasets: [digits]\nmethods: {m: {kind: mkmmc}, glram: {kind: glram}}\n", "study.yaml")
    output = core.output("mklearn", "validate", "study.yaml", code=1)
    assert "Traceback" not in output
    assert "methods.m.kind: implementation 'mklearn.papers.mkmmc.mkmmc:MKMMC': No module named" in output
    assert "methods.glram.kind: " in output


def test_papers_are_found_by_entry_points() -> None:
    papers = {point.module for point in entry_points()["studies"] if package_of(point) == "mklearn"}
    assert papers == {f"mklearn.papers.{name}" for name in ("fsvm", "lmkl", "mkl_dr", "mkmmc", "two_d_mmc")}
