"""Outside packages, used, named and fingerprinted; a rule of one's own; the workflow as a module of another."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from tests.outside_package.install import install, write_metadata
from tests.unit.test_documentation import blocks
from tests.workflow.conftest import SMOKE, Checkout

from mklearn.study.engine import session
from mklearn.study.engine.session import lock

pytestmark = pytest.mark.full

WORST = "outside_package.parts:worst_class_accuracy"
METRICS = ["accuracy", WORST, "auc"]
STUDY: dict[str, Any] = {
    "study": "outside",
    "datasets": ["stripes"],
    "descriptors": {"means": {"kind": "outside_package.parts:column_means"}, "pixels": {"kind": "pixels"}},
    "kernels": {
        "cauchy": {"kind": "outside_package.cauchy:CauchyKernel"},
        "linear": {"kind": "linear", "descriptor": "pixels"},
    },
    "methods": {
        "gated": {"kind": "outside_package.gated_centroids:GatedCentroids", "gating": "means", "sharpness": [0.5, 2.0]},
        "average": {"kind": "kernel_fda"},
    },
    "protocols": {"first": {"kind": "outside_package.parts:first_per_class", "train_size": 6}},
    "evaluation": {"neighbours": ["cosine"], "inner_folds": 2, "metrics": METRICS, "choose_by": "accuracy"},
}


class WithPackage(Checkout):
    """A checkout in whose Python the example package is installed."""

    @property
    def environment(self) -> dict[str, str]:
        path = os.pathsep.join([str(self.folder / "src"), str(self.folder / "site")])
        return super().environment | {"PYTHONPATH": path}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> WithPackage:
    made = WithPackage(tmp_path_factory.mktemp("outside") / "checkout", repository)
    install(made.folder / "site")
    made.write(STUDY)
    made.output("snakemake", "--cores", "2")
    return made


def test_the_study_has_values_and_is_up_to_date(checkout: WithPackage) -> None:
    results = checkout.folder / "results" / "outside"
    scores = pd.read_parquet(results / "scores.parquet")
    rows = scores[scores["method"] == "gated"]
    value = rows.groupby("metric")["value"].first()
    assert set(value.index) == set(METRICS)
    assert 0 <= value[WORST] <= value["accuracy"] <= 1
    assert min(value["accuracy"], value["auc"]) > 0.6
    assert set(rows["kernel_set"]) == {"cauchy-means+cauchy-pixels+linear"}
    assert {json.loads(text)["sharpness"] for text in rows["parameters"] if text != "{}"} <= {0.5, 2.0}
    average = scores[(scores["method"] == "average") & (scores["metric"] == "accuracy")]
    assert {*rows["status"], *average["status"]} == {"ok"}
    assert average["value"].max() > 0.6
    assert checkout.planned() == {}
    record = json.loads((results / "run.json").read_text(encoding="utf-8"))
    assert record["versions"]["mklearn-outside"] == "0.1"


@pytest.mark.parametrize("module", ["gated_centroids", "powers", "stripes"])
def test_an_edit_of_the_package_runs_what_depends_on_it(checkout: WithPackage, module: str) -> None:
    with checkout.edited(f"site/outside_package/{module}.py"):
        planned = checkout.planned()
    assert {"read": 1, "split": 1, "describe": 2, "fit": 2}.items() <= planned.items()


ADDED = {
    "methods": ("gated_centroids:GatedCentroids", "gating (required): Name of the view whose features gate"),
    "kernels": ("cauchy:CauchyKernel", "scale (default 1.0): Multiple of the mean squared training distance."),
    "descriptors": ("parts:column_means", "power (default 1.0): Exponent of the means."),
    "protocols": ("parts:first_per_class", "train_size (required)"),
}
"""Additions of the example package, and their descriptions."""


def test_what_a_package_adds_is_described_by_its_name(checkout: WithPackage) -> None:
    for what, (name, words) in ADDED.items():
        output = " ".join(checkout.output("mklearn", "list", what, f"outside_package.{name}").split())
        assert f"outside_package.{name}: " in output
        assert words in output
    output = " ".join(checkout.output("mklearn", "list", "datasets", "stripes").split())
    assert "stripes: Noisy stripes (8 x 8, drawn) package: mklearn-outside samples 36, classes 3" in output


def test_a_package_may_bring_studies_and_data_sets_of_new_names(checkout: WithPackage, tmp_path: Path) -> None:
    def output(*words: str) -> str:
        path = os.pathsep.join([str(checkout.folder / "src"), str(tmp_path)])
        text = checkout.ended("mklearn", *words, PYTHONPATH=path).stderr
        assert "Traceback" not in text
        return text

    package = tmp_path / "mine"
    (package / "studies").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "studies" / "gated.yaml").write_text(yaml.safe_dump(SMOKE), encoding="utf-8")
    write_metadata(tmp_path, "mine", "1.0", {"mklearn.studies": {"m": "mine:studies"}})
    assert "gated: study 'smoke' is valid" in output("validate", "gated")
    (package / "studies" / "gated.yaml").unlink()
    assert "package mine: there is no study file (*.yaml) in mine:studies." in output("validate", "gated")
    entry = {"title": "t", "files": [], "reader": "mine:read", "expected": {}, "licence": "", "citation": ""}
    (package / "data.yaml").write_text(yaml.safe_dump({"digits": entry | {"homepage": ""}}), encoding="utf-8")
    write_metadata(tmp_path, "sets", "1.0", {"mklearn.datasets": {"mine": "mine:data.yaml"}})
    assert "mklearn: package sets: data set 'digits' is registered already." in output("list", "datasets")


# --- rule of one's own


def test_a_rule_of_ones_own_reruns(finished: Checkout, tmp_path: Path, repository: Path) -> None:
    checkout = finished.copy(tmp_path / "copy")
    rule, script = blocks(repository / "docs" / "maintainers.md", "python")
    (checkout.folder / "workflow" / "rules" / "tsne.smk").write_text(rule, encoding="utf-8")
    (checkout.folder / "workflow" / "scripts" / "tsne.py").write_text(script, encoding="utf-8")
    checkout.edit("Snakefile", '\n\ninclude: "workflow/rules/tsne.smk"\n')
    checkout.output("snakemake", "--cores", "2", "all_tsne")
    assert len(list((checkout.folder / "results" / "smoke" / "tsne").rglob("*.csv"))) == 2
    assert checkout.planned("all_tsne") == {}
    checkout.edit("workflow/scripts/tsne.py")
    assert checkout.planned("all_tsne") == {"tsne": 2, "all_tsne": 1}


# --- module of another Snakefile

SMALLEST = SMOKE | {
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
    made.write({"mklearn": SMALLEST})
    return made


def test_a_rule_of_the_other_workflow_reads_what_the_study_makes(outer: Checkout) -> None:
    output = outer.output("snakemake", "--cores", "2", "--dry-run")
    (asked,) = re.findall(r"rule mk_fit:.*?resources: ([^\n]*)", output, flags=re.DOTALL)
    assert "mem_mb=16000" in asked
    assert "runtime=120" in asked
    outer.output("snakemake", "--cores", "2")
    assert (outer.folder / "summary.parquet").read_bytes()[:4] == b"PAR1"
    assert outer.planned() == {}


def test_two_runs_of_the_other_workflow_can_not_use_one_folder(outer: Checkout) -> None:
    """Kills: a page without `onstart`, with which nothing is locked."""
    lock(outer.folder / "results")
    try:
        output = outer.output("snakemake", "--cores", "1", code=1)
    finally:
        session._open_locks.pop().close()
    assert "another run uses results" in output
    assert not list((outer.folder / "results").rglob("*.npz"))
