"""What a run would do: job counts of a fresh study, and exactly the jobs that follow from each kind of change."""

from __future__ import annotations

import copy
import shutil
from pathlib import Path

import pytest
from tests.workflow.conftest import SMOKE, Checkout

# 2 descriptors and distances, 3 kernel sets (each kernel, both), 2 protocols, 4 methods (KFD twice)
FRESH = {
    "read": 1, "describe": 2, "pairwise": 2, "kernel_set": 3, "split": 2, "fit": 8,
    "scores": 1, "summary": 1, "run_record": 1, "report": 1, "all": 1,
}  # fmt: skip
TABLES = {"scores": 1, "summary": 1, "run_record": 1, "report": 1, "all": 1}


def test_fresh_study_plans_one_job_per_artefact(checkout: Checkout) -> None:
    assert checkout.planned() == FRESH


def test_finished_study_has_nothing_to_do(finished: Checkout) -> None:
    assert finished.planned() == {}


def _append(checkout: Checkout, name: str, text: str = "\n# an edit\n") -> None:
    path = checkout.folder / "src" / "mklearn" / name
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("subspace/mkldr.py", {"fit": 2, **TABLES}),
        ("subspace/kfd.py", {"fit": 6, **TABLES}),
        ("optimize/beta.py", {"fit": 2, **TABLES}),
        ("descriptors/multiresolution.py", {"describe": 1, "pairwise": 1, "kernel_set": 2, "fit": 6, **TABLES}),
        ("kernels/functions.py", {"fit": 8, **TABLES}),
        ("evaluation/summary.py", {"summary": 1, "report": 1, "all": 1}),
        ("report/figures.py", {"report": 1, "all": 1}),
        ("errors.py", {}),
        ("subspace/__init__.py", {}),
    ],
)
def test_editing_one_file_reruns_what_depends_on_it(finished, copy_of, module: str, expected: dict[str, int]) -> None:
    checkout = copy_of(finished)
    _append(checkout, module)
    assert checkout.planned() == expected


def test_touching_every_file_reruns_nothing(finished, copy_of) -> None:
    checkout = copy_of(finished)
    for path in [*checkout.folder.glob("src/**/*.py"), *checkout.folder.glob("workflow/**/*"),
                 checkout.folder / "Snakefile", checkout.folder / "config.yaml"]:  # fmt: skip
        path.touch()
    assert checkout.planned() == {}


def test_changing_a_parameter_makes_a_new_file_and_keeps_the_old(finished, copy_of) -> None:
    checkout = copy_of(finished)
    before = set(checkout.folder.glob("results/cache/**/*.npz"))
    study = copy.deepcopy(SMOKE)
    study["methods"]["mkl-lda"]["ridge"] = 1e-3
    checkout.write(study)
    assert checkout.planned() == {"fit": 2, **TABLES}
    checkout.write(SMOKE)
    assert checkout.planned() == {}
    assert set(checkout.folder.glob("results/cache/**/*.npz")) == before


def test_adding_a_method_fits_only_it(finished, copy_of) -> None:
    checkout = copy_of(finished)
    study = copy.deepcopy(SMOKE)
    study["methods"]["mkl-lde"] = {"kind": "mkl_dr", "graph": "lde"}
    checkout.write(study)
    assert checkout.planned() == {"fit": 2, **TABLES}


def test_adding_a_descriptor_recomputes_no_other_distance(finished, copy_of) -> None:
    checkout = copy_of(finished)
    study = copy.deepcopy(SMOKE)
    study["descriptors"]["fine"] = {"kind": "multiresolution", "resolutions": [8]}
    checkout.write(study)
    # the average and MKL-LDA see another kernel set, the new descriptor's KFD is added
    assert checkout.planned() == {"describe": 1, "pairwise": 1, "kernel_set": 2, "fit": 6, **TABLES}


def test_adding_a_data_set_runs_only_its_jobs(finished, copy_of) -> None:
    checkout = copy_of(finished)
    study = copy.deepcopy(SMOKE)
    study["datasets"]["few"] = {"name": "digits", "per_class": 12}
    checkout.write(study)
    added = {name: FRESH[name] for name in ("read", "describe", "pairwise", "kernel_set", "split", "fit")}
    assert checkout.planned() == added | TABLES


def test_another_study_shares_descriptors_kernels_and_fits(finished, copy_of) -> None:
    checkout = copy_of(finished)
    other = checkout.write(SMOKE | {"study": "other"}, "other.yaml")
    assert checkout.planned("--configfile", str(other)) == TABLES


def test_kernels_rebuilt_alike_cost_no_training(finished, copy_of) -> None:
    checkout = copy_of(finished)
    _append(checkout, "descriptors/pixels.py")
    checkout.snakemake("--cores", "2", "kernels")
    assert checkout.planned() == {}


def test_a_given_study_replaces_the_default_one(checkout: Checkout) -> None:
    """Snakemake alone would merge the two, and run the default study's methods as well."""
    study = copy.deepcopy(SMOKE) | {"study": "single"}
    study["methods"] = {"average": SMOKE["methods"]["average"]}
    path = checkout.write(study, "single.yaml")
    assert checkout.planned("--configfile", str(path))["fit"] == 2


def test_results_copied_into_a_fresh_clone_are_used(finished: Checkout, tmp_path: Path) -> None:
    clone = Checkout(tmp_path / "clone", finished.folder)
    for path in clone.folder.rglob("*.*"):
        path.touch()  # a clone's files are all new
    for name in ("results", ".snakemake"):
        shutil.copytree(finished.folder / name, clone.folder / name)
    assert clone.planned() == {}
