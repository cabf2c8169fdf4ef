"""Planned jobs: those of a fresh study, and exactly those that follow from each kind of change."""

import copy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.workflow.conftest import SMOKE, Checkout

from mklearn.atomic import read_npz
from mklearn.study.evaluation.score_table import evaluated_fit
from mklearn.study.jobs import OUTPUTS

# 2 descriptors and distances, one protocol of two sizes, 4 methods (KFD twice)
FRESH = {
    "read": 1, "describe": 2, "distances": 2, "split": 1, "fit": 4, "evaluate": 1, "tables": 1, "page": 1, "all": 1,
}  # fmt: skip
SCORES = {"evaluate": 1, "tables": 1, "page": 1, "all": 1}
TABLES = {"tables": 1, "page": 1, "all": 1}
PAGE = {"page": 1, "all": 1}


def test_a_fresh_study_plans_every_job_and_a_finished_one_none(checkout: Checkout, finished: Checkout) -> None:
    assert checkout.planned() == FRESH
    assert finished.planned() == {}


@pytest.fixture(scope="module")
def mine(finished: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A copy of the finished checkout for the changes of this file: each of them is taken back after it."""
    return finished.copy(tmp_path_factory.mktemp("reruns") / "checkout")


# --- edits of files


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        pytest.param("src/mklearn/subspace/kfd.py", {"fit": 3, **SCORES}, marks=pytest.mark.full),
        pytest.param("src/mklearn/optimize/relaxations.py", {"fit": 4, **SCORES}, marks=pytest.mark.full),
        ("src/mklearn/descriptors/multiresolution.py", {"describe": 1, "distances": 1, "fit": 3, **SCORES}),
        pytest.param("src/mklearn/kernels/distances.py", {"distances": 2, "fit": 4, **SCORES}, marks=pytest.mark.full),
        ("workflow/scripts/distances.py", {"distances": 2, "fit": 4, **SCORES}),
        ("workflow/scripts/evaluate.py", SCORES),
        ("workflow/scripts/tables.py", TABLES),
        pytest.param("src/mklearn/study/data/readers/registered.py", FRESH, marks=pytest.mark.full),
        pytest.param("src/mklearn/study/evaluation/summary.py", TABLES, marks=pytest.mark.full),
        pytest.param("src/mklearn/study/report/figures.py", PAGE, marks=pytest.mark.full),
        ("src/mklearn/study/report/page/style.css", PAGE),
    ],
)
def test_editing_one_file_reruns_what_depends_on_it(mine: Checkout, file: str, expected: dict[str, int]) -> None:
    with mine.edited(file):
        planned = mine.planned()
    assert planned == expected


def test_editing_what_no_result_depends_on_reruns_nothing(mine: Checkout) -> None:
    """Rules contain no computation, and a fresh clone gives all files a new time."""
    unused = ("subspace/pca.py", "descriptors/hog.py")  # a method and a descriptor that are not in the study
    without = ("errors.py", "study/jobs.py", "study/resources.py", "study/script.py", "subspace/__init__.py")
    starting = ("workflow/rules/common.smk", "workflow/rules/fits.smk", "profiles/default/config.yaml", "Snakefile")
    added = mine.folder / "src/mklearn/subspace/another_method.py"
    added.touch()
    (mine.folder / "workflow/scripts/fit.py").touch()
    with mine.edited(*(f"src/mklearn/{name}" for name in (*unused, *without)), *starting):
        planned = mine.planned()
    added.unlink()
    assert planned == {}


# --- changes of the study


CHANGES: dict[str, tuple[Any, dict[str, int]]] = {
    "a parameter": (lambda study: study["methods"]["mkl-lda"].update(ridge=1e-3), {"fit": 1, **SCORES}),
    "a descriptor less": (lambda study: study["descriptors"].pop("blocks"), {"fit": 2, **SCORES}),
    "a data set more": (
        lambda study: study["datasets"].update(few={"name": "digits", "per_class": 12}),
        {name: FRESH[name] for name in ("read", "describe", "distances", "split", "fit")} | SCORES,
    ),
    "the seed": (lambda study: study.update(seed=1), {"split": 1, "fit": 4, **SCORES}),
    "a metric more": (lambda study: study.update(evaluation={"metrics": ["accuracy", "macro_f1"]}), SCORES),
    "the order of its keys": (
        lambda study: study.update({
            name: dict(reversed(study[name].items())) for name in ("descriptors", "methods", "protocols", "datasets")
        }), SCORES,
    ),
    "a label": (lambda study: study["methods"]["average"].update(label="Mean kernel"), TABLES),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_changing_the_study_runs_only_what_is_new(mine: Checkout, name: str) -> None:
    change, expected = CHANGES[name]
    study = copy.deepcopy(SMOKE)
    change(study)
    assert mine.planned("--configfile", str(mine.write(study, "changed.yaml"))) == expected


# --- runs


def test_the_first_line_of_a_log_makes_the_outputs_again(finished: Checkout, tmp_path: Path) -> None:
    checkout = finished.copy(tmp_path / "copy")
    log = next((checkout.folder / "logs/fit").rglob("average-*.log"))
    words = shlex.split(log.read_text(encoding="utf-8").splitlines()[0])
    model, predictions = (checkout.folder / words[words.index(f"--{name}") + 1] for name in OUTPUTS["fit"])

    def content() -> Any:
        rows, samples = evaluated_fit(predictions, ["accuracy"])
        rows = rows.drop(columns=["code", "fit_seconds"])
        arrays = {name: array.tobytes() for name, array in read_npz(model).items()}
        return arrays, rows.to_csv(), samples.to_csv()

    before = content()
    model.unlink()
    predictions.unlink()
    subprocess.run([sys.executable, *words[1:]], cwd=checkout.folder, env=checkout.environment, check=True)
    assert content() == before


def test_results_copied_into_a_fresh_clone_are_used(finished: Checkout, tmp_path: Path) -> None:
    clone = Checkout(tmp_path / "clone", finished.folder)
    for path in clone.folder.rglob("*"):
        path.touch()  # a clone's files are all new: only their content counts
    for name in ("results", ".snakemake"):
        shutil.copytree(finished.folder / name, clone.folder / name)
    assert clone.planned() == {}
    before = {path: path.stat().st_mtime_ns for path in clone.folder.glob("results/**/*")}
    clone.output("snakemake", "--cores", "1")
    assert {path: path.stat().st_mtime_ns for path in clone.folder.glob("results/**/*")} == before
